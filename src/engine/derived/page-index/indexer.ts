import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'
import { Changes } from '../../base/changes.js'
import { asDeployment } from '../../base/tenant-scope.js'
import { createTurns } from '../../base/turns.js'
import type { EngineContext, SpaceHead } from '../../context.js'
import {
  BEGINNING,
  IS_INDEXED,
  type LiveVersion,
  liveVersionsAfter,
  namesOfVersions,
  type Place,
} from '../../rows/derivations.js'
import { isPublishing } from '../../rows/jobs.js'
import { type PageIndexOf, writePageIndexes } from '../../rows/page-indexes.js'
import { type SpaceRow, spaceByKey, spaceKeys } from '../../rows/spaces.js'
import { inSpace } from '../../spaces/in-space.js'
import type { Read } from '../../storage/program.js'
import { isWriteStopped } from '../../storage/write-stop.js'
import { liveAfter } from '../live-versions.js'
import { PageIndexBuilder } from './build.js'
import { nodesAfter } from './nodes.js'
import { packPageIndex } from './store.js'

/** Nodes read before other work gets a turn: some 5 ms. */
const SLICE = 12
/** Versions looked up at a time, most of which are indexed: some milliseconds. */
const LOOKED_UP = 250
/** Pause while documents are being published, as a multiple of the preceding work time. */
const PAUSE_SHARE = 100
/** Maximal number of page indexes in one transaction, and approximate maximum of their bytes: some milliseconds. */
const STORED_AT_ONCE = 32
const STORED_BYTES = 512 * 1024
/** Maximal wait of a query for missing page indexes … */
const PATIENCE_MS = 250
/** … if at most this many nodes are missing; more cannot be indexed in that time. */
const NEARLY_THERE_NODES = 250

type NamedVersion = LiveVersion & {
  docKey: number
  title: string
  filename: string
}

/**
 * Builds the page index of published documents in the background: queries go first, and so do documents that are being
 * published. The database knows what is missing, so a restart continues.
 */
export class PageIndexer {
  #context: EngineContext | undefined
  readonly #stop = new AbortController()
  readonly #turns = createTurns(
    () => this.#turn(),
    (error) => this.#context?.log.warn({ error: String(error) }, 'what has no page index yet could not be read'),
  )
  /** spaces with versions that may lack an index, the longest waiting first */
  readonly #due = new Set<number>()
  readonly #places = new Map<number, Place>()
  /** by space: the revision that was processed completely, and the number of its unreadable versions */
  readonly #done = new Map<number, { revision: number; unreadable: number }>()
  /** number of waiting queries, by space */
  readonly #hurried = new Map<number, number>()
  readonly #changes = new Changes()
  #working: Promise<void> | undefined

  /** Starts with what earlier processes left, or built in another format. */
  async start(context: EngineContext): Promise<void> {
    this.#context = context
    for (const key of await context.db.read(spaceKeys())) this.#due.add(key)
    this.wake()
  }

  /** Checks for work soon. */
  wake(): void {
    this.#turns.wake()
  }

  /** Notes a publication of a space. */
  published(spaceKey: number): void {
    this.#due.add(spaceKey)
    this.wake()
  }

  /** number of spaces in progress or waiting */
  get active(): number {
    return this.#due.size + (this.#working === undefined ? 0 : 1)
  }

  /**
   * Waits shortly if few page indexes are missing.
   *
   * @returns number of documents of a space without a page index, 0 when it is complete; for many, a lower bound
   */
  async missing(space: SpaceHead): Promise<number> {
    const known = await this.#missingNow(space)
    if (known.documents === 0 || known.nodes > NEARLY_THERE_NODES) return known.documents
    this.#hurried.set(space.key, (this.#hurried.get(space.key) ?? 0) + 1)
    this.published(space.key)
    const deadline = AbortSignal.timeout(PATIENCE_MS)
    try {
      while (!deadline.aborted && !this.#isDone(space)) await this.#changes.next(deadline)
    } finally {
      const others = (this.#hurried.get(space.key) ?? 1) - 1
      if (others > 0) this.#hurried.set(space.key, others)
      else this.#hurried.delete(space.key)
    }
    return (await this.#missingNow(space)).documents
  }

  async close(): Promise<void> {
    this.#stop.abort()
    await this.#turns.stop()
    this.#changes.tell()
    await this.#working
  }

  #isDone({ key, head_revision }: SpaceHead): boolean {
    return this.#stop.signal.aborted || (this.#done.get(key)?.revision ?? -1) >= head_revision
  }

  /** Counts among the next versions only: counting all would take too long for a query. */
  async #missingNow(space: SpaceHead): Promise<{ documents: number; nodes: number }> {
    const { db } = this.#started()
    if (this.#isDone(space)) return { documents: this.#done.get(space.key)?.unreadable ?? 0, nodes: 0 }
    const place = this.#places.get(space.key) ?? BEGINNING
    const next = await liveAfter(db, space.key, place, IS_INDEXED, LOOKED_UP)
    const missing = next.filter(({ meets }) => meets === 0)
    return {
      // further versions may lack an index, too
      documents: next.length < LOOKED_UP ? missing.length : Math.max(1, missing.length),
      nodes: missing.reduce((sum, { nodes }) => sum + nodes, 0),
    }
  }

  #started(): EngineContext {
    if (this.#context === undefined) throw new Error('the page index was used before its start')
    return this.#context
  }

  #turn(): void {
    const context = this.#started()
    if (this.#working !== undefined || this.#due.size === 0 || isWriteStopped(context)) return
    this.#working = this.#workOff()
      .catch((error: unknown) => {
        // the next tick tries again
        if (!this.#stop.signal.aborted) context.log.warn({ error: String(error) }, 'the page index could not be made')
      })
      .finally(() => {
        this.#working = undefined
      })
  }

  /** Processes spaces in turn; a space that a query waits for goes first. */
  async #workOff(): Promise<void> {
    for (;;) {
      const [first] = [...this.#hurried.keys()].filter((key) => this.#due.has(key))
      const spaceKey = first ?? [...this.#due][0]
      if (spaceKey === undefined || this.#stop.signal.aborted) return
      this.#due.delete(spaceKey)
      const isWhole = await inSpace(this.#started().db, spaceKey, () => this.#lookOn(spaceKey)).catch(
        (error: unknown) => this.#putBack(spaceKey, error),
      )
      if (!isWhole) this.#due.add(spaceKey)
      this.#changes.tell()
    }
  }

  #putBack(spaceKey: number, error: unknown): never {
    this.#due.add(spaceKey)
    throw error
  }

  /** Processes the next versions of a space. @returns whether those were the last */
  async #lookOn(spaceKey: number): Promise<boolean> {
    const context = this.#started()
    const place = this.#places.get(spaceKey) ?? BEGINNING
    const { space, versions } = await context.db.read(versionsAfter(spaceKey, place))
    if (space === undefined) {
      for (const known of [this.#places, this.#done]) known.delete(spaceKey)
      return true
    }
    let made: PageIndexOf[] = []
    for (const [place, version] of versions.entries()) {
      if (version.meets === 0) {
        const index = await this.#index(spaceKey, version)
        if (index !== undefined) made.push(index)
        else if (!this.#stop.signal.aborted) this.#noteUnreadable(spaceKey)
      }
      if (this.#stop.signal.aborted) return true
      const isLast = place === versions.length - 1
      const isElsewhere = this.#hurried.size > 0 && !this.#hurried.has(spaceKey)
      if (!isLast && !isElsewhere && isSmall(made)) continue
      await this.#store(spaceKey, made)
      made = []
      // only now: indexes that were not stored are built again
      const { revision, nodes, key } = version
      this.#places.set(spaceKey, { revision, nodes, key })
      if (isElsewhere) return false
    }
    if (versions.length === LOOKED_UP) return false
    const unreadable = this.#done.get(spaceKey)?.unreadable ?? 0
    this.#done.set(spaceKey, { revision: space.head_revision, unreadable })
    return (await context.db.read(spaceByKey(spaceKey)))?.head_revision === space.head_revision
  }

  #noteUnreadable(spaceKey: number): void {
    const { revision = -1, unreadable = 0 } = this.#done.get(spaceKey) ?? {}
    this.#done.set(spaceKey, { revision, unreadable: unreadable + 1 })
  }

  /** @returns undefined for an unreadable version, and when the daemon stops */
  async #index(spaceKey: number, version: NamedVersion): Promise<PageIndexOf | undefined> {
    const { db, log } = this.#started()
    const builder = new PageIndexBuilder(`${version.title}\n${version.filename}`)
    try {
      let after = -1
      for (;;) {
        const began = performance.now()
        const nodes = await db.read(nodesAfter(version.key, after, SLICE))
        for (const node of nodes) builder.add(node)
        after = nodes.at(-1)?.ordinal ?? after
        if (nodes.length < SLICE) break
        await this.#letOthers(spaceKey, performance.now() - began)
        if (this.#stop.signal.aborted) return undefined
      }
    } catch (error) {
      log.warn({ version: version.key, error: String(error) }, 'a document cannot be read for the page index')
      return undefined
    }
    const began = performance.now()
    const packed = await packPageIndex(builder.finish())
    await this.#letOthers(spaceKey, performance.now() - began)
    return { docKey: version.docKey, versionKey: version.key, packed }
  }

  /** Stores indexes in one transaction: a sync of the log costs more than building one of them. */
  async #store(spaceKey: number, made: readonly PageIndexOf[]): Promise<void> {
    if (made.length === 0) return
    const began = performance.now()
    await this.#started().db.write(() => writePageIndexes(spaceKey, made))
    await this.#letOthers(spaceKey, performance.now() - began)
  }

  /** @param worked milliseconds since the last pause */
  async #letOthers(spaceKey: number, worked: number): Promise<void> {
    const { db, rightOfWay } = this.#started()
    // a query waits for this
    if (this.#hurried.has(spaceKey)) await turn()
    else if (await asDeployment(() => db.read(isPublishing()))) await this.#pause(worked * PAUSE_SHARE)
    else await rightOfWay.giveWay()
  }

  async #pause(milliseconds: number): Promise<void> {
    const until = performance.now() + milliseconds
    while (performance.now() < until && this.#hurried.size === 0 && !this.#stop.signal.aborted)
      await sleep(Math.min(PATIENCE_MS / 10, until - performance.now()), undefined, { ref: false })
  }
}

/** A space and its next versions with whether they have a page index; for those without, with their names. */
function* versionsAfter(
  spaceKey: number,
  after: Place,
): Read<{ space: SpaceRow | undefined; versions: NamedVersion[] }> {
  const space = yield* spaceByKey(spaceKey)
  if (space === undefined) return { space, versions: [] }
  const found = yield* liveVersionsAfter(spaceKey, after, IS_INDEXED, LOOKED_UP)
  const missing = found.filter(({ meets }) => meets === 0).map((version) => version.key)
  const names = new Map((yield* namesOfVersions(missing)).map((version) => [version.key, version]))
  const versions = found.map((one) => ({ docKey: 0, title: '', filename: '', ...one, ...names.get(one.key) }))
  return { space, versions }
}

/** Whether further indexes may be stored together with these. */
function isSmall(made: readonly PageIndexOf[]): boolean {
  const bytes = made.reduce((sum, { packed }) => sum + packed.profile.length + packed.ranges.length, 0)
  return made.length < STORED_AT_ONCE && bytes < STORED_BYTES
}
