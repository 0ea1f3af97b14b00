import { KsError } from '../../contract/errors.js'
import { Runs } from '../base/runs.js'
import { untilWritten } from '../base/until-written.js'
import type { EngineContext } from '../context.js'
import { type ProviderTrouble, troubleOf } from '../models/trouble.js'
import type { Embedder } from '../models/types.js'
import {
  abandon,
  goOn,
  type MigrationRow,
  migrationRows,
  noteRefusal,
  switchTo,
  targetOf,
  unfilled,
} from '../rows/embedding-migrations.js'
import { hasNode, hasPassages, lastNode, type PassageRow } from '../rows/nodes.js'
import { type SpaceRow, spaceByKey } from '../rows/spaces.js'
import {
  activeVectorSpace,
  type FilledVector,
  insertVectorSpace,
  insertVectors,
  spacesWithSuperseded,
  type VectorSpace,
} from '../rows/vector-spaces.js'
import { inSpace } from '../spaces/in-space.js'
import type { Write } from '../storage/program.js'
import { isWriteStopped } from '../storage/write-stop.js'
import { account } from './embeddings.js'
import { embedPassages, type Refusal } from './passage-vectors.js'
import { fillVectors, forgetSuperseded, trainVectorSpace } from './training.js'
import { pauseAfter } from './vector-filler.js'
import { addToIndex } from './vector-rows.js'
import { embeddingReference, isTrained } from './vector-spaces.js'

/** concurrent requests of one migration; the `maxConcurrency` of a provider limits the total */
const REQUESTS_AT_ONCE = 4

/** One run of a migration. `space` has the new model instead of its own. */
interface Move {
  row: MigrationRow
  space: SpaceRow
  signal: AbortSignal
}

/**
 * Moves spaces to other embedding models. The vectors of the new model are computed while the old ones are in use, then
 * one transaction switches. The progress of a migration is stored in its rows, so a restart continues it.
 */
export class EmbeddingMigrations {
  #context: EngineContext | undefined
  #runs: Runs<MigrationRow> | undefined
  readonly #cleaning = new Set<Promise<void>>()
  readonly #stopped = new AbortController()

  /** Continues migrations after a stop; the cause of a provider's failure may have been fixed since. */
  start(context: EngineContext): void {
    this.#context = context
    const { db } = context
    this.#runs = new Runs(context.log, {
      name: 'migration',
      isStopped: () => isWriteStopped(context),
      open: () => db.read(migrationRows.open(context.instance)),
      claim: ({ key }) => db.write(() => migrationRows.claim(key, context.instance)),
      work: (row, signal) => inSpace(db, row.space_key, () => this.#move(row, signal)),
      failed: (row, error, signal) => inSpace(db, row.space_key, () => this.#failed(row, error, signal)),
    })
    db.recover(() => migrationRows.hurry(context.instance))
    this.#track(this.#cleanAll())
    this.wake()
  }

  /** Soon checks for migrations with pending work. */
  wake(): void {
    this.#runs?.wake()
  }

  /** migrations that run, or will run without intervention */
  get active(): Promise<number> {
    return this.#active()
  }

  /** Stops the work on a migration that the caller's transaction has ended, and removes its vectors. */
  async ended(row: Pick<MigrationRow, 'key' | 'space_key'>): Promise<void> {
    await this.#runs?.ended(row.key)
    this.#clean(row.space_key)
  }

  async #active(): Promise<number> {
    const context = this.#context
    const open = context === undefined ? [] : await context.db.read(migrationRows.open(context.instance))
    return open.length + this.#cleaning.size
  }

  /** To be called when other gateways consider this one dead. */
  lost(): void {
    this.#runs?.lost()
  }

  async close(): Promise<void> {
    this.#stopped.abort()
    await this.#runs?.close()
    await Promise.allSettled(this.#cleaning)
  }

  #started(): EngineContext {
    if (this.#context === undefined) throw new KsError('internal', 'a migration was requested before the start')
    return this.#context
  }

  async #move(row: MigrationRow, signal: AbortSignal): Promise<void> {
    const context = this.#started()
    const { db, log } = context
    const current = await db.read(spaceByKey(row.space_key))
    if (current === undefined) return
    const model = {
      embedding_plugin: row.plugin,
      embedding_provider: row.provider,
      embedding_model: row.model,
      vector_space: row.vector_space,
    }
    const move: Move = { row, space: { ...current, ...model }, signal }
    let after = 0
    for (;;) {
      after = isTrained(move.space) ? await this.#fillTrained(move, after) : await this.#fillByProvider(move, after)
      signal.throwIfAborted()
      if (await db.write(() => switchWhenFilled(move, after), { lock: row.space_key })) break
    }
    const target = await db.read(activeVectorSpace(move.space))
    if (target !== undefined) await context.indexes.activateVectors(move.space.id, target.id)
    log.info({ space: move.space.id, migration: row.id }, 'a space has moved to another embedding model')
    this.#clean(row.space_key)
    context.vectors.wake()
    context.wake()
  }

  /** @returns the last passage up to which no vector is missing */
  async #fillTrained({ row, space, signal }: Move, after: number): Promise<number> {
    const context = this.#started()
    const { db } = context
    const known = await db.read(targetOf(row))
    const target = known ?? (after > 0 ? undefined : await trainVectorSpace(context, space, row.vector_space, signal))
    if (target !== undefined) return await fillVectors(context, space, target, signal, after)
    // too little text for a model: the space is searched by text until there is more
    return await db.read(lastNode(space.key))
  }

  /** @returns the last passage up to which no vector is missing */
  async #fillByProvider(move: Move, from: number): Promise<number> {
    const context = this.#started()
    const { row, space, signal } = move
    const dimension = (await context.db.read(targetOf(row)))?.dimension
    const embedder = context.models.embedder(embeddingReference(space), account(context, space), dimension)
    // a model that timed out may respond to a smaller request
    const size = row.error_class === 'timeout' ? Math.max(1, embedder.maxBatch >> row.attempts) : embedder.maxBatch
    let after = from
    for (;;) {
      signal.throwIfAborted()
      const nodes = await context.db.read(unfilled(row, after, size * REQUESTS_AT_ONCE))
      if (nodes.length === 0) return after
      const slices: PassageRow[][] = []
      for (let at = 0; at < nodes.length; at += size) slices.push(nodes.slice(at, at + size))
      const ended = await Promise.allSettled(slices.map((slice) => this.#fillSlice(move, embedder, slice)))
      const failed = ended.find((one) => one.status === 'rejected')
      if (failed !== undefined) throw failed.reason
      after = nodes.at(-1)?.key ?? after
    }
  }

  async #fillSlice({ row, space, signal }: Move, embedder: Embedder, nodes: PassageRow[]): Promise<void> {
    const context = this.#started()
    const { db, log } = context
    const texts = nodes.map(({ title, text }) => `${title}\n${text}`)
    const made = await embedPassages(embedder, texts, signal)
    const stored = await db.write(() => storeSlice({ row, space, signal }, nodes, made), { lock: space.key })
    for (const { node, error } of stored.refused)
      log.warn({ space: space.id, node, error }, 'the embedding model refused a passage')
    // an index that cannot take them now reads them from the rows when they are activated
    if (stored.target !== undefined)
      await addToIndex(context, space, stored.target, stored.filled).catch((error: unknown) =>
        log.warn({ space: space.id, error: String(error) }, 'new vectors have not reached the index yet'),
      )
  }

  /** Retries temporary failures; any other ends the migration and leaves the space unchanged. */
  async #failed(row: MigrationRow, error: unknown, signal: AbortSignal): Promise<void> {
    const { db, log } = this.#started()
    const trouble = troubleOf(error, row.model)
    const isPermanent = trouble.isPermanent || error instanceof DimensionChanged
    const failed = await untilWritten(this.#started(), 'when a migration goes on', signal, () =>
      db.write(() => putOff(row.key, trouble, isPermanent)),
    )
    log.warn({ migration: row.id, class: trouble.class, error: trouble.message, failed }, 'a migration met a failure')
    if (failed) this.#clean(row.space_key)
  }

  /** Removes vectors of superseded models that a stop left. */
  async #cleanAll(): Promise<void> {
    for (const spaceKey of await this.#started().db.read(spacesWithSuperseded())) this.#clean(spaceKey)
  }

  #clean(spaceKey: number): void {
    this.#track(inSpace(this.#started().db, spaceKey, () => this.#dropUnused(spaceKey)))
  }

  /** Tracks clean-up work, for which `close` waits. */
  #track(work: Promise<void>): void {
    const { log } = this.#started()
    const cleaning = work
      .catch((error: unknown) => log.warn({ error: String(error) }, 'replaced vectors could not be removed'))
      .finally(() => this.#cleaning.delete(cleaning))
    this.#cleaning.add(cleaning)
  }

  /** Removes the unused vectors of a space from the rows and from the index. */
  async #dropUnused(spaceKey: number): Promise<void> {
    const context = this.#started()
    const space = await context.db.read(spaceByKey(spaceKey))
    if (space === undefined) return
    await forgetSuperseded(context, spaceKey, this.#stopped.signal)
    if (this.#stopped.signal.aborted) return
    const active = await context.db.read(activeVectorSpace(space))
    if (active !== undefined) await context.indexes.activateVectors(space.id, active.id)
  }
}

/** The dimension of a provider's vectors differs from its first. */
class DimensionChanged extends KsError {}

/** Result of one request: vectors of a vector space, and passages that the model refused. */
interface Stored {
  target: VectorSpace | undefined
  filled: FilledVector[]
  refused: { node: number; error: string }[]
}

/**
 * Stores the result of one request, if the migration is still open: it may have been canceled, or its space deleted.
 */
function* storeSlice(
  { row, space }: Move,
  nodes: readonly PassageRow[],
  made: readonly (Float32Array | Refusal)[],
): Write<Stored> {
  const stored: Stored = { target: undefined, filled: [], refused: [] }
  if ((yield* migrationRows.stillOpen(row.key)) === undefined) return stored
  for (const [place, node] of nodes.entries()) {
    const result = made[place]
    if (result === undefined || !(yield* hasNode(node.key))) continue
    if (result instanceof Float32Array) stored.filled.push({ nodeKey: node.key, doc: node.doc_key, vector: result })
    else {
      yield* noteRefusal(space.key, node.key, result.refused)
      stored.refused.push({ node: node.key, error: result.refused })
    }
  }
  yield* goOn(row.key)
  const [first] = stored.filled
  if (first === undefined) return stored
  stored.target = yield* targetFor(row, space, first.vector.length)
  yield* insertVectors(stored.target.key, stored.filled)
  return stored
}

/** @returns false if passages after `after` were added meanwhile, which have no vector yet */
function* switchWhenFilled({ row, space }: Move, after: number): Write<boolean> {
  const open = yield* migrationRows.stillOpen(row.key)
  if (open === undefined) return true
  if ((yield* unfilled(open, after, 1)).length > 0) return false
  const target = yield* targetOf(open)
  if (target === undefined && !isTrained(space) && (yield* hasPassages(open.space_key))) {
    const message = 'the embedding model refused every passage of the space'
    yield* abandon(open, 'failed', { class: 'unavailable', message })
  } else yield* switchTo(open, target)
  return true
}

/** @returns whether this ends the migration as failed */
function* putOff(key: number, trouble: ProviderTrouble, isPermanent: boolean): Write<boolean> {
  const open = yield* migrationRows.stillOpen(key)
  if (open === undefined) return false
  if (isPermanent) yield* abandon(open, 'failed', trouble)
  else yield* migrationRows.delay(key, trouble, Date.now() + pauseAfter(trouble, open.attempts))
  return isPermanent
}

/** The vector space that is being filled; the first vector creates it and determines its dimension. */
function* targetFor(row: MigrationRow, space: SpaceRow, dimension: number): Write<VectorSpace> {
  const known = yield* targetOf(row)
  if (known === undefined)
    return yield* insertVectorSpace(space.key, row.vector_space, space.embedding_revision + 1, dimension, 'building')
  if (known.dimension === dimension) return known
  throw new DimensionChanged(
    'provider-failed',
    `the embedding model returned ${dimension} dimensions, but ${known.dimension} before`,
  )
}
