import { KsError } from '../../contract/errors.js'
import { Changes } from '../base/changes.js'
import type { DegradedClass } from '../base/degraded.js'
import { LONGEST_WAIT_MS, Runs } from '../base/runs.js'
import { untilWritten } from '../base/until-written.js'
import type { EngineContext } from '../context.js'
import { type ProviderTrouble, troubleOf } from '../models/trouble.js'
import type { Embedder } from '../models/types.js'
import { type SpaceRow, spaceByKey } from '../rows/spaces.js'
import { sql } from '../storage/program.js'
import { isWriteStopped } from '../storage/write-stop.js'
import { account } from './embeddings.js'
import { embedPassages, type Refusal } from './passage-vectors.js'
import { addToIndex, type FilledVector } from './vector-rows.js'
import {
  activeVectorSpace,
  embeddingReference,
  insertVectors,
  isTrained,
  observeDimension,
  type VectorSpace,
} from './vector-spaces.js'
import {
  countAgain,
  type DueNode,
  dueNodes,
  forgetRefusals,
  forgetWait,
  isDue,
  missingOf,
  putOff,
  refuse,
  settleDue,
  spacesDue,
  waitOf,
} from './vectors-due.js'

/** requests of one space at once; how many a provider gets from all is limited by its `maxConcurrency` */
const REQUESTS_AT_ONCE = 4
/** a provider that fails is asked again after a second, then ever later */
const WAIT = { firstMs: 1000, longestMs: 5 * 60_000 }
/** what somebody has to change may be changed at the provider, which nobody tells us */
const PERMANENT_WAIT_MS = 15 * 60_000
/** a publication waits so long for a provider that is at work, and so long for one that says nothing */
const PATIENCE_MS = 5000
const SILENCE_MS = 2000
/** how old the number of missing vectors may be that an answer tells */
const COUNTED_MS = 1000

interface Counted {
  at: number
  missing: { passages: number; class: DegradedClass | undefined }
}

/**
 * Asks providers for the vectors that they owe: of new passages at once, so that documents are published with them as a
 * rule, and of those that had to be published without as soon as the provider answers again. What is owed stands in the
 * database, so a restart goes on with it.
 */
export class VectorFiller {
  #context: EngineContext | undefined
  #runs: Runs<{ key: number; next_at: number }> | undefined
  /** spaces for whose provider a publication has waited in vain */
  readonly #silent = new Set<number>()
  readonly #progressAt = new Map<number, number>()
  readonly #changes = new Changes()
  readonly #counted = new Map<number, Counted>()

  /** Begins; whatever kept a provider from answering may have been changed since the last start. */
  start(context: EngineContext): void {
    this.#context = context
    this.#runs = new Runs(context.log, {
      name: 'filling with vectors',
      isStopped: () => isWriteStopped(context),
      open: () => context.db.now(spacesDue()),
      work: ({ key }, signal) => this.#fill(key, signal).finally(() => this.#changes.tell()),
      failed: ({ key }, error, signal) => this.#putOff(key, error, signal).finally(() => this.#changes.tell()),
    })
    context.db.recover(function* () {
      yield* sql.run('UPDATE vector_waits SET next_at = 0')
      yield* forgetRefusals()
    })
    this.wake()
  }

  /** Looks soon whether a provider owes vectors. */
  wake(): void {
    this.#runs?.wake()
  }

  /** Asks the provider of a space at once, also for what it refused. */
  async askAgain(spaceKey: number): Promise<void> {
    const { db } = this.#started()
    await db.write(function* () {
      yield* sql.run('UPDATE vector_waits SET next_at = 0 WHERE space_key = ?', [spaceKey])
      yield* forgetRefusals(spaceKey)
    })
    this.wake()
  }

  /** spaces whose vectors are being made, or will be without anybody's help */
  get active(): number {
    if (this.#context === undefined) return 0
    const waiting = this.#context.db
      .now(spacesDue())
      .filter(({ key, permanent }) => permanent === 0 && this.#runs?.has(key) !== true)
    return (this.#runs?.size ?? 0) + waiting.length
  }

  /** Published passages of a space without their vectors, and why. @returns nothing when none is missing */
  missing(spaceKey: number): Counted['missing'] | undefined {
    const { db } = this.#started()
    const known = this.#counted.get(spaceKey)
    const now = Date.now()
    const counted =
      known !== undefined && now - known.at < COUNTED_MS
        ? known
        : {
            at: now,
            missing: { passages: db.now(missingOf(spaceKey)).due, class: db.now(waitOf(spaceKey))?.error_class },
          }
    this.#counted.set(spaceKey, counted)
    return counted.missing.passages === 0 ? undefined : counted.missing
  }

  /**
   * Waits for the vectors of versions while the provider is at work. Text does not wait for a provider that fails, that
   * says nothing or that takes long: the vectors follow the publication.
   */
  async patience(spaceKey: number, versions: readonly number[], signal: AbortSignal): Promise<void> {
    const { db } = this.#started()
    this.wake()
    if (this.#silent.has(spaceKey)) return
    const began = Date.now()
    const keys = JSON.stringify(versions)
    for (;;) {
      const owed = db.now(
        sql.get<{ one: number }>(
          'SELECT 1 one FROM vectors_due WHERE due > 0 AND version_key IN (SELECT value FROM json_each(?))',
          [keys],
        ),
      )
      if (owed === undefined || db.now(waitOf(spaceKey)) !== undefined || signal.aborted) return
      const heard = Math.max(began, this.#progressAt.get(spaceKey) ?? 0)
      const left = Math.min(began + PATIENCE_MS, heard + SILENCE_MS) - Date.now()
      if (left <= 0) break
      await this.#changes.next(signal, left)
    }
    this.#silent.add(spaceKey)
  }

  async close(): Promise<void> {
    const closed = this.#runs?.close()
    this.#changes.tell()
    await closed
  }

  #started(): EngineContext {
    if (this.#context === undefined) throw new KsError('internal', 'vectors were asked for before the start')
    return this.#context
  }

  /** Makes vectors until none is owed. */
  async #fill(spaceKey: number, signal: AbortSignal): Promise<void> {
    const context = this.#started()
    const { db } = context
    for (;;) {
      signal.throwIfAborted()
      const space = db.now(spaceByKey(spaceKey))
      if (space === undefined || isTrained(space)) {
        await db.write(() => sql.run('DELETE FROM vectors_due WHERE space_key = ?', [spaceKey]))
        return
      }
      const { key, dimension } = db.now(activeVectorSpace(space)) ?? {}
      const embedder = context.models.embedder(embeddingReference(space), account(context, space), dimension)
      const size = this.#requestSize(spaceKey, embedder)
      const nodes = db.now(dueNodes(spaceKey, key, size * REQUESTS_AT_ONCE))
      if (nodes.length === 0) {
        await this.#recount(spaceKey)
        return
      }
      const slices: DueNode[][] = []
      for (let from = 0; from < nodes.length; from += size) slices.push(nodes.slice(from, from + size))
      const ended = await Promise.allSettled(slices.map((slice) => this.#fillSlice(space, embedder, slice, signal)))
      const failed = ended.find((one) => one.status === 'rejected')
      if (failed !== undefined) throw failed.reason
    }
  }

  /** A model that did not answer in time may answer when it is asked for less. */
  #requestSize(spaceKey: number, { maxBatch }: Embedder): number {
    const wait = this.#started().db.now(waitOf(spaceKey))
    return wait?.error_class === 'timeout' ? Math.max(1, maxBatch >> wait.attempts) : maxBatch
  }

  async #fillSlice(space: SpaceRow, embedder: Embedder, nodes: DueNode[], signal: AbortSignal): Promise<void> {
    const context = this.#started()
    const texts = nodes.map(({ title, text }) => `${title}\n${text}`)
    const made = await embedPassages(embedder, texts, signal)
    const first = made.find((one) => one instanceof Float32Array)
    const vectorSpace =
      first === undefined ? undefined : await observeDimension(context.db, space.key, first.length, space.vector_space)
    const filled = await context.db.write(() => this.#store(space, vectorSpace, nodes, made))
    this.#progressAt.set(space.key, Date.now())
    this.#silent.delete(space.key)
    this.#counted.delete(space.key)
    this.#changes.tell()
    // an index that cannot take them now reads them from the rows when it starts again
    if (vectorSpace !== undefined && filled.length > 0)
      await addToIndex(context, space, vectorSpace, filled).catch((error: unknown) =>
        context.log.warn({ space: space.id, error: String(error) }, 'new vectors have not reached the index yet'),
      )
  }

  /** What was deleted, or whose space has another model by now, is left out. */
  #store(
    space: SpaceRow,
    vectorSpace: VectorSpace | undefined,
    nodes: readonly DueNode[],
    made: readonly (Float32Array | Refusal)[],
  ): FilledVector[] {
    const { db, log } = this.#started()
    const live = db.now(spaceByKey(space.key))
    if (live?.vector_space !== space.vector_space) return []
    const filled: FilledVector[] = []
    const settled: DueNode[] = []
    for (const [place, node] of nodes.entries()) {
      const result = made[place]
      if (result === undefined || !db.now(isDue(node))) continue
      if (result instanceof Float32Array) {
        filled.push({ nodeKey: node.key, doc: node.doc_key, vector: result })
        settled.push(node)
      } else {
        db.now(refuse(space.key, node, result.refused))
        log.warn({ space: space.id, node: node.key, error: result.refused }, 'the embedding model refused a passage')
      }
    }
    if (vectorSpace !== undefined) db.now(insertVectors(vectorSpace.key, filled))
    db.now(settleDue(settled))
    db.now(forgetWait(space.key))
    return filled
  }

  /** Every passage has its vector, yet the counts say otherwise: the rows are right. */
  async #recount(spaceKey: number): Promise<void> {
    const { db } = this.#started()
    await db.write(function* () {
      for (const { version_key } of yield* sql.all<{ version_key: number }>(
        'SELECT version_key FROM vectors_due WHERE space_key = ? AND due > 0',
        [spaceKey],
      ))
        yield* countAgain(version_key)
    })
  }

  async #putOff(spaceKey: number, error: unknown, signal: AbortSignal): Promise<void> {
    const { db, log, now } = this.#started()
    const space = db.now(spaceByKey(spaceKey))
    const trouble = troubleOf(error, space?.embedding_model ?? '')
    const attempts = db.now(waitOf(spaceKey))?.attempts ?? 0
    const waitMs = pauseAfter(trouble, attempts)
    const row = { space: space?.id, class: trouble.class, error: trouble.message, retryInMs: waitMs }
    if (attempts === 0) log.warn(row, 'vectors wait for the embedding provider; text search goes on without')
    // asked again at once, the provider would be asked in a loop
    await untilWritten(this.#started(), 'when a provider is asked again', signal, () =>
      db.write(() => putOff(spaceKey, trouble, now(), Date.now() + waitMs)),
    )
    this.#counted.delete(spaceKey)
  }
}

/** Milliseconds until a provider is asked again. */
export function pauseAfter({ isPermanent, retryAfterMs = 0 }: ProviderTrouble, attempts: number): number {
  if (isPermanent) return PERMANENT_WAIT_MS
  const backoff = Math.min(WAIT.firstMs * 2 ** attempts, WAIT.longestMs)
  return Math.min(LONGEST_WAIT_MS, Math.max(retryAfterMs, Math.round(backoff * (0.5 + Math.random() / 2))))
}
