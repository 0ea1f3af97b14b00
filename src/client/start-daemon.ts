import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, statfsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { NO_DEBUGGER_FLAGS } from '../lib/debugger-flags.js'
import { buildHelperThreadsFlag } from '../lib/helper-threads.js'
import { type DataLayout, resolveDataLayout } from '../local/layout.js'
import { readIfExists } from '../local/private-file.js'
import { ConnectionError, DaemonStartError } from './errors.js'
import { findDaemon, type LocalDaemon } from './local-daemon.js'

export interface StartOptions {
  dataDir: string
  /** further arguments for `ksd` */
  args: string[]
  /** called once if the start is slow enough for a message to the user */
  onSlow?: (() => void) | undefined
  /** instance id of a daemon that is shutting down and must not be returned */
  previousInstance?: string | undefined
}

/** Must be set before Node starts: threads for file syncs, and few malloc arenas because they retain unused memory. */
export const RUNTIME_SETTINGS = { UV_THREADPOOL_SIZE: '8', MALLOC_ARENA_MAX: '2' }
/**
 * Young generation for eight concurrent queries, each of which allocates more than 1 MB. With a quarter of this size
 * there are four times as many collections; they copy live objects and take 50 % longer in total. It grows on demand.
 */
export const NODE_FLAGS = ['--max-semi-space-size=16', buildHelperThreadsFlag(), ...NO_DEBUGGER_FLAGS]
const START_TIMEOUT_MS = 15_000
const SLOW_START_MS = 400
const POLL_MS = 30
/**
 * A child that finds the lock taken exits quietly. If no daemon responds this long afterwards, the lock's owner was
 * shutting down.
 */
const RESPAWN_DELAY_MS = 700
const LOG_TAIL_LINES = 5
/** With less free space the database does not start and the log cannot be written. */
const MIN_FREE_BYTES = 256 * 1024
/** A caller that has not started a daemon within this time is no longer waited for. */
const START_MARKER_MAX_AGE_MS = 4000

/**
 * Starts the daemon of a data directory and waits until one responds. Concurrent callers get the same daemon: children
 * that lose the lock exit quietly and their callers find the winner.
 *
 * @throws DaemonStartError if it exits first; ConnectionError `timeout` if it takes longer than 15 s
 */
export async function startDaemon(options: StartOptions): Promise<LocalDaemon> {
  const layout = resolveDataLayout(options.dataDir)
  for (const folder of [layout.logsDir, layout.runDir]) mkdirSync(folder, { recursive: true, mode: 0o700 })
  const logPath = join(layout.logsDir, `start-${process.pid}.log`)
  const marker = new StartMarker(join(layout.runDir, 'starting'))
  const startedMs = Date.now()
  let child: SpawnedDaemon | undefined
  let onSlow = options.onSlow
  try {
    for (;;) {
      const daemon = await findDaemon(options.dataDir)
      if (daemon !== undefined && daemon.file.instance !== options.previousInstance) return daemon
      const failure = child?.getFailure()
      if (failure !== undefined) throw failure
      const isNeeded = child === undefined ? marker.acquire() : child.getMsSinceCleanExit() > RESPAWN_DELAY_MS
      if (isNeeded) child = spawnDaemon(layout, options.args, logPath)
      const waitedMs = Date.now() - startedMs
      if (waitedMs > START_TIMEOUT_MS) {
        throw new ConnectionError(
          'timeout',
          `the daemon did not answer within ${START_TIMEOUT_MS / 1000} s of its start`,
        )
      }
      if (waitedMs > SLOW_START_MS) {
        onSlow?.()
        onSlow = undefined
      }
      await sleep(POLL_MS)
    }
  } finally {
    marker.release()
    rmSync(logPath, { force: true })
  }
}

/**
 * Lets one of several concurrent callers start the daemon while the others wait. Twenty processes that load an engine
 * only to find the lock taken would slow down its owner. This is an optimization, not a lock: the file of a killed
 * caller expires.
 */
class StartMarker {
  private readonly path: string
  private isOwned = false

  constructor(path: string) {
    this.path = path
  }

  /** @returns whether this caller may start the daemon */
  acquire(): boolean {
    try {
      const { mtimeMs } = statSync(this.path)
      if (Date.now() - mtimeMs > START_MARKER_MAX_AGE_MS) rmSync(this.path, { force: true })
    } catch {
      // No caller has the marker.
    }
    try {
      closeSync(openSync(this.path, 'wx', 0o600))
      this.isOwned = true
    } catch {
      this.isOwned = false
    }
    return this.isOwned
  }

  release(): void {
    if (this.isOwned) rmSync(this.path, { force: true })
  }
}

/** The path of the daemon's program. */
export function getDaemonProgram(): string {
  return fileURLToPath(new URL('../../bin/ksd.js', import.meta.url))
}

interface SpawnedDaemon {
  getFailure(): Error | undefined
  /** milliseconds since the child exited with code 0; 0 while it runs */
  getMsSinceCleanExit(): number
}

function spawnDaemon(layout: DataLayout, args: string[], logPath: string): SpawnedDaemon {
  const output = openSync(logPath, 'a', 0o600)
  let child: ChildProcess
  try {
    child = spawn(process.execPath, [...NODE_FLAGS, getDaemonProgram(), '--data-dir', layout.root, ...args], {
      cwd: '/',
      detached: true,
      env: { ...RUNTIME_SETTINGS, ...reduceEnv(process.env, listProviderKeyNames(layout)) },
      stdio: ['ignore', output, output],
      windowsHide: true,
    })
  } finally {
    closeSync(output)
  }
  let failure: Error | undefined
  let exitedAt: number | undefined
  child.once('error', (error) => {
    failure = new DaemonStartError(`the daemon could not be started: ${error.message}`, [])
  })
  child.once('exit', (code, signal) => {
    exitedAt = Date.now()
    if (code !== 0) failure = toStartError(logPath, signal ?? explainMissingLog(layout.root) ?? `exit ${code}`)
  })
  child.unref()
  return { getFailure: () => failure, getMsSinceCleanExit: () => (exitedAt === undefined ? 0 : Date.now() - exitedAt) }
}

/** On a full disk the daemon cannot log why it ended. */
function explainMissingLog(folder: string): string | undefined {
  try {
    const { bavail, bsize } = statfsSync(folder)
    return bavail * bsize < MIN_FREE_BYTES ? `the disk of ${folder} is full` : undefined
  } catch {
    return undefined
  }
}

function toStartError(logPath: string, fallbackReason: string): DaemonStartError {
  const lines = readTail(logPath)
  const last = lines.filter((line) => !line.startsWith('hint:')).at(-1)
  const reason = last?.replace(/^ksd?: /, '') ?? fallbackReason
  // A single line is already the reason in the message.
  return new DaemonStartError(`the daemon exited before it was ready: ${reason}`, lines.length > 1 ? lines : [])
}

function readTail(path: string): string[] {
  try {
    const lines = readFileSync(path, 'utf8').split('\n')
    return lines.filter((line) => line.trim() !== '').slice(-LOG_TAIL_LINES)
  } catch {
    return []
  }
}

/** Variables of the caller's environment that the daemon, which outlives the caller, inherits. */
const PASSED_VARIABLES = new Set(
  (
    'PATH HOME USER LOGNAME LANG LANGUAGE TZ TMPDIR TEMP TMP APPDATA LOCALAPPDATA USERPROFILE SYSTEMROOT ' +
    'HTTP_PROXY HTTPS_PROXY NO_PROXY NODE_EXTRA_CA_CERTS'
  ).split(' '),
)
/** Variables that direct the caller's own requests; the daemon must not inherit them. */
const BLOCKED_VARIABLES = new Set(['KS_URL', 'KS_TOKEN', 'KS_TOKEN_FILE', 'KS_CONTEXT', 'KS_SPACE'])

/** Builds the environment of a started daemon: settings, paths, locale, proxies, and the API keys of its providers. */
export function reduceEnv(env: NodeJS.ProcessEnv, providerKeys: string[] = []): NodeJS.ProcessEnv {
  const passed: NodeJS.ProcessEnv = {}
  for (const [name, value] of Object.entries(env)) {
    const upper = name.toUpperCase()
    if (BLOCKED_VARIABLES.has(upper)) continue
    const isPassed = PASSED_VARIABLES.has(upper) || /^(KS|LC|XDG)_/.test(upper) || providerKeys.includes(name)
    if (isPassed && value !== undefined) passed[name] = value
  }
  return passed
}

/** Names of the environment variables from which the daemon's configuration reads provider keys. */
function listProviderKeyNames(layout: DataLayout): string[] {
  const text = readIfExists(layout.config) ?? ''
  return [...text.matchAll(/"apiKeyEnv"\s*:\s*"([A-Za-z_][A-Za-z0-9_]*)"/g)].flatMap((match) => match[1] ?? [])
}
