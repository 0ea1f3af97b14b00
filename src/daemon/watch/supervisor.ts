import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Logger } from 'pino'
import type { KeptWatch, WatchState } from '../../contract/gateway/local-files.js'
import { NO_DEBUGGER_FLAGS } from '../../lib/debugger-flags.js'
import { entryUrl } from '../../lib/entry.js'
import { killAtExit } from '../../lib/kill-at-exit.js'
import type { WatchControl } from './control.js'

/** What the process that watches is told. It ends when the channel closes, as it does when the daemon dies. */
export type ToWatcher =
  | { type: 'watches'; dataDir: string; watches: KeptWatch[]; accept?: string }
  | { type: 'stale'; path: string }

/** What it tells. */
export type FromWatcher = { type: 'state'; id: string; state: WatchState } | { type: 'log'; message: string }

export interface SupervisorOptions {
  dataDir: string
  allowed: boolean
  log: Logger
}

const FIRST_RESTART_MS = 500
const MAX_RESTART_MS = 60_000
/** a process that lived this long starts the pauses anew */
const STEADY_MS = 60_000

/**
 * Keeps one process running while folders are watched: looking at thousands of files must not hold up the daemon's event
 * loop. The process is a client of this daemon like `ks watch` in the foreground; a restart costs nothing but a look at
 * the folders.
 */
export class WatchSupervisor implements WatchControl {
  readonly allowed: boolean
  readonly #options: SupervisorOptions
  readonly #states = new Map<string, WatchState>()
  #child: ChildProcess | undefined
  #watches: () => Promise<KeptWatch[]> = async () => []
  #looking: Promise<void> = Promise.resolve()
  #closed = false
  #pause = FIRST_RESTART_MS
  #timer: NodeJS.Timeout | undefined

  constructor(options: SupervisorOptions) {
    this.#options = options
    this.allowed = options.allowed
  }

  /** Begins to watch; called when the daemon answers requests. @param watches all kept watches */
  start(watches: () => Promise<KeptWatch[]>): void {
    this.#watches = watches
    this.changed()
  }

  get pid(): number | undefined {
    return this.#child?.pid
  }

  stateOf(id: string): WatchState | undefined {
    return this.#states.get(id)
  }

  /** Whether folders are watched: then the daemon has to be there. */
  async isActive(): Promise<boolean> {
    return this.allowed && (await this.#watches()).length > 0
  }

  /** Looks the watches up again and tells them, one look after the other, so that the newest is told last. */
  changed(accept?: string): void {
    if (this.#closed || !this.allowed) return
    this.#looking = this.#looking.then(() => this.#look(accept))
  }

  /** Never rejects. */
  async #look(accept: string | undefined): Promise<void> {
    let watches: KeptWatch[]
    try {
      watches = await this.#watches()
    } catch (error) {
      this.#options.log.warn({ err: error }, 'the watched folders could not be looked up')
      this.#later(0)
      return
    }
    if (this.#closed) return
    const ids = new Set(watches.map(({ id }) => id))
    for (const id of this.#states.keys()) if (!ids.has(id)) this.#states.delete(id)
    if (watches.length === 0) this.#end()
    else if (this.#child === undefined) this.#launch()
    else this.#tell({ type: 'watches', dataDir: this.#options.dataDir, watches, ...(accept ? { accept } : {}) })
  }

  stale(path: string): void {
    this.#tell({ type: 'stale', path })
  }

  close(): void {
    this.#closed = true
    this.#end()
  }

  #end(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const child = this.#child
    this.#child = undefined
    child?.kill('SIGKILL') // every step of its work may be cut off
  }

  #launch(): void {
    const { log } = this.#options
    clearTimeout(this.#timer)
    const startedAt = Date.now()
    const child = fork(fileURLToPath(entryUrl(import.meta.url, '../../cli/watch/child.js')), [], {
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      execArgv: ['--max-semi-space-size=4', ...NO_DEBUGGER_FLAGS],
      cwd: '/',
    })
    this.#child = child
    killAtExit(child)
    child.on('message', (message: FromWatcher) => {
      if (message.type === 'state') this.#states.set(message.id, message.state)
      else log.warn({ watcher: child.pid }, message.message)
    })
    child.on('error', (error) => log.error({ err: error }, 'the watching process could not be started'))
    child.once('exit', (code, signal) => {
      if (this.#child !== child) return
      this.#child = undefined
      this.#states.clear()
      log.warn({ code, signal }, 'the watching process ended and is started again')
      this.#later(Date.now() - startedAt)
    })
    this.changed()
  }

  #later(livedMs: number): void {
    if (this.#closed) return
    this.#pause = livedMs > STEADY_MS ? FIRST_RESTART_MS : this.#pause
    this.#timer = setTimeout(() => this.changed(), this.#pause)
    this.#timer.unref()
    this.#pause = Math.min(MAX_RESTART_MS, this.#pause * 2)
  }

  #tell(message: ToWatcher): void {
    if (this.#child?.connected === true) this.#child.send(message)
  }
}
