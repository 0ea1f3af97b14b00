import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Logger } from 'pino'
import type { StoredWatch, WatchState } from '../../contract/gateway/local-files.js'
import { NO_DEBUGGER_FLAGS } from '../../lib/debugger-flags.js'
import { resolveEntryUrl } from '../../lib/entry.js'
import { killAtExit } from '../../lib/kill-at-exit.js'
import type { WatchControl } from './control.js'

/** Messages to the watcher process. It exits when the channel closes, as it does when the daemon dies. */
export type WatcherCommand =
  | { type: 'watches'; dataDir: string; watches: StoredWatch[]; accept?: string }
  | { type: 'stale'; path: string }

/** Messages from the watcher process. */
export type WatcherMessage = { type: 'state'; id: string; state: WatchState } | { type: 'log'; message: string }

export interface WatchSupervisorOptions {
  dataDir: string
  allowed: boolean
  log: Logger
}

const FIRST_RESTART_MS = 500
const MAX_RESTART_MS = 60_000
/** A process that ran for this long resets the restart delay. */
const STABLE_MS = 60_000

/**
 * Runs one process while folders are watched: checking thousands of files must not block the daemon's event loop. The
 * process is a client of this daemon like `ks watch` in the foreground; after a restart it only checks the folders
 * again.
 */
export class WatchSupervisor implements WatchControl {
  readonly allowed: boolean
  readonly #options: WatchSupervisorOptions
  readonly #states = new Map<string, WatchState>()
  #child: ChildProcess | undefined
  #watches: () => Promise<StoredWatch[]> = async () => []
  #syncing: Promise<void> = Promise.resolve()
  #closed = false
  #restartDelayMs = FIRST_RESTART_MS
  #timer: NodeJS.Timeout | undefined

  constructor(options: WatchSupervisorOptions) {
    this.#options = options
    this.allowed = options.allowed
  }

  /**
   * Starts watching; called when the daemon is ready for requests.
   * @param watches loads all stored watches
   */
  start(watches: () => Promise<StoredWatch[]>): void {
    this.#watches = watches
    this.changed()
  }

  get pid(): number | undefined {
    return this.#child?.pid
  }

  stateOf(id: string): WatchState | undefined {
    return this.#states.get(id)
  }

  /** Whether folders are watched, so that the daemon must keep running. */
  async isActive(): Promise<boolean> {
    return this.allowed && (await this.#watches()).length > 0
  }

  /** Loads the watches again and sends them, one load after the other, so that the newest list is sent last. */
  changed(accept?: string): void {
    if (this.#closed || !this.allowed) return
    this.#syncing = this.#syncing.then(() => this.#syncWatches(accept))
  }

  /** Never rejects. */
  async #syncWatches(accept: string | undefined): Promise<void> {
    let watches: StoredWatch[]
    try {
      watches = await this.#watches()
    } catch (error) {
      this.#options.log.warn({ err: error }, 'the watched folders could not be loaded')
      this.#scheduleRestart(0)
      return
    }
    if (this.#closed) return
    const ids = new Set(watches.map(({ id }) => id))
    for (const id of this.#states.keys()) if (!ids.has(id)) this.#states.delete(id)
    if (watches.length === 0) this.#stopChild()
    else if (this.#child === undefined) this.#launch()
    else this.#send({ type: 'watches', dataDir: this.#options.dataDir, watches, ...(accept ? { accept } : {}) })
  }

  stale(path: string): void {
    this.#send({ type: 'stale', path })
  }

  close(): void {
    this.#closed = true
    this.#stopChild()
  }

  #stopChild(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const child = this.#child
    this.#child = undefined
    child?.kill('SIGKILL') // Every step of its work may be interrupted.
  }

  #launch(): void {
    const { log } = this.#options
    clearTimeout(this.#timer)
    const startedAt = Date.now()
    const child = fork(fileURLToPath(resolveEntryUrl(import.meta.url, '../../cli/watch/child.js')), [], {
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      execArgv: ['--max-semi-space-size=4', ...NO_DEBUGGER_FLAGS],
      cwd: '/',
    })
    this.#child = child
    killAtExit(child)
    child.on('message', (message: WatcherMessage) => {
      if (message.type === 'state') this.#states.set(message.id, message.state)
      else log.warn({ watcher: child.pid }, message.message)
    })
    child.on('error', (error) => log.error({ err: error }, 'the watching process could not be started'))
    child.once('exit', (code, signal) => {
      if (this.#child !== child) return
      this.#child = undefined
      this.#states.clear()
      log.warn({ code, signal }, 'the watching process exited and is restarted')
      this.#scheduleRestart(Date.now() - startedAt)
    })
    this.changed()
  }

  #scheduleRestart(livedMs: number): void {
    if (this.#closed) return
    this.#restartDelayMs = livedMs > STABLE_MS ? FIRST_RESTART_MS : this.#restartDelayMs
    this.#timer = setTimeout(() => this.changed(), this.#restartDelayMs)
    this.#timer.unref()
    this.#restartDelayMs = Math.min(MAX_RESTART_MS, this.#restartDelayMs * 2)
  }

  #send(message: WatcherCommand): void {
    if (this.#child?.connected === true) this.#child.send(message)
  }
}
