import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { NEW_ROOT } from './new-root.js'
import { findProgram, listVisiblePaths, type ProgramPaths, type VisiblePath } from './visible-paths.js'

export type ConfinementMethod = 'bubblewrap' | 'unshare' | 'nothing'

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
  prepare(start: ProgramStart): Promise<{ argv: string[]; by: ConfinementMethod }>
}

interface ConfinementLog {
  info(fields: Record<string, unknown>, message: string): void
  warn(fields: Record<string, unknown>, message: string): void
}

export interface ConfinementOptions {
  /** files and folders that no program may see; they may not exist */
  listSecrets: () => readonly string[]
  /** programs run unconfined where nothing can confine them */
  allowUnconfined: boolean
  log: ConfinementLog
}

/** Why a program is not started. The message continues a sentence that begins with the program's name. */
export class ProgramStartError extends Error {}

const PROBE_TIMEOUT_MS = 10_000
const CONFINED_MESSAGE =
  'programs that read documents are confined: no network, no access to the disk except for programs'
const REFUSED_MESSAGE =
  'is not started, because nothing confines programs on this machine: neither bubblewrap nor unshare works. ' +
  'Install bubblewrap and allow user namespaces, or set unconfinedPrograms'
const UNCONFINED_MESSAGE =
  'programs that read documents run unconfined: neither bubblewrap nor unshare works here, ' +
  'and unconfinedPrograms allows it'

/** For programs of a process without settings. */
export function createStrictConfinement(): Confinement {
  const log = { warn: () => undefined, info: () => undefined }
  return createConfinement({ listSecrets: () => [], allowUnconfined: false, log })
}

export function createConfinement({ listSecrets: secrets, allowUnconfined, log }: ConfinementOptions): Confinement {
  let detected: ConfinementMethod | undefined
  let probe: Promise<ConfinementMethod> | undefined
  let reported: ConfinementMethod | undefined
  const detectAndLog = async (): Promise<ConfinementMethod> => {
    const method = await detectConfinement(secrets())
    // Without a result, each start probes again: user namespaces may be allowed later, and a probe may fail on a busy
    // machine.
    if (method !== 'nothing') detected = method
    if (method === reported) return method
    reported = method
    if (method === 'nothing') log.warn({}, allowUnconfined ? UNCONFINED_MESSAGE : `a program ${REFUSED_MESSAGE}`)
    else log.info({ by: method }, CONFINED_MESSAGE)
    return method
  }
  /** Concurrent starts share one probe. */
  const detect = (): Promise<ConfinementMethod> => {
    probe ??= detectAndLog().finally(() => {
      probe = undefined
    })
    return probe
  }
  return {
    async prepare(start) {
      if (findProgram(start.filled[0] ?? '') === undefined) throw new ProgramStartError('is not installed')
      const method = detected ?? (await detect())
      if (method === 'nothing' && !allowUnconfined) throw new ProgramStartError(REFUSED_MESSAGE)
      const limits = await buildLimitCommand(start)
      return {
        by: method,
        argv:
          method === 'nothing'
            ? [...limits, ...start.filled]
            : [...limits, ...(await confine(method, start, secrets()))],
      }
    },
  }
}

/** What confines programs on this machine: the first tool that can start one. */
export async function detectConfinement(secrets: readonly string[]): Promise<ConfinementMethod> {
  if (process.platform !== 'linux') return 'nothing'
  const folder = await mkdtemp(join(tmpdir(), 'ks-confined-'))
  try {
    for (const method of ['bubblewrap', 'unshare'] as const)
      if (await canRun(await confine(method, { argv: ['true'], filled: ['true'], folder }, secrets))) return method
    return 'nothing'
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function confine(method: 'bubblewrap' | 'unshare', start: ProgramStart, secrets: readonly string[]) {
  const folders = await createPrivateFolders(start.folder)
  const visible = listVisiblePaths(start, secrets)
  return method === 'bubblewrap'
    ? buildBubblewrapCommand(start, folders, visible)
    : buildUnshareCommand(start, folders, visible)
}

interface PrivateFolders {
  root: string
  tmp: string
}

/** New folders, which an earlier program in the same working folder cannot have prepared. */
async function createPrivateFolders(folder: string): Promise<PrivateFolders> {
  const parent = join(folder, `.${randomUUID()}`)
  for (const name of ['root', 'tmp']) await mkdir(join(parent, name), { recursive: true, mode: 0o700 })
  return { root: join(parent, 'root'), tmp: join(parent, 'tmp') }
}

/** Without the namespace of control groups, which a systemd unit may forbid. */
const BUBBLEWRAP_NAMESPACES = ['user-try', 'ipc', 'pid', 'net', 'uts'].map((name) => `--unshare-${name}`)

function buildBubblewrapCommand(
  { filled: commandLine, folder }: ProgramStart,
  { tmp }: PrivateFolders,
  visible: readonly VisiblePath[],
): string[] {
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
    ...['--remount-ro', '/dev', '--remount-ro', '/', '--chdir', folder, '--', ...commandLine],
  ]
}

const NEW_ROOT_OPERATIONS = { 'read-only': 'ro', device: 'dev', 'empty-folder': 'dir', 'empty-file': 'file' } as const

function buildUnshareCommand(
  { filled: commandLine, folder }: ProgramStart,
  folders: PrivateFolders,
  visible: readonly VisiblePath[],
): string[] {
  const namespaces = ['--user', '--map-root-user', '--mount', '--net', '--ipc', '--uts', '--pid', '--fork']
  return [
    // Otherwise the first process of the namespace survives when the daemon is killed.
    ...['setpriv', '--pdeathsig', 'KILL', '--', 'unshare', ...namespaces, '--kill-child', '--'],
    ...['sh', '-c', NEW_ROOT, 'sh', folders.root, folder, folders.tmp],
    ...[String(process.getuid?.()), String(process.getgid?.())],
    ...visible.flatMap(({ path, as }) => [NEW_ROOT_OPERATIONS[as], path]),
    ...['--', ...commandLine],
  ]
}

/** The command line of `prlimit` for the limits of single processes, where it is installed. */
async function buildLimitCommand({ limits }: ProgramStart): Promise<string[]> {
  if (limits === undefined) return []
  const { processorSeconds, fileBytes } = limits
  const prlimit = ['prlimit', `--cpu=${processorSeconds}`, `--fsize=${fileBytes}`, '--core=0', '--']
  return (await canRun([...prlimit, 'true'])) ? prlimit : []
}

function canRun([program = '', ...args]: string[]): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(program, args, { stdio: 'ignore', timeout: PROBE_TIMEOUT_MS, killSignal: 'SIGKILL' })
    child.once('error', () => resolve(false))
    child.once('exit', (code) => resolve(code === 0))
  })
}
