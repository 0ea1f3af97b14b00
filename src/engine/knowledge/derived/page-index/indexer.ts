import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'
import { BackgroundService } from '../../../base/background-service.js'
import { asDeployment } from '../../../base/tenant-scope.js'
import { type EngineContext, runInSpace, type SpaceHead } from '../../../library/index.js'
import type { Read } from '../../../store/program.js'
import {
  FIRST_VERSION_POSITION,
  IS_INDEXED,
  type LiveVersionMatch,
  listLiveVersionsAfter,
  listVersionNames,
  type VersionPosition,
} from '../../../store/rows/derivations.js'
import { hasClaimedJobs } from '../../../store/rows/jobs.js'
import { storePageIndexes, type VersionPageIndex } from '../../../store/rows/page-indexes.js'
import { findSpaceByKey, listSpaceKeys, type SpaceRow } from '../../../store/rows/spaces.js'
import { isWriteStopped } from '../../../store/write-stop.js'
import { PageIndexBuilder } from './build.js'
import { listNodesAfter } from './nodes.js'
import { packPageIndex } from './store.js'

/** Nodes read before other work gets a turn: some 5 ms. */
const MAX_SLICE_NODES = 12
/** Versions looked up at a time, most of which are indexed: some milliseconds. */
const MAX_BATCH_VERSIONS = 250
/** Pause while documents are being published, as a multiple of the preceding work time. */
const PAUSE_FACTOR = 100
/** Maximal number of page indexes in one transaction, and approximate maximum of their bytes: some milliseconds. */
const MAX_STORED_INDEXES = 32
const MAX_STORED_BYTES = 512 * 1024
/** Maximal wait of a query for missing page indexes … */
const MAX_QUERY_WAIT_MS = 250
/** … if at most this many nodes are missing; more cannot be indexed in that time. */
const MAX_AWAITED_NODES = 250

type NamedVersion = LiveVersionMatch & {
  docKey: number
  title: string
  filename: string
}

/**
 * Builds the page index of published documents in the background: queries go first, and so do documents that are being
 * published. The database knows what is missing, so a restart continues.
 */
export class PageIndexer extends BackgroundService<EngineContext> {
  protected override readonly failureMessage = 'the page index could not be made'
  /** spaces with versions that may lack an index, the longest waiting first */
  readonly #due = new Set<number>()
  readonly #positions = new Map<number, VersionPosition>()
  /** by space: the revision that was processed completely, and the number of its unreadable versions */
  readonly #done = new Map<number, { revision: number; unreadable: number }>()
  /** number of waiting queries, by space */
  readonly #waitingQueries = new Map<number, number>()

  /** Starts with what earlier processes left, or built in another format. */
  override async start(context: EngineContext): Promise<void> {
    super.start(context)
    for (const key of await context.db.read(listSpaceKeys())) this.notePublication(key)
  }

  /** Notes a publication of a space. */
  notePublication(spaceKey: number): void {
    this.#due.add(spaceKey)
    this.wake()
  }

  /** number of spaces in progress or waiting */
  override get active(): number {
    return this.#due.size + (this.isBusy ? 1 : 0)
  }

  /**
   * Waits shortly if few page indexes are missing.
   *
   * @returns number of documents of a space without a page index, 0 when it is complete; for many, a lower bound
   */
  async countMissing(space: SpaceHead): Promise<number> {
    const known = await this.#countMissingNow(space)
    if (known.documents === 0 || known.nodes > MAX_AWAITED_NODES) return known.documents
    this.#waitingQueries.set(space.key, (this.#waitingQueries.get(space.key) ?? 0) + 1)
    this.notePublication(space.key)
    const deadline = AbortSignal.timeout(MAX_QUERY_WAIT_MS)
    try {
      while (!deadline.aborted && !this.#isDone(space)) await this.progress.waitForNext(deadline)
    } finally {
      const remaining = (this.#waitingQueries.get(space.key) ?? 1) - 1
      if (remaining > 0) this.#waitingQueries.set(space.key, remaining)
      else this.#waitingQueries.delete(space.key)
    }
    return (await this.#countMissingNow(space)).documents
  }

  #isDone({ key, head_revision }: SpaceHead): boolean {
    return this.isStopped || (this.#done.get(key)?.revision ?? -1) >= head_revision
  }

  /** Counts among the next versions only: counting all would take too long for a query. */
  async #countMissingNow(space: SpaceHead): Promise<{ documents: number; nodes: number }> {
    const { db } = this.context
    if (this.#isDone(space)) return { documents: this.#done.get(space.key)?.unreadable ?? 0, nodes: 0 }
    const position = this.#positions.get(space.key) ?? FIRST_VERSION_POSITION
    const next = await db.read(listLiveVersionsAfter(space.key, position, IS_INDEXED, MAX_BATCH_VERSIONS))
    const missing = next.filter(({ meets }) => meets === 0)
    return {
      // further versions may lack an index, too
      documents: next.length < MAX_BATCH_VERSIONS ? missing.length : Math.max(1, missing.length),
      nodes: missing.reduce((sum, { nodes }) => sum + nodes, 0),
    }
  }

  /** Processes spaces in turn; a space that a query waits for goes first. */
  protected override async tick(): Promise<void> {
    if (isWriteStopped(this.context)) return
    for (;;) {
      const [first] = [...this.#waitingQueries.keys()].filter((key) => this.#due.has(key))
      const spaceKey = first ?? [...this.#due][0]
      if (spaceKey === undefined || this.isStopped) return
      this.#due.delete(spaceKey)
      const isComplete = await runInSpace(this.context.db, spaceKey, () => this.#processNext(spaceKey)).catch(
        (error: unknown) => this.#requeue(spaceKey, error),
      )
      if (!isComplete) this.#due.add(spaceKey)
      this.progress.notify()
    }
  }

  #requeue(spaceKey: number, error: unknown): never {
    this.#due.add(spaceKey)
    throw error
  }

  /** Processes the next versions of a space. @returns whether those were the last */
  async #processNext(spaceKey: number): Promise<boolean> {
    const context = this.context
    const position = this.#positions.get(spaceKey) ?? FIRST_VERSION_POSITION
    const { space, versions } = await context.db.read(versionsAfter(spaceKey, position))
    if (space === undefined) {
      for (const known of [this.#positions, this.#done]) known.delete(spaceKey)
      return true
    }
    let indexes: VersionPageIndex[] = []
    for (const [position, version] of versions.entries()) {
      if (version.meets === 0) {
        const index = await this.#index(spaceKey, version)
        if (index !== undefined) indexes.push(index)
        else if (!this.isStopped) this.#noteUnreadable(spaceKey)
      }
      if (this.isStopped) return true
      const isLast = position === versions.length - 1
      const isElsewhere = this.#waitingQueries.size > 0 && !this.#waitingQueries.has(spaceKey)
      if (!isLast && !isElsewhere && isSmall(indexes)) continue
      await this.#store(spaceKey, indexes)
      indexes = []
      // only now: indexes that were not stored are built again
      const { revision, nodes, key } = version
      this.#positions.set(spaceKey, { revision, nodes, key })
      if (isElsewhere) return false
    }
    if (versions.length === MAX_BATCH_VERSIONS) return false
    const unreadable = this.#done.get(spaceKey)?.unreadable ?? 0
    this.#done.set(spaceKey, { revision: space.head_revision, unreadable })
    return (await context.db.read(findSpaceByKey(spaceKey)))?.head_revision === space.head_revision
  }

  #noteUnreadable(spaceKey: number): void {
    const { revision = -1, unreadable = 0 } = this.#done.get(spaceKey) ?? {}
    this.#done.set(spaceKey, { revision, unreadable: unreadable + 1 })
  }

  /** @returns undefined for an unreadable version, and when the daemon stops */
  async #index(spaceKey: number, version: NamedVersion): Promise<VersionPageIndex | undefined> {
    const { db, log } = this.context
    const builder = new PageIndexBuilder(`${version.title}\n${version.filename}`)
    try {
      let after = -1
      for (;;) {
        const began = performance.now()
        const nodes = await db.read(listNodesAfter(version.key, after, MAX_SLICE_NODES))
        for (const node of nodes) builder.add(node)
        after = nodes.at(-1)?.ordinal ?? after
        if (nodes.length < MAX_SLICE_NODES) break
        await this.#yieldToOthers(spaceKey, performance.now() - began)
        if (this.isStopped) return undefined
      }
    } catch (error) {
      log.warn({ version: version.key, error: String(error) }, 'a document cannot be read for the page index')
      return undefined
    }
    const began = performance.now()
    const packed = await packPageIndex(builder.finish())
    await this.#yieldToOthers(spaceKey, performance.now() - began)
    return { docKey: version.docKey, versionKey: version.key, packed }
  }

  /** Stores indexes in one transaction: a sync of the log costs more than building one of them. */
  async #store(spaceKey: number, indexes: readonly VersionPageIndex[]): Promise<void> {
    if (indexes.length === 0) return
    const began = performance.now()
    await this.context.db.write(() => storePageIndexes(spaceKey, indexes))
    await this.#yieldToOthers(spaceKey, performance.now() - began)
  }

  /** @param worked milliseconds since the last pause */
  async #yieldToOthers(spaceKey: number, worked: number): Promise<void> {
    const { db, foregroundPriority } = this.context
    // a query waits for this
    if (this.#waitingQueries.has(spaceKey)) await turn()
    else if (await asDeployment(() => db.read(hasClaimedJobs()))) await this.#pause(worked * PAUSE_FACTOR)
    else await foregroundPriority.yieldToQueries()
  }

  async #pause(milliseconds: number): Promise<void> {
    const deadline = performance.now() + milliseconds
    while (performance.now() < deadline && this.#waitingQueries.size === 0 && !this.isStopped)
      await sleep(Math.min(MAX_QUERY_WAIT_MS / 10, deadline - performance.now()), undefined, { ref: false })
  }
}

/** A space and its next versions with whether they have a page index; for those without, with their names. */
function* versionsAfter(
  spaceKey: number,
  after: VersionPosition,
): Read<{ space: SpaceRow | undefined; versions: NamedVersion[] }> {
  const space = yield* findSpaceByKey(spaceKey)
  if (space === undefined) return { space, versions: [] }
  const found = yield* listLiveVersionsAfter(spaceKey, after, IS_INDEXED, MAX_BATCH_VERSIONS)
  const missing = found.filter(({ meets }) => meets === 0).map((version) => version.key)
  const names = new Map((yield* listVersionNames(missing)).map((version) => [version.key, version]))
  const versions = found.map((one) => ({ docKey: 0, title: '', filename: '', ...one, ...names.get(one.key) }))
  return { space, versions }
}

/** Whether further indexes may be stored together with these. */
function isSmall(indexes: readonly VersionPageIndex[]): boolean {
  const bytes = indexes.reduce((sum, { packed }) => sum + packed.profile.length + packed.ranges.length, 0)
  return indexes.length < MAX_STORED_INDEXES && bytes < MAX_STORED_BYTES
}
