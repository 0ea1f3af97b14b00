import { setTimeout as sleep } from 'node:timers/promises'
import { BackgroundService } from '../../base/background-service.js'
import { asDeployment } from '../../base/tenant-scope.js'
import { type EngineContext, runInSpace, type SpaceHead } from '../../library/index.js'
import { FIRST_VERSION_POSITION, listLiveVersionsAfter, type VersionPosition } from '../../store/rows/derivations.js'
import { hasClaimedJobs } from '../../store/rows/jobs.js'
import { findSpaceByKey, listSpaceKeys } from '../../store/rows/spaces.js'
import { isWriteStopped } from '../../store/write-stop.js'
import { IS_COMPARED } from '../rows/conflicts.js'
import { ComparedSpace } from './compared-space.js'
import { reviewContradictions } from './review.js'
import { ClaimThread } from './thread.js'

/** A space is processed after this time without a publication: people often save a file several times. */
const QUIET_MS = 2000
/** The idle thread is kept this long: loading the claims of a large space takes seconds. */
const IDLE_MS = 30_000
/** Versions per read, most of which are already compared: some milliseconds. */
const BATCH_SIZE = 250
/** Factor of pause to work while documents are being compiled. */
const PAUSE_FACTOR = 10
const MAX_PAUSE_MS = 100

/**
 * Finds contradictions between documents of a space, in the background after publication: questions and documents that
 * are still compiling have priority. Pending versions are marked in the database, so the work continues after a
 * restart.
 */
export class ConflictFinder extends BackgroundService<EngineContext> {
  protected override readonly failureMessage = 'documents could not be compared'
  /** spaces with versions that may not be compared, and when each is processed */
  readonly #due = new Map<number, number>()
  readonly #places = new Map<number, VersionPosition>()
  /** by space, the publication up to which everything was compared */
  readonly #done = new Map<number, number>()
  /** versions that could not be read; they are retried after the next start */
  readonly #unreadable = new Map<number, Set<number>>()
  #thread: ClaimThread | undefined
  #open: ComparedSpace | undefined
  #closing: NodeJS.Timeout | undefined

  /** Starts with versions that earlier processes left, or stored in another format. */
  override async start(context: EngineContext): Promise<void> {
    super.start(context, QUIET_MS)
    for (const key of await context.db.read(listSpaceKeys())) this.published(key)
  }

  /** Notes that a space has published. */
  published(spaceKey: number): void {
    this.#due.set(spaceKey, performance.now() + QUIET_MS)
    this.wake(QUIET_MS)
  }

  /**
   * Waits until everything that a space shows is compared, at most for the given time.
   *
   * @returns whether it is; otherwise the work continues in the background
   */
  async catchUp(space: SpaceHead, milliseconds: number): Promise<boolean> {
    if (this.#isDone(space)) return true
    this.#due.set(space.key, 0)
    this.wake()
    const deadline = AbortSignal.timeout(milliseconds)
    while (!deadline.aborted && !this.isStopped && !this.#isDone(space)) await this.progress.waitForNext(deadline)
    return this.#isDone(space)
  }

  /** Number of versions of a space that cannot be read. */
  unreadable(spaceKey: number): number {
    return this.#unreadable.get(spaceKey)?.size ?? 0
  }

  override async stop(): Promise<void> {
    const stopped = super.stop()
    clearTimeout(this.#closing)
    await this.#thread?.close()
    await stopped
  }

  #isDone({ key, head_revision }: SpaceHead): boolean {
    return (this.#done.get(key) ?? -1) >= head_revision
  }

  protected override async tick(): Promise<void> {
    if (this.#next() === undefined || isWriteStopped(this.context)) return
    clearTimeout(this.#closing)
    try {
      await this.#processDue()
    } catch (error) {
      // The next tick tries again with a new thread.
      await this.#closeThread()
      throw error
    } finally {
      if (!this.isStopped) this.#closing = setTimeout(() => void this.#closeThread(), IDLE_MS).unref()
    }
  }

  async #closeThread(): Promise<void> {
    const thread = this.#thread
    this.#thread = undefined
    this.#open = undefined
    await thread?.close()
  }

  /** The space that has been due longest. */
  #next(): number | undefined {
    const now = performance.now()
    return [...this.#due].filter(([, dueAt]) => dueAt <= now).sort(([, a], [, b]) => a - b)[0]?.[0]
  }

  async #processDue(): Promise<void> {
    for (;;) {
      const spaceKey = this.#next()
      if (spaceKey === undefined || this.isStopped) return
      const dueAt = this.#due.get(spaceKey) ?? 0
      this.#due.delete(spaceKey)
      try {
        const isComplete = await runInSpace(this.context.db, spaceKey, () => this.#processNext(spaceKey))
        if (!isComplete && !this.#due.has(spaceKey)) this.#due.set(spaceKey, performance.now())
      } catch (error) {
        this.#due.set(spaceKey, dueAt)
        throw error
      }
      this.progress.notify()
    }
  }

  /** Processes the next versions of a space. @returns whether those were the last */
  async #processNext(spaceKey: number): Promise<boolean> {
    const context = this.context
    const space = await context.db.read(findSpaceByKey(spaceKey))
    if (space === undefined) {
      for (const known of [this.#places, this.#done, this.#unreadable]) known.delete(spaceKey)
      return true
    }
    const after = this.#places.get(spaceKey) ?? FIRST_VERSION_POSITION
    const versions = await context.db.read(listLiveVersionsAfter(spaceKey, after, IS_COMPARED, BATCH_SIZE))
    for (const [index, version] of versions.entries()) {
      if (version.meets === 0) await this.#compare(spaceKey, version.key)
      this.stopSignal.throwIfAborted()
      const open = this.#open?.key === spaceKey ? this.#open : undefined
      if (open?.hasPending === true) {
        if (index < versions.length - 1 && !open.isFull) continue
        await open.store()
      }
      // Not earlier: what was not stored is compared again.
      const { revision, nodes, key } = version
      this.#places.set(spaceKey, { revision, nodes, key })
    }
    if (versions.length === BATCH_SIZE) return false
    await reviewContradictions(context, space, this.stopSignal)
    this.#done.set(spaceKey, space.head_revision)
    return (await context.db.read(findSpaceByKey(spaceKey)))?.head_revision === space.head_revision
  }

  async #compare(spaceKey: number, version: number): Promise<void> {
    const context = this.context
    try {
      const space = await this.#openSpace(spaceKey)
      await space.compare(version)
    } catch (error) {
      this.stopSignal.throwIfAborted()
      // The versions before it are compared.
      await this.#open?.store()
      await this.#closeThread()
      const failed = this.#unreadable.get(spaceKey) ?? new Set()
      this.#unreadable.set(spaceKey, failed.add(version))
      context.log.warn({ version, error: String(error) }, 'a document cannot be compared with the others')
    }
  }

  async #openSpace(spaceKey: number): Promise<ComparedSpace> {
    if (this.#open?.key === spaceKey) return this.#open
    this.#thread ??= new ClaimThread()
    this.#open = undefined
    const opened = await ComparedSpace.open(this.context, this.#thread, spaceKey, (worked) =>
      this.#yieldToOthers(worked),
    )
    this.#open = opened
    return opened
  }

  /** @param worked milliseconds of work since the last call */
  async #yieldToOthers(worked: number): Promise<void> {
    const { db, foregroundPriority } = this.context
    this.stopSignal.throwIfAborted()
    if (await asDeployment(() => db.read(hasClaimedJobs())))
      await sleep(Math.min(MAX_PAUSE_MS, worked * PAUSE_FACTOR), undefined, { ref: false })
    else await foregroundPriority.yieldToQueries()
    this.stopSignal.throwIfAborted()
  }
}
