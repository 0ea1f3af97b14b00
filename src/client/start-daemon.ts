import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, statfsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { NO_DEBUGGER_FLAGS } from '../lib/debugger-flags.js'
import { helperThreads } from '../lib/helper-threads.js'
import { type DataLayout, dataLayout } from '../local/layout.js'
import { readIfExists } from '../local/private-file.js'
import { ConnectionError, DaemonStartError } from './errors.js'
import { findDaemon, type LocalDaemon } from './local-daemon.js'

export interface StartOptions {
  dataDir: string
  /** arguments for `ksd` beside the data directory */
  args: string[]
  /** called once when starting takes long enough to be worth a word */
  onSlow?: (() => void) | undefined
  /** an instance that is not waited for, because it is about to go */
  notInstance?: string | undefined
}

/** Must be set before Node starts: threads for file syncs, and few malloc arenas, whose slack is memory held for nothing. */
export const RUNTIME_SETTINGS = { UV_THREADPOOL_SIZE: '8', MALLOC_ARENA_MAX: '2' }
/**
 * A nursery for eight questions at once, each of which leaves a megabyte and more: in one of a quarter of this size there
 * are four times as many collections, which copy what is still in hand and take half as long again together. It grows when
 * it is needed.
 */
export const NODE_FLAGS = ['--max-semi-space-size=16', helperThreads(), ...NO_DEBUGGER_FLAGS]
const START_MS = 15_000
const SLOW_MS = 400
const POLL_MS = 30
/** A child that found the lock taken exits quietly; if nobody answers for this long after, the owner was leaving. */
const RESPAWN_MS = 700
const TAIL_LINES = 5
/** with less room a database does not start, and a log has no line more */
const FULL_BYTES = 256 * 1024
/** A caller that has not brought a daemon up in this time is not waited for. */
const TURN_MS = 4000

/**
 * Starts the daemon of a data directory and waits until one answers. Of several callers at once each gets the same
 * daemon: the losers of the lock exit quietly and their callers find the winner.
 *
 * @throws DaemonStartError when it exits first; ConnectionError `timeout` when it takes longer than 15 s
 */
export async function startDaemon(options: StartOptions): Promise<LocalDaemon> {
  const layout = dataLayout(options.dataDir)
  for (const folder of [layout.logsDir, layout.runDir]) mkdirSync(folder, { recursive: true, mode: 0o700 })
  const log = join(layout.logsDir, `start-${process.pid}.log`)
  const turn = new StartTurn(join(layout.runDir, 'starting'))
  const started = Date.now()
  let child: Spawned | undefined
  let slow = options.onSlow
  try {
    for (;;) {
      const found = await findDaemon(options.dataDir)
      if (found !== undefined && found.file.instance !== options.notInstance) return found
      const failure = child?.failure()
      if (failure !== undefined) throw failure
      const isNeeded = child === undefined ? turn.take() : child.leftQuietlyFor() > RESPAWN_MS
      if (isNeeded) child = spawnDaemon(layout, options.args, log)
      const waited = Date.now() - started
      if (waited > START_MS) {
        throw new ConnectionError('timeout', `the daemon did not answer within ${START_MS / 1000} s of its start`)
      }
      if (waited > SLOW_MS) {
        slow?.()
        slow = undefined
      }
      await sleep(POLL_MS)
    }
  } finally {
    turn.giveBack()
    rmSync(log, { force: true })
  }
}

/**
 * Of many callers at once one starts a daemon and the others wait for it: twenty processes that load an engine to find
 * the lock taken would only slow the one that has it. A courtesy, no lock: a caller that is killed leaves the file, and
 * after a while nobody minds it.
 */
class StartTurn {
  private readonly path: string
  private isMine = false

  constructor(path: string) {
    this.path = path
  }

  take(): boolean {
    try {
      const { mtimeMs } = statSync(this.path)
      if (Date.now() - mtimeMs > TURN_MS) rmSync(this.path, { force: true })
    } catch {
      // Nobody has the turn.
    }
    try {
      closeSync(openSync(this.path, 'wx', 0o600))
      this.isMine = true
    } catch {
      this.isMine = false
    }
    return this.isMine
  }

  giveBack(): void {
    if (this.isMine) rmSync(this.path, { force: true })
  }
}

/** The program file of the daemon. */
export function daemonProgram(): string {
  return fileURLToPath(new URL('../../bin/ksd.js', import.meta.url))
}

interface Spawned {
  failure(): Error | undefined
  /** milliseconds since the child exited with 0; 0 while it runs */
  leftQuietlyFor(): number
}

function spawnDaemon(layout: DataLayout, args: string[], log: string): Spawned {
  const output = openSync(log, 'a', 0o600)
  let child: ChildProcess
  try {
    child = spawn(process.execPath, [...NODE_FLAGS, daemonProgram(), '--data-dir', layout.root, ...args], {
      cwd: '/',
      detached: true,
      env: { ...RUNTIME_SETTINGS, ...reducedEnv(process.env, providerKeyNames(layout)) },
      stdio: ['ignore', output, output],
      windowsHide: true,
    })
  } finally {
    closeSync(output)
  }
  let failed: Error | undefined
  let leftAt: number | undefined
  child.once('error', (error) => {
    failed = new DaemonStartError(`the daemon could not be started: ${error.message}`, [])
  })
  child.once('exit', (code, signal) => {
    leftAt = Date.now()
    if (code !== 0) failed = startError(log, signal ?? whyNothingIsSaid(layout.root) ?? `exit ${code}`)
  })
  child.unref()
  return { failure: () => failed, leftQuietlyFor: () => (leftAt === undefined ? 0 : Date.now() - leftAt) }
}

/** A daemon on a full disk cannot even write why it ended. */
function whyNothingIsSaid(folder: string): string | undefined {
  try {
    const { bavail, bsize } = statfsSync(folder)
    return bavail * bsize < FULL_BYTES ? `the disk of ${folder} is full` : undefined
  } catch {
    return undefined
  }
}

function startError(log: string, how: string): DaemonStartError {
  const lines = tail(log)
  const last = lines.filter((line) => !line.startsWith('hint:')).at(-1)
  const reason = last?.replace(/^ksd?: /, '') ?? how
  // One line is the reason itself, and needs no second telling.
  return new DaemonStartError(`the daemon exited before it was ready: ${reason}`, lines.length > 1 ? lines : [])
}

function tail(path: string): string[] {
  try {
    const lines = readFileSync(path, 'utf8').split('\n')
    return lines.filter((line) => line.trim() !== '').slice(-TAIL_LINES)
  } catch {
    return []
  }
}

/** What a daemon that outlives its caller may know of the caller's environment. */
const KEPT = new Set(
  (
    'PATH HOME USER LOGNAME LANG LANGUAGE TZ TMPDIR TEMP TMP APPDATA LOCALAPPDATA USERPROFILE SYSTEMROOT ' +
    'HTTP_PROXY HTTPS_PROXY NO_PROXY NODE_EXTRA_CA_CERTS'
  ).split(' '),
)
/** These say where the caller's requests go, which is no business of the daemon. */
const NOT_KEPT = new Set(['KS_URL', 'KS_TOKEN', 'KS_TOKEN_FILE', 'KS_CONTEXT', 'KS_SPACE'])

/** The environment of a started daemon: settings, paths, locale, proxies, and the keys its providers name. */
export function reducedEnv(env: NodeJS.ProcessEnv, providerKeys: string[] = []): NodeJS.ProcessEnv {
  const kept: NodeJS.ProcessEnv = {}
  for (const [name, value] of Object.entries(env)) {
    const upper = name.toUpperCase()
    if (NOT_KEPT.has(upper)) continue
    const wanted = KEPT.has(upper) || /^(KS|LC|XDG)_/.test(upper) || providerKeys.includes(name)
    if (wanted && value !== undefined) kept[name] = value
  }
  return kept
}

/** Names of the environment variables that the daemon's configuration takes provider keys from. */
function providerKeyNames(layout: DataLayout): string[] {
  const text = readIfExists(layout.config) ?? ''
  return [...text.matchAll(/"apiKeyEnv"\s*:\s*"([A-Za-z_][A-Za-z0-9_]*)"/g)].flatMap((match) => match[1] ?? [])
}
