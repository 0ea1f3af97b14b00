import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { pluralize } from '../../../lib/text/pluralize.js'
import { type EngineContext, getQuotas } from '../../library/index.js'
import type { Driver } from '../../store/driver.js'
import { findHeadRevision, IS_READ, listPendingVersions, type PendingVersion } from '../../store/rows/derivations.js'
import { storePageIndexes } from '../../store/rows/page-indexes.js'
import { findSpaceByKey, type SpaceRow } from '../../store/rows/spaces.js'
import { GraphExtractor } from './graph/extract.js'
import { type GraphCapacity, loadGraphCapacity, storeExtraction } from './graph/store.js'
import { countLiveDocuments } from './live-versions.js'
import { PageIndexBuilder } from './page-index/build.js'
import { listNodesAfter } from './page-index/nodes.js'
import { packPageIndex } from './page-index/store.js'

/** Nodes read before other work gets a turn: some 10 ms. */
const MAX_SLICE_NODES = 24
/** Versions looked up at a time. */
const MAX_BATCH_VERSIONS = 50
/** Pause in the background, as a multiple of the preceding work time. */
const PAUSE_FACTOR = 3

/** Time for which a space is processed at full speed, since a query may wait for it. */
export const MAX_FOREGROUND_MS = 4000

/** Degraded reason of an incomplete graph; undefined when it is complete. */
export function describeUnread(unread: number): string | undefined {
  return unread === 0 ? undefined : `the graph of ${pluralize(unread, 'document')} is still being built`
}

/**
 * Builds the graph of every version that a space publishes, which deep queries and views read together with the search
 * indexes, and the page index where `PageIndexer` has not reached it yet. The first such query of a space starts the
 * work and waits for a limited time; the rest is built in the background.
 */
export class Derivations {
  readonly #context: EngineContext
  readonly #stop = new AbortController()
  readonly #background = new Map<number, Promise<void>>()
  readonly #completeRevisions = new Map<number, number>()

  constructor(context: EngineContext) {
    this.#context = context
  }

  /**
   * Updates a space for at most this time; the rest continues in the background.
   * @returns number of documents that are not ready yet
   */
  async catchUp(space: SpaceRow, milliseconds: number): Promise<number> {
    if (this.#completeRevisions.get(space.key) === space.head_revision) return 0
    const background = this.#startWork(space)
    const deadline = AbortSignal.timeout(milliseconds)
    await Promise.race([
      background,
      new Promise((resolve) => deadline.addEventListener('abort', resolve, { once: true })),
    ])
    return this.countUnread(space)
  }

  /** Number of documents that were not read yet. */
  async countUnread(space: SpaceRow): Promise<number> {
    return this.#completeRevisions.get(space.key) === space.head_revision ? 0 : countUnread(this.#context.db, space.key)
  }

  /** number of spaces being processed */
  get running(): number {
    return this.#background.size
  }

  async close(): Promise<void> {
    this.#stop.abort()
    await Promise.allSettled(this.#background.values())
  }

  #startWork(space: SpaceRow): Promise<void> {
    const existing = this.#background.get(space.key)
    if (existing !== undefined) return existing
    const { log } = this.#context
    const work = this.#processPending(space.key)
      .catch((error: unknown) => {
        if (!this.#stop.signal.aborted)
          log.warn({ space: space.id, error: String(error) }, 'page index and graph failed')
      })
      .finally(() => this.#background.delete(space.key))
    this.#background.set(space.key, work)
    return work
  }

  async #processPending(spaceKey: number): Promise<void> {
    const { db } = this.#context
    const started = performance.now()
    let capacity: GraphCapacity | undefined
    for (;;) {
      const { space, pending } = await db.read(loadPending(spaceKey))
      if (space === undefined || this.#stop.signal.aborted) return
      if (pending.length === 0) {
        this.#completeRevisions.set(spaceKey, space.head_revision)
        return
      }
      capacity ??= await db.read(loadGraphCapacity(spaceKey, getQuotas(this.#context, space)))
      for (const version of pending) {
        const before = performance.now()
        await this.#derive(space, version, capacity)
        if (this.#stop.signal.aborted) return
        // no query waits any more: other work of the daemon gets its share
        if (before - started > MAX_FOREGROUND_MS) await this.#pause((performance.now() - before) * PAUSE_FACTOR)
      }
    }
  }

  async #pause(milliseconds: number): Promise<void> {
    // `close` ends the wait early
    await sleep(milliseconds, undefined, { signal: this.#stop.signal, ref: false }).catch(() => undefined)
  }

  async #derive(space: SpaceRow, version: PendingVersion, capacity: GraphCapacity): Promise<void> {
    const { db } = this.#context
    const index = version.isIndexed === 1 ? undefined : new PageIndexBuilder(`${version.title}\n${version.filename}`)
    const graph = new GraphExtractor(version.title)
    let after = -1
    for (;;) {
      const nodes = await db.read(listNodesAfter(version.key, after, MAX_SLICE_NODES))
      for (const node of nodes) {
        index?.add(node)
        graph.add(node)
        after = node.ordinal
      }
      if (nodes.length < MAX_SLICE_NODES) break
      await turn()
      if (this.#stop.signal.aborted) return
    }
    const scope = { spaceKey: space.key, docKey: version.doc_key, versionKey: version.key }
    if (index !== undefined) {
      const packed = await packPageIndex(index.finish())
      await db.write(() => storePageIndexes(space.key, [{ ...scope, packed }]))
    }
    await storeExtraction(db, scope, graph.finish(), capacity)
  }
}

function* loadPending(spaceKey: number) {
  const space = yield* findSpaceByKey(spaceKey)
  return { space, pending: space === undefined ? [] : yield* listPendingVersions(spaceKey, MAX_BATCH_VERSIONS) }
}

/** Number of documents of a space that were not read yet for page index and graph. */
export async function countUnread(db: Driver, spaceKey: number): Promise<number> {
  const head = await db.read(findHeadRevision(spaceKey))
  if (getCompleteRevisions(db).get(spaceKey) === head) return 0
  const unread = await countLiveDocuments(db, { spaceKey }, `NOT ${IS_READ}`)
  if (unread === 0 && head !== undefined && (await db.read(findHeadRevision(spaceKey))) === head)
    getCompleteRevisions(db).set(spaceKey, head)
  return unread
}

/** By space, the revision whose documents were all read; that does not change any more. */
const completeRevisions = new WeakMap<Driver, LRUCache<number, number>>()
const MAX_REMEMBERED_SPACES = 10_000

function getCompleteRevisions(db: Driver): LRUCache<number, number> {
  const existing = completeRevisions.get(db) ?? new LRUCache<number, number>({ max: MAX_REMEMBERED_SPACES })
  completeRevisions.set(db, existing)
  return existing
}
