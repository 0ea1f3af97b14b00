import { posix } from 'node:path'
import type { Client } from '../../client/client.js'
import { ApiError, ConnectionError, DaemonStartError } from '../../client/errors.js'
import type { WatchState } from '../../contract/gateway/local-files.js'
import { defined } from '../../lib/defined.js'
import { silentDisks } from '../../local/file-systems.js'
import { IGNORE_FILES } from '../ingest/ignore-rules.js'
import type { PassedFile, WalkOptions } from '../ingest/walk.js'
import { plural } from '../units.js'
import { FolderEvents } from './folder-events.js'
import type { Ledger } from './ledger.js'
import { FolderMissing } from './look.js'
import { type PollPlan, pollPlan } from './poll-plan.js'
import { Poller } from './poller.js'
import { type Change, FolderSync } from './sync.js'

export interface WatcherOptions {
  /** absolute, as it was given */
  folder: string
  spaceId: string
  walk: WalkOptions
  onDelete: 'remove' | 'keep'
  ledger: Ledger
  /** between two looks at everything, milliseconds */
  everyMs: number
  /** between two polls of the disk, which take the place of its events; absent: where the disk tells of no changes */
  pollMs?: number
  /** a client of the service; asked again when a connection broke */
  connect: () => Promise<Client>
  onChange: (change: Change) => void
  onState: (state: WatchState) => void
  /** what the first look left out */
  onSkipped: (skipped: PassedFile[]) => void
  signal: AbortSignal
}

/** Hints of one save come together. */
const GATHER_MS = 15
/** More paths than this are looked at as a whole. */
const MAX_PATHS = 20_000
/** The folder itself is looked at so often; a disk that was unmounted sends no event. */
const PULSE_MS = 2000
/** Between two looks at everything where not everybody tells of changes. */
const BLIND_EVERY_MS = 10_000
const FIRST_RETRY_MS = 250
const MAX_RETRY_MS = 30_000

/**
 * Keeps a space at what a folder holds. Events only say where to look; a look compares files with what the space holds,
 * and one at everything, from time to time, finds what no event told.
 */
export class FolderWatcher {
  readonly #options: WatcherOptions
  readonly #sync: FolderSync
  readonly #events: FolderEvents
  readonly #poller: Poller
  #plan: PollPlan | undefined
  /** what is polled is to be arranged anew */
  #isPlanNew = false
  /** paths to look at, with the time from which on */
  readonly #due = new Map<string, number>()
  #wake: () => void = () => {}
  #client: Client | undefined
  #isLoaded = false
  #fullAt = 0
  #retryMs = FIRST_RETRY_MS
  #wasTold = false
  /** everything was looked at, and nothing had to be waited for */
  #isSettled = false
  #lastSyncAt: string | undefined

  constructor(options: WatcherOptions) {
    this.#options = options
    this.#events = new FolderEvents(options.folder, (path) => this.touch(path))
    this.#poller = new Poller(options.folder, options.walk, (path) => this.touch(path))
    this.#sync = new FolderSync({
      ...options,
      onFolder: (path) => {
        if (options.pollMs === undefined) this.#events.add(path)
      },
      onProgress: () => this.#show('syncing'),
    })
    options.signal.addEventListener('abort', () => this.#wake(), { once: true })
  }

  /** Something at a path (`` for all) may have changed. */
  touch(path: string): void {
    const name = posix.basename(path)
    const isRule = IGNORE_FILES.includes(name)
    if (!isRule && !this.#options.walk.hidden && name.startsWith('.')) return
    const place = isRule ? posix.dirname(path).replace(/^\.$/, '') : path
    this.#due.set(place, Math.min(this.#due.get(place) ?? Number.POSITIVE_INFINITY, Date.now() + GATHER_MS))
    this.#wake()
  }

  /** What is missing may be taken as deleted. */
  accept(): void {
    this.#sync.accept()
    this.touch('')
  }

  /**
   * Watches until the signal aborts.
   *
   * @throws ApiError of a space that is gone or a token that is refused
   */
  async run(): Promise<void> {
    this.#show('starting')
    try {
      while (!this.#options.signal.aborted) {
        await this.#turn()
        await this.#sleep()
      }
    } finally {
      this.#poller.close()
      this.#events.close()
      this.#client?.close()
    }
  }

  /** One look at everything, and at what has to settle. @throws what stands in its way */
  async once(): Promise<void> {
    try {
      this.#due.set('', 0)
      while (this.#due.size > 0 && !this.#options.signal.aborted) {
        await this.#pass()
        if (this.#due.size > 0) await this.#sleep()
      }
    } finally {
      this.#events.close()
      this.#client?.close()
    }
  }

  get state(): WatchState {
    return {
      state: 'watching',
      files: this.#sync.size,
      ...defined({ lastSyncAt: this.#lastSyncAt }),
      ...(this.#plan === undefined ? {} : { polledEveryMs: this.#plan.everyMs }),
    }
  }

  get withheld(): number {
    return this.#sync.withheld
  }

  async #turn(): Promise<void> {
    try {
      if (Date.now() >= this.#fullAt || this.#sync.isReplaced()) this.#due.set('', 0)
      if ([...this.#due.values()].some((at) => at <= Date.now())) await this.#pass()
      if (this.#isPlanNew || this.#poller.isOutdated) await this.#poller.arrange(this.#plan)
      this.#isPlanNew = false
      this.#retryMs = FIRST_RETRY_MS
    } catch (error) {
      if (this.#options.signal.aborted) return
      if (!(error instanceof FolderMissing) && !mayRetry(error)) throw error
      this.#isLoaded = false
      this.#fullAt = 0
      if (error instanceof FolderMissing) {
        this.#events.close()
        this.#poller.close()
        this.#due.clear()
        this.#fullAt = Date.now() + PULSE_MS
        this.#show('folder-missing', `${error.message}; its documents stay, and it is looked for`)
      } else {
        this.#client?.close()
        this.#client = undefined
        this.#due.clear()
        this.#fullAt = Date.now() + this.#retryMs
        this.#retryMs = Math.min(MAX_RETRY_MS, this.#retryMs * 2)
        this.#show('waiting', `tried again soon: ${error instanceof Error ? error.message : String(error)}`)
      }
    }
  }

  async #pass(): Promise<void> {
    this.#client ??= await this.#options.connect()
    const isFull = !this.#isLoaded || this.#due.has('') || this.#due.size > MAX_PATHS
    if (isFull) await this.#sync.reload(this.#client)
    this.#isLoaded = true
    const paths = isFull ? new Set(['']) : this.#takeDue()
    if (isFull) {
      this.#due.clear()
      this.#events.isLimited = false
    }
    for (const path of paths) if (path !== '') this.#events.drop(path)
    const pass = await this.#sync.bring(this.#client, paths)
    const again = Date.now() + pass.afterMs
    for (const path of pass.again) this.#due.set(path, Math.min(this.#due.get(path) ?? again, again))
    this.#lastSyncAt = new Date().toISOString()
    if (isFull) this.#planPolls()
    if (isFull) this.#fullAt = Date.now() + this.#every()
    if (!this.#wasTold && isFull) this.#options.onSkipped(pass.skipped)
    this.#wasTold = true
    if (pass.again.length === 0) this.#isSettled = true
    this.#conclude()
  }

  #takeDue(): Set<string> {
    const now = Date.now()
    const paths = [...this.#due].filter(([, at]) => at <= now).map(([path]) => path)
    for (const path of paths) this.#due.delete(path)
    return new Set(paths)
  }

  #every(): number {
    const blindMs = this.#events.isLimited ? BLIND_EVERY_MS : Number.POSITIVE_INFINITY
    return Math.min(this.#options.everyMs, this.#plan?.lookEveryMs ?? blindMs, blindMs)
  }

  /** After each look at everything: disks come and go below a folder, and files become many. */
  #planPolls(): void {
    const { folder, pollMs } = this.#options
    const disks = silentDisks(folder)
    const roots = pollMs === undefined ? disks.map(({ path }) => path) : ['']
    const paths = this.#sync.sizeBelow(roots)
    this.#plan = pollPlan({ askedMs: pollMs, disks, paths, lookMs: this.#sync.lookMs })
    this.#isPlanNew = true
  }

  #conclude(): void {
    const { withheld } = this.#sync
    if (!this.#isSettled) {
      this.#show('syncing')
    } else if (withheld > 0) {
      const files = `${plural(withheld, 'file')} ${withheld === 1 ? 'is' : 'are'}`
      this.#show('withheld', `${files} missing from what looks like another disk or folder; the documents stay`)
    } else if (this.#events.isLimited) {
      this.#show('watching', 'the system has no more watches (fs.inotify.max_user_watches): looked at every 10 s')
    } else {
      this.#show('watching', this.#plan?.says)
    }
  }

  #show(state: WatchState['state'], detail?: string): void {
    const shown = { ...this.state, state, ...defined({ detail }) }
    this.#options.onState(shown)
  }

  /** Until the next path is due, the next look at everything, or the next pulse. */
  async #sleep(): Promise<void> {
    if (this.#options.signal.aborted) return
    const next = Math.min(...this.#due.values(), this.#fullAt, Date.now() + PULSE_MS)
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, Math.max(1, next - Date.now()))
      this.#wake = () => {
        if (!this.#options.signal.aborted && Math.min(...this.#due.values()) > Date.now() + GATHER_MS) return
        this.#wake = () => {}
        clearTimeout(timer)
        setTimeout(resolve, this.#options.signal.aborted ? 0 : GATHER_MS)
      }
    })
    this.#wake = () => {}
  }
}

/** Whether the service may be there again, or have room again, some time. */
function mayRetry(error: unknown): boolean {
  if (error instanceof ConnectionError || error instanceof DaemonStartError) return true
  return error instanceof ApiError && (error.status === 429 || error.status >= 500) && error.status !== 501
}
