import { execFileSync } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { removeFolder } from '../../bench/lib/removed-folder.js'

const DEBIAN = '/usr/lib/postgresql'
const MIN_VERSION = 15
/** a server refuses to run as root; Debian's package creates this user */
const SERVER_USER = 'postgres'
/** the role of the engine in tests, to which policies apply */
export const ROLE = 'ks'
/** the template database with the newest schema */
export const TEMPLATE = 'ks_template'
/** the role without policies */
export const SUPERUSER = 'super'
const PREFIX = 'ks-pg-'
/** contains the pid of the process that started the server */
const RUNNER = 'runner'

/** A PostgreSQL server for tests: one cluster in a separate folder with a socket, which loses all data at a crash. */
export interface TestServer {
  /** folder of the socket */
  folder: string
  stop(): void
}

/** Finds the folder of PostgreSQL's programs; undefined if it is not installed. */
export function findServerPrograms(): string | undefined {
  const configured = process.env.KS_TEST_POSTGRES_BIN
  if (configured !== undefined) return configured
  if (!existsSync(DEBIAN)) return undefined
  const [newest] = readdirSync(DEBIAN)
    .map(Number)
    .filter((version) => version >= MIN_VERSION)
    .sort((a, b) => b - a)
  const folder = join(DEBIAN, String(newest), 'bin')
  return existsSync(join(folder, 'initdb')) ? folder : undefined
}

/** Whether a server of these programs can create an extension. */
export function hasExtension(programs: string, name: string): boolean {
  const folder = execFileSync(join(programs, 'pg_config'), ['--sharedir'], { encoding: 'utf8' }).trim()
  return existsSync(join(folder, 'extension', `${name}.control`))
}

/** @param settings of the server, in addition to those for speed */
export function startServer(programs: string, settings: Record<string, string> = {}): TestServer {
  stopOrphanedServers(programs)
  const folder = mkdtempSync(join(tmpdir(), PREFIX))
  const data = join(folder, 'data')
  const asServer = (program: string, ...args: string[]) => runAsServerUser(folder, join(programs, program), args)
  writeFileSync(join(folder, RUNNER), String(process.pid))
  giveToServerUser(folder)
  asServer('initdb', '-D', data, '-E', 'UTF8', '--locale=C', '-A', 'trust', '-N', '-U', SUPERUSER)
  const all = {
    listen_addresses: "''",
    unix_socket_directories: folder,
    fsync: 'off',
    synchronous_commit: 'off',
    full_page_writes: 'off',
    max_connections: '300',
    shared_buffers: '128MB',
    ...settings,
  }
  const options = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  asServer('pg_ctl', '-D', data, '-w', '-l', join(folder, 'log'), '-o', options.join(' '), 'start')
  const role = `CREATE ROLE ${ROLE} LOGIN CREATEDB`
  asServer('psql', '-h', folder, '-U', SUPERUSER, '-d', 'postgres', '-q', '-c', role)
  return {
    folder,
    stop() {
      asServer('pg_ctl', '-D', data, '-w', '-m', 'immediate', 'stop')
      removeFolder(folder)
    },
  }
}

export function formatAddress(folder: string, name: string, role = ROLE): string {
  return `postgres://${role}@localhost/${name}?host=${encodeURIComponent(folder)}`
}

/** @returns the address of a new, empty database for a template */
export function createTemplate(programs: string, { folder }: TestServer): string {
  runAsServerUser(folder, join(programs, 'createdb'), ['-h', folder, '-U', ROLE, '-T', 'template0', TEMPLATE])
  return formatAddress(folder, TEMPLATE)
}

/** Copies a database in use into an empty one. */
export function copyRows(source: string, target: string): void {
  const programs = findServerPrograms() ?? ''
  const dump = execFileSync(join(programs, 'pg_dump'), [source], { maxBuffer: 2 ** 30 })
  execFileSync(join(programs, 'psql'), ['-q', '-v', 'ON_ERROR_STOP=1', target], { input: dump, stdio: 'pipe' })
}

/** Stops servers whose test run was killed. */
function stopOrphanedServers(programs: string): void {
  for (const name of readdirSync(tmpdir()).filter((one) => one.startsWith(PREFIX))) {
    const folder = join(tmpdir(), name)
    const runner = join(folder, RUNNER)
    if (!existsSync(runner) || existsSync(join('/proc', readFileSync(runner, 'utf8')))) continue
    try {
      runAsServerUser(folder, join(programs, 'pg_ctl'), ['-D', join(folder, 'data'), '-w', '-m', 'immediate', 'stop'])
    } catch {
      // It had not started, or has ended.
    }
    removeFolder(folder)
  }
}

/** Gives a folder to the user of the servers. */
export function giveToServerUser(folder: string): void {
  if (userInfo().uid === 0) chownSync(folder, ...idsOf(SERVER_USER))
}

/** Runs a program of PostgreSQL as the user of the servers. */
export function runAsServerUser(folder: string, program: string, args: string[]): void {
  const options = { stdio: 'pipe', cwd: folder } as const
  if (userInfo().uid === 0) execFileSync('setpriv', [...toSetprivOptions(SERVER_USER), program, ...args], options)
  else execFileSync(program, args, options)
}

function toSetprivOptions(user: string): string[] {
  return ['--reuid', user, '--regid', user, '--clear-groups']
}

function idsOf(user: string): [number, number] {
  const id = (kind: string) => Number(execFileSync('id', [kind, user], { encoding: 'utf8' }))
  return [id('-u'), id('-g')]
}
