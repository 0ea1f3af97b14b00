import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { NEW_ROOT } from './new-root.js'
import { findProgram, type ProgramPaths, type VisiblePath, visiblePaths } from './visible-paths.js'

export type ConfinedBy = 'bubblewrap' | 'unshare' | 'nothing'

/** A program to be started on untrusted data. */
export interface ProgramStart extends ProgramPaths {
  /** the command line with its placeholders filled in; `argv` decides what it can see */
  filled: readonly string[]
  /** the only folder that it may write to, in addition to temporary files */
  folder: string
  /** of each of its processes, where `prlimit` exists */
  limits?: { processorSeconds: number; fileBytes: number }
}

/** Starts programs so that they see no secrets, no network and no other processes; their children end with them. */
export interface Confinement {
  /**
   * The command line that starts a program in confinement.
   *
   * @throws ProgramStartError where the program is not installed, or cannot be confined and unconfined programs are not
   * allowed
   */
  prepare(start: ProgramStart): Promise<{ argv: string[]; by: ConfinedBy }>
}

interface Log {
  info(fields: Record<string, unknown>, message: string): void
  warn(fields: Record<string, unknown>, message: string): void
}

export interface ConfinementOptions {
  /** files and folders that no program may see; they may not exist */
  secrets: () => readonly string[]
  /** programs run unconfined where nothing can confine them */
  allowUnconfined: boolean
  log: Log
}

/** Why a program is not started. The message continues a sentence that begins with the program's name. */
export class ProgramStartError extends Error {}

const PROBE_MS = 10_000
const CONFINED = 'programs that read documents are confined: no network, no access to the disk except for programs'
const REFUSED =
  'is not started, because nothing confines programs on this machine: neither bubblewrap nor unshare works. ' +
  'Install bubblewrap and allow user namespaces, or set unconfinedPrograms'
const UNCONFINED =
  'programs that read documents run unconfined: neither bubblewrap nor unshare works here, ' +
  'and unconfinedPrograms allows it'

/** For programs of a process without settings. */
export function confinedOnly(): Confinement {
  const log = { warn: () => undefined, info: () => undefined }
  return createConfinement({ secrets: () => [], allowUnconfined: false, log })
}

export function createConfinement({ secrets, allowUnconfined, log }: ConfinementOptions): Confinement {
  let known: ConfinedBy | undefined
  let probe: Promise<ConfinedBy> | undefined
  let reported: ConfinedBy | undefined
  const find = async (): Promise<ConfinedBy> => {
    const by = await confinedBy(secrets())
    // Without a result, each start probes again: user namespaces may be allowed later, and a probe may fail on a busy
    // machine.
    if (by !== 'nothing') known = by
    if (by === reported) return by
    reported = by
    if (by === 'nothing') log.warn({}, allowUnconfined ? UNCONFINED : `a program ${REFUSED}`)
    else log.info({ by }, CONFINED)
    return by
  }
  /** Concurrent starts share one probe. */
  const look = (): Promise<ConfinedBy> => {
    probe ??= find().finally(() => {
      probe = undefined
    })
    return probe
  }
  return {
    async prepare(start) {
      if (findProgram(start.filled[0] ?? '') === undefined) throw new ProgramStartError('is not installed')
      const by = known ?? (await look())
      if (by === 'nothing' && !allowUnconfined) throw new ProgramStartError(REFUSED)
      const limits = await limitsOf(start)
      return {
        by,
        argv: by === 'nothing' ? [...limits, ...start.filled] : [...limits, ...(await confine(by, start, secrets()))],
      }
    },
  }
}

/** What confines programs on this machine: the first tool that can start one. */
export async function confinedBy(secrets: readonly string[]): Promise<ConfinedBy> {
  if (process.platform !== 'linux') return 'nothing'
  const folder = await mkdtemp(join(tmpdir(), 'ks-confined-'))
  try {
    for (const by of ['bubblewrap', 'unshare'] as const)
      if (await works(await confine(by, { argv: ['true'], filled: ['true'], folder }, secrets))) return by
    return 'nothing'
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function confine(by: 'bubblewrap' | 'unshare', start: ProgramStart, secrets: readonly string[]) {
  const own = await ownFolders(start.folder)
  const visible = visiblePaths(start, secrets)
  return by === 'bubblewrap' ? bubblewrap(start, own, visible) : unshare(start, own, visible)
}

interface OwnFolders {
  root: string
  tmp: string
}

/** New folders, which an earlier program in the same working folder cannot have prepared. */
async function ownFolders(folder: string): Promise<OwnFolders> {
  const own = join(folder, `.${randomUUID()}`)
  for (const name of ['root', 'tmp']) await mkdir(join(own, name), { recursive: true, mode: 0o700 })
  return { root: join(own, 'root'), tmp: join(own, 'tmp') }
}

/** Without the namespace of control groups, which a systemd unit may forbid. */
const BUBBLEWRAP_NAMESPACES = ['user-try', 'ipc', 'pid', 'net', 'uts'].map((name) => `--unshare-${name}`)

function bubblewrap({ filled, folder }: ProgramStart, { tmp }: OwnFolders, visible: readonly VisiblePath[]): string[] {
  const mounts = visible.flatMap(({ path, as }) => {
    if (as === 'empty-folder') return ['--tmpfs', path]
    if (as === 'empty-file') return ['--ro-bind', '/dev/null', path]
    return [as === 'device' ? '--dev-bind' : '--ro-bind', path, path]
  })
  // After the mounts: a listed file may be in a covered folder.
  const covers = visible.flatMap(({ path, as }) => (as === 'empty-folder' ? ['--remount-ro', path] : []))
  return [
    ...['bwrap', ...BUBBLEWRAP_NAMESPACES, '--die-with-parent', '--new-session', '--cap-drop', 'ALL'],
    ...['--dev', '/dev', '--bind', tmp, '/tmp', ...mounts, '--proc', '/proc'],
    ...['--bind', tmp, '/dev/shm', '--bind', folder, folder, ...covers],
    ...['--remount-ro', '/dev', '--remount-ro', '/', '--chdir', folder, '--', ...filled],
  ]
}

const OPERATIONS = { 'read-only': 'ro', device: 'dev', 'empty-folder': 'dir', 'empty-file': 'file' } as const

function unshare({ filled, folder }: ProgramStart, own: OwnFolders, visible: readonly VisiblePath[]): string[] {
  const namespaces = ['--user', '--map-root-user', '--mount', '--net', '--ipc', '--uts', '--pid', '--fork']
  return [
    // Otherwise the first process of the namespace survives when the daemon is killed.
    ...['setpriv', '--pdeathsig', 'KILL', '--', 'unshare', ...namespaces, '--kill-child', '--'],
    ...['sh', '-c', NEW_ROOT, 'sh', own.root, folder, own.tmp],
    ...[String(process.getuid?.()), String(process.getgid?.())],
    ...visible.flatMap(({ path, as }) => [OPERATIONS[as], path]),
    ...['--', ...filled],
  ]
}

/** The command line of `prlimit` for the limits of single processes, where it is installed. */
async function limitsOf({ limits }: ProgramStart): Promise<string[]> {
  if (limits === undefined) return []
  const { processorSeconds, fileBytes } = limits
  const prlimit = ['prlimit', `--cpu=${processorSeconds}`, `--fsize=${fileBytes}`, '--core=0', '--']
  return (await works([...prlimit, 'true'])) ? prlimit : []
}

function works([program = '', ...args]: string[]): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(program, args, { stdio: 'ignore', timeout: PROBE_MS, killSignal: 'SIGKILL' })
    child.once('error', () => resolve(false))
    child.once('exit', (code) => resolve(code === 0))
  })
}
