import { posix } from 'node:path'
import type { Client } from '../../client/client.js'
import { ApiError, ConnectionError, DaemonStartError } from '../../client/errors.js'
import type { WatchState } from '../../contract/gateway/local-files.js'
import { toErrorMessage } from '../../lib/error-message.js'
import { omitUndefined } from '../../lib/omit-undefined.js'
import { pluralize } from '../../lib/text/pluralize.js'
import { findSilentDisks } from '../../local/silent-disks.js'
import { IGNORE_FILES } from '../ingest/ignore-rules.js'
import type { ReportedFile, WalkOptions } from '../ingest/walk.js'
import { FolderEvents } from './folder-events.js'
import type { WatchLedger } from './ledger.js'
import { computePollPlan, type PollPlan } from './poll-plan.js'
import { FolderPoller } from './poller.js'
import { FolderMissingError } from './scan.js'
import { type FileChange, FolderSync } from './sync.js'

export interface FolderWatcherOptions {
  /** Absolute path, as given. */
  folder: string
  spaceId: string
  walk: WalkOptions
  onDelete: 'remove' | 'keep'
  ledger: WatchLedger
  /** Interval of full scans in milliseconds. */
  scanIntervalMs: number
  /** Interval of polls in milliseconds, instead of file system events; absent: only disks without events are polled. */
  pollMs?: number
  /** Opens a client of the service; called again after a connection broke. */
  connect: () => Promise<Client>
  onChange: (change: FileChange) => void
  onState: (state: WatchState) => void
  /** Called with the files that the first scan skipped. */
  onSkipped: (skipped: ReportedFile[]) => void
  signal: AbortSignal
}

/** Delay of a scan after a hint: one save of a file causes several. */
const GATHER_DELAY_MS = 15
/** With more paths than this, the entire folder is scanned. */
const MAX_DUE_PATHS = 20_000
/** Interval of checks of the folder itself: an unmounted disk sends no event. */
const FOLDER_CHECK_INTERVAL_MS = 2000
/** Interval of full scans if some folders send no events. */
const LIMITED_SCAN_INTERVAL_MS = 10_000
const INITIAL_RETRY_DELAY_MS = 250
const MAX_RETRY_DELAY_MS = 30_000

/**
 * Keeps a space in sync with a folder. Events only mark paths to scan; a scan compares files with the space, and
 * regular full scans find changes without events.
 */
export class FolderWatcher {
  readonly #options: FolderWatcherOptions
  readonly #sync: FolderSync
  readonly #events: FolderEvents
  readonly #poller: FolderPoller
  #pollPlan: PollPlan | undefined
  /** Whether polling must be arranged for a new plan. */
  #isPlanChanged = false
  /** Paths to scan, with the time of their scan in milliseconds since the epoch. */
  readonly #due = new Map<string, number>()
  #wake: () => void = () => {}
  #client: Client | undefined
  #isLoaded = false
  #nextFullScanAt = 0
  #retryMs = INITIAL_RETRY_DELAY_MS
  #hasReportedSkipped = false
  /** Whether a full scan is complete without pending paths. */
  #isSettled = false
  #lastSyncAt: string | undefined

  constructor(options: FolderWatcherOptions) {
    this.#options = options
    this.#events = new FolderEvents(options.folder, (path) => this.touch(path))
    this.#poller = new FolderPoller(options.folder, options.walk, (path) => this.touch(path))
    this.#sync = new FolderSync({
      ...options,
      onFolder: (path) => {
        if (options.pollMs === undefined) this.#events.add(path)
      },
      onProgress: () => this.#setState('syncing'),
    })
    options.signal.addEventListener('abort', () => this.#wake(), { once: true })
  }

  /** Marks a path (`` for all) as possibly changed. */
  touch(path: string): void {
    const name = posix.basename(path)
    const isIgnoreFile = IGNORE_FILES.includes(name)
    if (!isIgnoreFile && !this.#options.walk.hidden && name.startsWith('.')) return
    // An ignore file changes which files of its folder are included.
    const scanPath = isIgnoreFile ? posix.dirname(path).replace(/^\.$/, '') : path
    this.#due.set(scanPath, Math.min(this.#due.get(scanPath) ?? Number.POSITIVE_INFINITY, Date.now() + GATHER_DELAY_MS))
    this.#wake()
  }

  /** Treats missing files as deleted, even on another disk. */
  acceptMissing(): void {
    this.#sync.acceptMissing()
    this.touch('')
  }

  /**
   * Watches until the signal aborts.
   *
   * @throws ApiError if the space was deleted or the token is refused
   */
  async run(): Promise<void> {
    this.#setState('starting')
    try {
      while (!this.#options.signal.aborted) {
        await this.#step()
        await this.#sleep()
      }
    } finally {
      this.#poller.close()
      this.#events.close()
      this.#client?.close()
    }
  }

  /** Runs a full scan and the scans of pending paths. @throws any error that prevents them */
  async syncOnce(): Promise<void> {
    try {
      this.#due.set('', 0)
      while (this.#due.size > 0 && !this.#options.signal.aborted) {
        await this.#syncDue()
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
      files: this.#sync.fileCount,
      ...omitUndefined({ lastSyncAt: this.#lastSyncAt, polledEveryMs: this.#pollPlan?.intervalMs }),
    }
  }

  /** Number of missing files that are not treated as deleted. */
  get withheldCount(): number {
    return this.#sync.withheldCount
  }

  async #step(): Promise<void> {
    try {
      if (Date.now() >= this.#nextFullScanAt || this.#sync.isReplaced()) this.#due.set('', 0)
      if ([...this.#due.values()].some((dueAt) => dueAt <= Date.now())) await this.#syncDue()
      if (this.#isPlanChanged || this.#poller.isOutdated) await this.#poller.arrange(this.#pollPlan)
      this.#isPlanChanged = false
      this.#retryMs = INITIAL_RETRY_DELAY_MS
    } catch (error) {
      if (this.#options.signal.aborted) return
      if (!(error instanceof FolderMissingError) && !isRetryable(error)) throw error
      this.#isLoaded = false
      this.#nextFullScanAt = 0
      if (error instanceof FolderMissingError) {
        this.#events.close()
        this.#poller.close()
        this.#due.clear()
        this.#nextFullScanAt = Date.now() + FOLDER_CHECK_INTERVAL_MS
        this.#setState('folder-missing', `${error.message}; its documents are kept until it returns`)
      } else {
        this.#client?.close()
        this.#client = undefined
        this.#due.clear()
        this.#nextFullScanAt = Date.now() + this.#retryMs
        this.#retryMs = Math.min(MAX_RETRY_DELAY_MS, this.#retryMs * 2)
        this.#setState('waiting', `retrying soon: ${toErrorMessage(error)}`)
      }
    }
  }

  async #syncDue(): Promise<void> {
    this.#client ??= await this.#options.connect()
    const isFull = !this.#isLoaded || this.#due.has('') || this.#due.size > MAX_DUE_PATHS
    if (isFull) await this.#sync.reload(this.#client)
    this.#isLoaded = true
    const paths = isFull ? new Set(['']) : this.#takeDue()
    if (isFull) {
      this.#due.clear()
      this.#events.isLimited = false
    }
    for (const path of paths) if (path !== '') this.#events.remove(path)
    const result = await this.#sync.sync(this.#client, paths)
    const retryAt = Date.now() + result.retryAfterMs
    for (const path of result.retryPaths) this.#due.set(path, Math.min(this.#due.get(path) ?? retryAt, retryAt))
    this.#lastSyncAt = new Date().toISOString()
    if (isFull) {
      this.#updatePollPlan()
      this.#nextFullScanAt = Date.now() + this.#getScanIntervalMs()
      if (!this.#hasReportedSkipped) this.#options.onSkipped(result.skipped)
    }
    this.#hasReportedSkipped = true
    if (result.retryPaths.length === 0) this.#isSettled = true
    this.#reportState()
  }

  #takeDue(): Set<string> {
    const now = Date.now()
    const paths = [...this.#due].filter(([, dueAt]) => dueAt <= now).map(([path]) => path)
    for (const path of paths) this.#due.delete(path)
    return new Set(paths)
  }

  #getScanIntervalMs(): number {
    const limitedMs = this.#events.isLimited ? LIMITED_SCAN_INTERVAL_MS : Number.POSITIVE_INFINITY
    return Math.min(this.#options.scanIntervalMs, this.#pollPlan?.scanIntervalMs ?? limitedMs, limitedMs)
  }

  /** Runs after each full scan: disks below the folder and the number of files may have changed. */
  #updatePollPlan(): void {
    const { folder, pollMs } = this.#options
    const disks = findSilentDisks(folder)
    const roots = pollMs === undefined ? disks.map(({ path }) => path) : ['']
    const pathCount = this.#sync.countFilesBelow(roots)
    this.#pollPlan = computePollPlan({ requestedMs: pollMs, disks, pathCount, scanMs: this.#sync.scanMs })
    this.#isPlanChanged = true
  }

  #reportState(): void {
    const { withheldCount } = this.#sync
    if (!this.#isSettled) {
      this.#setState('syncing')
    } else if (withheldCount > 0) {
      const files = `${pluralize(withheldCount, 'file')} ${withheldCount === 1 ? 'is' : 'are'}`
      this.#setState(
        'withheld',
        `${files} missing, probably since another disk or folder is mounted; the documents are kept`,
      )
    } else if (this.#events.isLimited) {
      this.#setState('watching', 'the system has no more watches (fs.inotify.max_user_watches): scanned every 10 s')
    } else {
      this.#setState('watching', this.#pollPlan?.description)
    }
  }

  #setState(state: WatchState['state'], detail?: string): void {
    this.#options.onState({ ...this.state, state, ...omitUndefined({ detail }) })
  }

  /** Sleeps until the next due path, full scan or folder check. */
  async #sleep(): Promise<void> {
    if (this.#options.signal.aborted) return
    const wakeAt = Math.min(...this.#due.values(), this.#nextFullScanAt, Date.now() + FOLDER_CHECK_INTERVAL_MS)
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, Math.max(1, wakeAt - Date.now()))
      this.#wake = () => {
        if (!this.#options.signal.aborted && Math.min(...this.#due.values()) > Date.now() + GATHER_DELAY_MS) return
        this.#wake = () => {}
        clearTimeout(timer)
        setTimeout(resolve, this.#options.signal.aborted ? 0 : GATHER_DELAY_MS)
      }
    })
    this.#wake = () => {}
  }
}

/** Whether the service may become available, or have space, later. */
function isRetryable(error: unknown): boolean {
  if (error instanceof ConnectionError || error instanceof DaemonStartError) return true
  return error instanceof ApiError && (error.status === 429 || error.status >= 500) && error.status !== 501
}
