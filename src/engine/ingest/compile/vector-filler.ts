import type { DegradedClass } from '../../base/degraded.js'
import { computeRetryDelayMs } from '../../base/provider-problem.js'
import { retryUntilWritten } from '../../base/retry-until-written.js'
import { RowRunner } from '../../base/runs.js'
import { type EngineContext, embeddingReference, getSpaceAccount, isTrained, runInSpace } from '../../library/index.js'
import { type Embedder, toProviderProblem } from '../../models/index.js'
import type { Read, Write } from '../../store/program.js'
import type { ProviderWait } from '../../store/rows/provider-wait.js'
import { findSpaceByKey, type SpaceRow } from '../../store/rows/spaces.js'
import {
  getActiveVectorSpace,
  insertVectors,
  type PassageVector,
  recordDimension,
} from '../../store/rows/vector-spaces.js'
import {
  areVectorsDue,
  clearDueVectors,
  clearVectorWait,
  countDueVectors,
  type DueNode,
  deferVectors,
  findVectorWait,
  isVectorDue,
  listDueNodes,
  listSpacesWithDueVectors,
  recountDueVectorsOfSpace,
  rejectVector,
  retryAllVectorsNow,
  retryVectorsNow,
  type SpaceWithDueVectors,
  settleDueVectors,
} from '../../store/rows/vectors-due.js'
import { isWriteStopped } from '../../store/write-stop.js'
import { computeRequestSize, type EmbeddingRefusal, embedPassages, sendSlices } from './passage-vectors.js'
import { addToIndex } from './vector-rows.js'

/** concurrent requests of one space; the `maxConcurrency` of a provider limits the total */
const MAX_CONCURRENT_REQUESTS = 4
/** maximum wait of a publication for a working provider, and for a silent one */
const MAX_WAIT_MS = 5000
const MAX_SILENCE_MS = 2000
/** maximum age of the count of missing vectors in a reply */
const COUNT_MAX_AGE_MS = 1000

interface MissingVectorCount {
  at: number
  missing: { passages: number; class: DegradedClass | undefined }
}

/**
 * Computes the missing vectors of providers: of new passages at once, so that documents are usually published with
 * them, and of those published without as soon as the provider responds again. What is missing is stored in the
 * database, so a restart continues with it.
 */
export class VectorFiller extends RowRunner<EngineContext, SpaceWithDueVectors> {
  protected override readonly rowKind = 'filling with vectors'
  /** spaces whose provider let a publication wait in vain */
  readonly #silent = new Set<number>()
  readonly #progressAt = new Map<number, number>()
  readonly #counted = new Map<number, MissingVectorCount>()

  /** Starts; the cause of a provider's failure may have been fixed since the last start. */
  override start(context: EngineContext): void {
    context.db.recover(() => retryAllVectorsNow(context.instance))
    super.start(context)
  }

  /** Calls the provider of a space at once, also for passages that it refused. */
  async retryNow(spaceKey: number): Promise<void> {
    await this.context.db.write(() => retryVectorsNow(spaceKey))
    this.wake()
  }

  /** spaces whose vectors are being computed, or will be without intervention */
  override get active(): Promise<number> {
    return this.#countActive()
  }

  async #countActive(): Promise<number> {
    if (!this.isStarted) return 0
    const due = await this.listOpen()
    return this.size + due.filter(({ key, permanent }) => permanent === 0 && !this.isRunning(key)).length
  }

  /** Count of published passages of a space without their vectors, and why. @returns nothing when none is missing */
  async missing(spaceKey: number): Promise<MissingVectorCount['missing'] | undefined> {
    const { db } = this.context
    const cached = this.#counted.get(spaceKey)
    const now = performance.now()
    const counted =
      cached !== undefined && now - cached.at < COUNT_MAX_AGE_MS
        ? cached
        : { at: now, missing: await db.read(countMissing(spaceKey)) }
    this.#counted.set(spaceKey, counted)
    return counted.missing.passages === 0 ? undefined : counted.missing
  }

  /**
   * Waits for the vectors of versions while the provider works. Text does not wait for a provider that fails, that does
   * not respond or that takes long: the vectors follow after the publication.
   */
  async waitForVectors(spaceKey: number, versions: readonly number[], signal: AbortSignal): Promise<void> {
    const { db } = this.context
    this.wake()
    if (this.#silent.has(spaceKey)) return
    const startedAt = performance.now()
    for (;;) {
      const lastProgressAt = Math.max(startedAt, this.#progressAt.get(spaceKey) ?? 0)
      const remainingMs = Math.min(startedAt + MAX_WAIT_MS, lastProgressAt + MAX_SILENCE_MS) - performance.now()
      // subscribed before the check: a change during it is not missed
      const changed = remainingMs > 0 ? this.progress.waitForNext(signal, remainingMs) : undefined
      if (!(await db.read(isProviderWorking(spaceKey, versions))) || signal.aborted) return
      if (changed === undefined) break
      await changed
    }
    this.#silent.add(spaceKey)
  }

  protected override isPaused(): boolean {
    return isWriteStopped(this.context)
  }

  protected override listOpen(): Promise<SpaceWithDueVectors[]> {
    return this.context.db.read(listSpacesWithDueVectors())
  }

  protected override work({ key }: SpaceWithDueVectors, signal: AbortSignal): Promise<void> {
    return runInSpace(this.context.db, key, () => this.#fill(key, signal))
  }

  protected override onFailure({ key }: SpaceWithDueVectors, error: unknown, signal: AbortSignal): Promise<void> {
    return runInSpace(this.context.db, key, () => this.#delay(key, error, signal))
  }

  /** Computes vectors until none is missing. */
  async #fill(spaceKey: number, signal: AbortSignal): Promise<void> {
    const context = this.context
    const { db } = context
    for (;;) {
      signal.throwIfAborted()
      const { space, dimension, wait } = await db.read(readNextRequest(spaceKey))
      if (space === undefined || isTrained(space)) {
        await db.write(() => clearDueVectors(spaceKey))
        return
      }
      const embedder = context.models.embedder(embeddingReference(space), getSpaceAccount(context, space), dimension)
      const size = computeRequestSize(embedder, wait)
      const nodes = await db.read(readDueNodes(space, size * MAX_CONCURRENT_REQUESTS))
      if (nodes.length === 0) {
        // every passage has its vector, but the counts differ: the rows are right
        await db.write(() => recountDueVectorsOfSpace(spaceKey), { lock: spaceKey })
        return
      }
      await sendSlices(nodes, size, (slice) => this.#fillSlice(space, embedder, slice, signal))
    }
  }

  async #fillSlice(space: SpaceRow, embedder: Embedder, nodes: DueNode[], signal: AbortSignal): Promise<void> {
    const context = this.context
    const { db, log } = context
    const texts = nodes.map(({ title, text }) => `${title}\n${text}`)
    const results = await embedPassages(embedder, texts, signal)
    const first = results.find((result) => result instanceof Float32Array)
    const vectorSpace =
      first === undefined
        ? undefined
        : await db.write(() => recordDimension(space.key, first.length, space.vector_space), { lock: space.key })
    const { filled, refused } = await db.write(() => storeFilledVectors(space, vectorSpace?.key, nodes, results), {
      lock: space.key,
    })
    for (const { node, error } of refused)
      log.warn({ space: space.id, node, error }, 'the embedding model refused a passage')
    this.#progressAt.set(space.key, performance.now())
    this.#silent.delete(space.key)
    this.#counted.delete(space.key)
    this.progress.notify()
    // an index that cannot take them now reads them from the rows when it starts again
    if (vectorSpace !== undefined && filled.length > 0)
      await addToIndex(context, space, vectorSpace, filled).catch((error: unknown) =>
        log.warn({ space: space.id, error: String(error) }, 'new vectors have not reached the index yet'),
      )
  }

  async #delay(spaceKey: number, error: unknown, signal: AbortSignal): Promise<void> {
    const { db, log, now } = this.context
    const { space, wait } = await db.read(readNextRequest(spaceKey))
    const trouble = toProviderProblem(error, space?.embedding_model ?? '')
    const attempts = wait?.attempts ?? 0
    const waitMs = computeRetryDelayMs(trouble, attempts)
    const row = { space: space?.id, class: trouble.class, error: trouble.message, retryInMs: waitMs }
    if (attempts === 0) log.warn(row, 'vectors wait for the embedding provider; text search goes on without')
    // a retry at once would call the provider in a loop
    await retryUntilWritten(this.context, 'the next attempt of a provider', signal, () =>
      db.write(() => deferVectors(spaceKey, trouble, now(), now() + waitMs)),
    )
    this.#counted.delete(spaceKey)
  }
}

function* countMissing(spaceKey: number): Read<MissingVectorCount['missing']> {
  const { due } = yield* countDueVectors(spaceKey)
  return { passages: due, class: due === 0 ? undefined : (yield* findVectorWait(spaceKey))?.error_class }
}

/** Whether vectors of versions are missing and their provider responds. */
function* isProviderWorking(spaceKey: number, versions: readonly number[]): Read<boolean> {
  return (yield* areVectorsDue(versions)) && (yield* findVectorWait(spaceKey)) === undefined
}

/** State for the next request to a provider. */
function* readNextRequest(spaceKey: number): Read<{
  space: SpaceRow | undefined
  dimension: number | undefined
  wait: ProviderWait | undefined
}> {
  const space = yield* findSpaceByKey(spaceKey)
  const active = space === undefined ? undefined : yield* getActiveVectorSpace(space)
  return { space, dimension: active?.dimension, wait: yield* findVectorWait(spaceKey) }
}

function* readDueNodes(space: SpaceRow, maxNodes: number): Read<DueNode[]> {
  return yield* listDueNodes(space.key, (yield* getActiveVectorSpace(space))?.key, maxNodes)
}

/**
 * Stores the result of one request; omits deleted passages, and all if the space has another model now.
 *
 * @param vectorSpace row key; undefined where every passage was refused
 */
function* storeFilledVectors(
  space: SpaceRow,
  vectorSpace: number | undefined,
  nodes: readonly DueNode[],
  results: readonly (Float32Array | EmbeddingRefusal)[],
): Write<{ filled: PassageVector[]; refused: { node: number; error: string }[] }> {
  const filled: PassageVector[] = []
  const refused: { node: number; error: string }[] = []
  const live = yield* findSpaceByKey(space.key)
  if (live?.vector_space !== space.vector_space) return { filled, refused }
  const settled: DueNode[] = []
  for (const [index, node] of nodes.entries()) {
    const result = results[index]
    if (result === undefined || !(yield* isVectorDue(node))) continue
    if (result instanceof Float32Array) {
      filled.push({ nodeKey: node.key, doc: node.doc_key, vector: result })
      settled.push(node)
    } else {
      yield* rejectVector(space.key, node, result.refused)
      refused.push({ node: node.key, error: result.refused })
    }
  }
  if (vectorSpace !== undefined) yield* insertVectors(vectorSpace, filled)
  yield* settleDueVectors(settled)
  yield* clearVectorWait(space.key)
  return { filled, refused }
}
