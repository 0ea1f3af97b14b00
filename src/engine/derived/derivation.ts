import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { counted } from '../../lib/text/counted.js'
import type { EngineContext } from '../context.js'
import { headRevision, IS_READ, type PendingVersion, pendingVersions } from '../rows/derivations.js'
import { writePageIndexes } from '../rows/page-indexes.js'
import { type SpaceRow, spaceByKey } from '../rows/spaces.js'
import { quotasOf } from '../spaces/quota.js'
import type { Driver } from '../storage/driver.js'
import { GraphReader } from './graph/extract.js'
import { type GraphRoom, graphRoom, storeExtraction } from './graph/store.js'
import { countLive } from './live-versions.js'
import { PageIndexBuilder } from './page-index/build.js'
import { nodesAfter } from './page-index/nodes.js'
import { packPageIndex } from './page-index/store.js'

/** Nodes read before other work gets a turn: some 10 ms. */
const SLICE = 24
/** Versions looked up at a time. */
const BATCH = 50
/** Pause in the background, as a multiple of the preceding work time. */
const PAUSE_SHARE = 3

/** Time for which a space is processed at full speed, since a query may wait for it. */
export const FOREGROUND_MILLISECONDS = 4000

/** Degraded reason of an incomplete graph; undefined when it is complete. */
export function graphBehind(unread: number): string | undefined {
  return unread === 0 ? undefined : `the graph of ${counted(unread, 'document')} is still being built`
}

/**
 * Builds the graph of every version that a space publishes, which deep queries and views read together with the search
 * indexes, and the page index where `PageIndexer` has not reached it yet. The first such query of a space starts the
 * work and waits for a limited time; the rest is built in the background.
 */
export class Derivations {
  readonly #context: EngineContext
  readonly #stop = new AbortController()
  readonly #behind = new Map<number, Promise<void>>()
  readonly #complete = new Map<number, number>()

  constructor(context: EngineContext) {
    this.#context = context
  }

  /**
   * Updates a space for at most this time; the rest continues in the background.
   * @returns number of documents that are not ready yet
   */
  async catchUp(space: SpaceRow, milliseconds: number): Promise<number> {
    if (this.#complete.get(space.key) === space.head_revision) return 0
    const behind = this.#work(space)
    const deadline = AbortSignal.timeout(milliseconds)
    await Promise.race([behind, new Promise((resolve) => deadline.addEventListener('abort', resolve, { once: true }))])
    return this.unread(space)
  }

  /** Number of documents that were not read yet. */
  async unread(space: SpaceRow): Promise<number> {
    return this.#complete.get(space.key) === space.head_revision ? 0 : countUnread(this.#context.db, space.key)
  }

  /** number of spaces being processed */
  get running(): number {
    return this.#behind.size
  }

  async close(): Promise<void> {
    this.#stop.abort()
    await Promise.allSettled(this.#behind.values())
  }

  #work(space: SpaceRow): Promise<void> {
    const known = this.#behind.get(space.key)
    if (known !== undefined) return known
    const { log } = this.#context
    const work = this.#workOff(space.key)
      .catch((error: unknown) => {
        if (!this.#stop.signal.aborted)
          log.warn({ space: space.id, error: String(error) }, 'page index and graph failed')
      })
      .finally(() => this.#behind.delete(space.key))
    this.#behind.set(space.key, work)
    return work
  }

  async #workOff(spaceKey: number): Promise<void> {
    const { db } = this.#context
    const started = Date.now()
    let room: GraphRoom | undefined
    for (;;) {
      const { space, pending } = await db.read(dueOf(spaceKey))
      if (space === undefined || this.#stop.signal.aborted) return
      if (pending.length === 0) {
        this.#complete.set(spaceKey, space.head_revision)
        return
      }
      room ??= await db.read(graphRoom(spaceKey, quotasOf(this.#context, space)))
      for (const version of pending) {
        const before = Date.now()
        await this.#derive(space, version, room)
        if (this.#stop.signal.aborted) return
        // no query waits any more: other work of the daemon gets its share
        if (before - started > FOREGROUND_MILLISECONDS) await this.#pause((Date.now() - before) * PAUSE_SHARE)
      }
    }
  }

  async #pause(milliseconds: number): Promise<void> {
    // `close` ends the wait early
    await sleep(milliseconds, undefined, { signal: this.#stop.signal, ref: false }).catch(() => undefined)
  }

  async #derive(space: SpaceRow, version: PendingVersion, room: GraphRoom): Promise<void> {
    const { db } = this.#context
    const index = version.isIndexed === 1 ? undefined : new PageIndexBuilder(`${version.title}\n${version.filename}`)
    const graph = new GraphReader(version.title)
    let after = -1
    for (;;) {
      const nodes = await db.read(nodesAfter(version.key, after, SLICE))
      for (const node of nodes) {
        index?.add(node)
        graph.add(node)
        after = node.ordinal
      }
      if (nodes.length < SLICE) break
      await turn()
      if (this.#stop.signal.aborted) return
    }
    const of = { spaceKey: space.key, docKey: version.doc_key, versionKey: version.key }
    if (index !== undefined) {
      const packed = await packPageIndex(index.finish())
      await db.write(() => writePageIndexes(space.key, [{ ...of, packed }]))
    }
    await storeExtraction(db, of, graph.finish(), room)
  }
}

function* dueOf(spaceKey: number) {
  const space = yield* spaceByKey(spaceKey)
  return { space, pending: space === undefined ? [] : yield* pendingVersions(spaceKey, BATCH) }
}

/** Number of documents of a space that were not read yet for page index and graph. */
export async function countUnread(db: Driver, spaceKey: number): Promise<number> {
  const head = await db.read(headRevision(spaceKey))
  if (wholeOf(db).get(spaceKey) === head) return 0
  const unread = await countLive(db, { spaceKey }, `NOT ${IS_READ}`)
  if (unread === 0 && head !== undefined && (await db.read(headRevision(spaceKey))) === head)
    wholeOf(db).set(spaceKey, head)
  return unread
}

/** By space, the revision whose documents were all read; that does not change any more. */
const whole = new WeakMap<Driver, LRUCache<number, number>>()
const REMEMBERED_SPACES = 10_000

function wholeOf(db: Driver): LRUCache<number, number> {
  const known = whole.get(db) ?? new LRUCache<number, number>({ max: REMEMBERED_SPACES })
  whole.set(db, known)
  return known
}
