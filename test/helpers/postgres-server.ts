import { execFileSync } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'

const DEBIAN = '/usr/lib/postgresql'
const LEAST = 15
/** a server refuses to run as root; Debian's package makes this user */
const SERVER_USER = 'postgres'
export const ROLE = 'ks'

/** A server of PostgreSQL for tests: one cluster in a folder of its own, reached by a socket there, which loses all at a crash. */
export interface TestServer {
  /** of the socket */
  folder: string
  stop(): void
}

/** Programs of PostgreSQL, where they are installed. */
export function serverPrograms(): string | undefined {
  const said = process.env.KS_TEST_POSTGRES_BIN
  if (said !== undefined) return said
  if (!existsSync(DEBIAN)) return undefined
  const [newest] = readdirSync(DEBIAN)
    .map(Number)
    .filter((version) => version >= LEAST)
    .sort((a, b) => b - a)
  const folder = join(DEBIAN, String(newest), 'bin')
  return existsSync(join(folder, 'initdb')) ? folder : undefined
}

/** @param settings of the server, beside those that make tests fast */
export function startServer(programs: string, settings: Record<string, string> = {}): TestServer {
  const folder = mkdtempSync(join(tmpdir(), 'ks-pg-'))
  const data = join(folder, 'data')
  const isRoot = userInfo().uid === 0
  const asServer = (program: string, ...args: string[]) =>
    isRoot
      ? execFileSync('setpriv', [...of(SERVER_USER), join(programs, program), ...args], { stdio: 'pipe', cwd: folder })
      : execFileSync(join(programs, program), args, { stdio: 'pipe', cwd: folder })
  if (isRoot) chownSync(folder, ...idsOf(SERVER_USER))
  asServer('initdb', '-D', data, '-E', 'UTF8', '--locale=C', '-A', 'trust', '-N', '-U', ROLE)
  const all = {
    listen_addresses: "''",
    unix_socket_directories: folder,
    fsync: 'off',
    synchronous_commit: 'off',
    full_page_writes: 'off',
    max_connections: '100',
    shared_buffers: '64MB',
    ...settings,
  }
  const options = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  asServer('pg_ctl', '-D', data, '-w', '-l', join(folder, 'log'), '-o', options.join(' '), 'start')
  return {
    folder,
    stop() {
      asServer('pg_ctl', '-D', data, '-w', '-m', 'immediate', 'stop')
      rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
    },
  }
}

function of(user: string): string[] {
  return ['--reuid', user, '--regid', user, '--clear-groups']
}

function idsOf(user: string): [number, number] {
  const id = (kind: string) => Number(execFileSync('id', [kind, user], { encoding: 'utf8' }))
  return [id('-u'), id('-g')]
}
