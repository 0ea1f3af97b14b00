import { KsError } from '../../contract/errors.js'
import { Changes } from '../base/changes.js'
import type { DegradedClass } from '../base/degraded.js'
import { LONGEST_WAIT_MS, Runs } from '../base/runs.js'
import { untilWritten } from '../base/until-written.js'
import type { EngineContext } from '../context.js'
import { type ProviderTrouble, troubleOf } from '../models/trouble.js'
import type { Embedder } from '../models/types.js'
import type { ProviderWait } from '../rows/provider-wait.js'
import { type SpaceRow, spaceByKey } from '../rows/spaces.js'
import { activeVectorSpace, type FilledVector, insertVectors, observeDimension } from '../rows/vector-spaces.js'
import {
  areOwed,
  countSpaceAgain,
  type DueNode,
  dueNodes,
  forgetDue,
  forgetWait,
  hurryAllVectors,
  hurryVectors,
  isDue,
  missingOf,
  putOff,
  refuse,
  settleDue,
  spacesDue,
  waitOf,
} from '../rows/vectors-due.js'
import { inSpace } from '../spaces/in-space.js'
import type { Read, Write } from '../storage/program.js'
import { isWriteStopped } from '../storage/write-stop.js'
import { account } from './embeddings.js'
import { embedPassages, type Refusal } from './passage-vectors.js'
import { addToIndex } from './vector-rows.js'
import { embeddingReference, isTrained } from './vector-spaces.js'

/** concurrent requests of one space; the `maxConcurrency` of a provider limits the total */
const REQUESTS_AT_ONCE = 4
/** a failing provider is retried after a second, then with growing delays */
const WAIT = { firstMs: 1000, longestMs: 5 * 60_000 }
/** Permanent errors can be fixed on the provider's side without notice: retry every 15 min. */
const PERMANENT_WAIT_MS = 15 * 60_000
/** maximum wait of a publication for a working provider, and for a silent one */
const PATIENCE_MS = 5000
const SILENCE_MS = 2000
/** maximum age of the count of missing vectors in a reply */
const COUNTED_MS = 1000

interface Counted {
  at: number
  missing: { passages: number; class: DegradedClass | undefined }
}

/**
 * Computes the missing vectors of providers: of new passages at once, so that documents are usually published with
 * them, and of those published without as soon as the provider responds again. What is missing is stored in the
 * database, so a restart continues with it.
 */
export class VectorFiller {
  #context: EngineContext | undefined
  #runs: Runs<{ key: number; next_at: number }> | undefined
  /** spaces whose provider let a publication wait in vain */
  readonly #silent = new Set<number>()
  readonly #progressAt = new Map<number, number>()
  readonly #changes = new Changes()
  readonly #counted = new Map<number, Counted>()

  /** Starts; the cause of a provider's failure may have been fixed since the last start. */
  start(context: EngineContext): void {
    this.#context = context
    this.#runs = new Runs(context.log, {
      name: 'filling with vectors',
      isStopped: () => isWriteStopped(context),
      open: () => context.db.read(spacesDue()),
      work: ({ key }, signal) =>
        inSpace(context.db, key, () => this.#fill(key, signal)).finally(() => this.#changes.tell()),
      failed: ({ key }, error, signal) =>
        inSpace(context.db, key, () => this.#putOff(key, error, signal)).finally(() => this.#changes.tell()),
    })
    context.db.recover(() => hurryAllVectors(context.instance))
    this.wake()
  }

  /** Soon checks for missing vectors. */
  wake(): void {
    this.#runs?.wake()
  }

  /** Calls the provider of a space at once, also for passages that it refused. */
  async askAgain(spaceKey: number): Promise<void> {
    await this.#started().db.write(() => hurryVectors(spaceKey))
    this.wake()
  }

  /** spaces whose vectors are being computed, or will be without intervention */
  get active(): Promise<number> {
    return this.#active()
  }

  async #active(): Promise<number> {
    if (this.#context === undefined) return 0
    const due = await this.#context.db.read(spacesDue())
    const waiting = due.filter(({ key, permanent }) => permanent === 0 && this.#runs?.has(key) !== true)
    return (this.#runs?.size ?? 0) + waiting.length
  }

  /** Count of published passages of a space without their vectors, and why. @returns nothing when none is missing */
  async missing(spaceKey: number): Promise<Counted['missing'] | undefined> {
    const { db } = this.#started()
    const known = this.#counted.get(spaceKey)
    const now = Date.now()
    const counted =
      known !== undefined && now - known.at < COUNTED_MS
        ? known
        : { at: now, missing: await db.read(missingNow(spaceKey)) }
    this.#counted.set(spaceKey, counted)
    return counted.missing.passages === 0 ? undefined : counted.missing
  }

  /**
   * Waits for the vectors of versions while the provider works. Text does not wait for a provider that fails, that does
   * not respond or that takes long: the vectors follow after the publication.
   */
  async patience(spaceKey: number, versions: readonly number[], signal: AbortSignal): Promise<void> {
    const { db } = this.#started()
    this.wake()
    if (this.#silent.has(spaceKey)) return
    const began = Date.now()
    for (;;) {
      const heard = Math.max(began, this.#progressAt.get(spaceKey) ?? 0)
      const left = Math.min(began + PATIENCE_MS, heard + SILENCE_MS) - Date.now()
      // subscribed before the check: a change during it is not missed
      const changed = left > 0 ? this.#changes.next(signal, left) : undefined
      if (!(await db.read(isAtWork(spaceKey, versions))) || signal.aborted) return
      if (changed === undefined) break
      await changed
    }
    this.#silent.add(spaceKey)
  }

  async close(): Promise<void> {
    const closed = this.#runs?.close()
    this.#changes.tell()
    await closed
  }

  #started(): EngineContext {
    if (this.#context === undefined) throw new KsError('internal', 'vectors were requested before the start')
    return this.#context
  }

  /** Computes vectors until none is missing. */
  async #fill(spaceKey: number, signal: AbortSignal): Promise<void> {
    const context = this.#started()
    const { db } = context
    for (;;) {
      signal.throwIfAborted()
      const { space, dimension, wait } = await db.read(nextOf(spaceKey))
      if (space === undefined || isTrained(space)) {
        await db.write(() => forgetDue(spaceKey))
        return
      }
      const embedder = context.models.embedder(embeddingReference(space), account(context, space), dimension)
      const size = requestSize(embedder, wait)
      const nodes = await db.read(nodesDue(space, size * REQUESTS_AT_ONCE))
      if (nodes.length === 0) {
        // every passage has its vector, but the counts differ: the rows are right
        await db.write(() => countSpaceAgain(spaceKey), { lock: spaceKey })
        return
      }
      const slices: DueNode[][] = []
      for (let from = 0; from < nodes.length; from += size) slices.push(nodes.slice(from, from + size))
      const ended = await Promise.allSettled(slices.map((slice) => this.#fillSlice(space, embedder, slice, signal)))
      const failed = ended.find((one) => one.status === 'rejected')
      if (failed !== undefined) throw failed.reason
    }
  }

  async #fillSlice(space: SpaceRow, embedder: Embedder, nodes: DueNode[], signal: AbortSignal): Promise<void> {
    const context = this.#started()
    const { db, log } = context
    const texts = nodes.map(({ title, text }) => `${title}\n${text}`)
    const made = await embedPassages(embedder, texts, signal)
    const first = made.find((one) => one instanceof Float32Array)
    const vectorSpace =
      first === undefined
        ? undefined
        : await db.write(() => observeDimension(space.key, first.length, space.vector_space), { lock: space.key })
    const { filled, refused } = await db.write(() => storeVectors(space, vectorSpace?.key, nodes, made), {
      lock: space.key,
    })
    for (const { node, error } of refused)
      log.warn({ space: space.id, node, error }, 'the embedding model refused a passage')
    this.#progressAt.set(space.key, Date.now())
    this.#silent.delete(space.key)
    this.#counted.delete(space.key)
    this.#changes.tell()
    // an index that cannot take them now reads them from the rows when it starts again
    if (vectorSpace !== undefined && filled.length > 0)
      await addToIndex(context, space, vectorSpace, filled).catch((error: unknown) =>
        log.warn({ space: space.id, error: String(error) }, 'new vectors have not reached the index yet'),
      )
  }

  async #putOff(spaceKey: number, error: unknown, signal: AbortSignal): Promise<void> {
    const { db, log, now } = this.#started()
    const { space, wait } = await db.read(nextOf(spaceKey))
    const trouble = troubleOf(error, space?.embedding_model ?? '')
    const attempts = wait?.attempts ?? 0
    const waitMs = pauseAfter(trouble, attempts)
    const row = { space: space?.id, class: trouble.class, error: trouble.message, retryInMs: waitMs }
    if (attempts === 0) log.warn(row, 'vectors wait for the embedding provider; text search goes on without')
    // a retry at once would call the provider in a loop
    await untilWritten(this.#started(), 'the next attempt of a provider', signal, () =>
      db.write(() => putOff(spaceKey, trouble, now(), Date.now() + waitMs)),
    )
    this.#counted.delete(spaceKey)
  }
}

/** Milliseconds until a provider is called again. */
export function pauseAfter({ isPermanent, retryAfterMs = 0 }: ProviderTrouble, attempts: number): number {
  if (isPermanent) return PERMANENT_WAIT_MS
  const backoff = Math.min(WAIT.firstMs * 2 ** attempts, WAIT.longestMs)
  return Math.min(LONGEST_WAIT_MS, Math.max(retryAfterMs, Math.round(backoff * (0.5 + Math.random() / 2))))
}

function* missingNow(spaceKey: number): Read<Counted['missing']> {
  const { due } = yield* missingOf(spaceKey)
  return { passages: due, class: due === 0 ? undefined : (yield* waitOf(spaceKey))?.error_class }
}

/** Whether vectors of versions are missing and their provider responds. */
function* isAtWork(spaceKey: number, versions: readonly number[]): Read<boolean> {
  return (yield* areOwed(versions)) && (yield* waitOf(spaceKey)) === undefined
}

/** State for the next request to a provider. */
function* nextOf(spaceKey: number): Read<{
  space: SpaceRow | undefined
  dimension: number | undefined
  wait: ProviderWait | undefined
}> {
  const space = yield* spaceByKey(spaceKey)
  const active = space === undefined ? undefined : yield* activeVectorSpace(space)
  return { space, dimension: active?.dimension, wait: yield* waitOf(spaceKey) }
}

function* nodesDue(space: SpaceRow, most: number): Read<DueNode[]> {
  return yield* dueNodes(space.key, (yield* activeVectorSpace(space))?.key, most)
}

/** A model that timed out may respond to a smaller request. */
function requestSize({ maxBatch }: Embedder, wait: ProviderWait | undefined): number {
  return wait?.error_class === 'timeout' ? Math.max(1, maxBatch >> wait.attempts) : maxBatch
}

/**
 * Stores the result of one request; omits deleted passages, and all if the space has another model now.
 *
 * @param vectorSpace row key; undefined where every passage was refused
 */
function* storeVectors(
  space: SpaceRow,
  vectorSpace: number | undefined,
  nodes: readonly DueNode[],
  made: readonly (Float32Array | Refusal)[],
): Write<{ filled: FilledVector[]; refused: { node: number; error: string }[] }> {
  const filled: FilledVector[] = []
  const refused: { node: number; error: string }[] = []
  const live = yield* spaceByKey(space.key)
  if (live?.vector_space !== space.vector_space) return { filled, refused }
  const settled: DueNode[] = []
  for (const [place, node] of nodes.entries()) {
    const result = made[place]
    if (result === undefined || !(yield* isDue(node))) continue
    if (result instanceof Float32Array) {
      filled.push({ nodeKey: node.key, doc: node.doc_key, vector: result })
      settled.push(node)
    } else {
      yield* refuse(space.key, node, result.refused)
      refused.push({ node: node.key, error: result.refused })
    }
  }
  if (vectorSpace !== undefined) yield* insertVectors(vectorSpace, filled)
  yield* settleDue(settled)
  yield* forgetWait(space.key)
  return { filled, refused }
}
