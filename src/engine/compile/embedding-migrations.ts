import { KsError } from '../../contract/errors.js'
import { Runs } from '../base/runs.js'
import { untilWritten } from '../base/until-written.js'
import type { EngineContext } from '../context.js'
import { troubleOf } from '../models/trouble.js'
import type { Embedder } from '../models/types.js'
import { type SpaceRow, spaceByKey } from '../rows/spaces.js'
import { type Read, sql, type Write } from '../storage/program.js'
import { isWriteStopped } from '../storage/write-stop.js'
import { account } from './embeddings.js'
import {
  abandon,
  goOn,
  type MigrationRow,
  migrationRows,
  noteRefusal,
  switchTo,
  targetOf,
  type UnfilledNode,
  unfilled,
} from './migration-rows.js'
import { embedPassages } from './passage-vectors.js'
import { fillVectors, forgetSuperseded, trainVectorSpace } from './training.js'
import { pauseAfter } from './vector-filler.js'
import { addToIndex, type FilledVector } from './vector-rows.js'
import { activeVectorSpace, embeddingReference, insertVectors, isTrained, type VectorSpace } from './vector-spaces.js'

/** requests of one migration at once; how many a provider gets from all is limited by its `maxConcurrency` */
const REQUESTS_AT_ONCE = 4

/** What one migration works with. `space` has the new model in place of its own. */
interface Move {
  row: MigrationRow
  space: SpaceRow
  signal: AbortSignal
}

/**
 * Moves spaces to other embedding models. The vectors of the new model are made beside those in use, then one transaction
 * switches. How far a migration is stands in its rows, so a restart goes on with it.
 */
export class EmbeddingMigrations {
  #context: EngineContext | undefined
  #runs: Runs<MigrationRow> | undefined
  readonly #cleaning = new Set<Promise<void>>()
  readonly #stopped = new AbortController()

  /** Goes on with what a stop interrupted; whatever kept a provider from answering may have been changed since. */
  start(context: EngineContext): void {
    this.#context = context
    const { db } = context
    this.#runs = new Runs(context.log, {
      name: 'migration',
      isStopped: () => isWriteStopped(context),
      open: () => migrationRows.open(db),
      work: (row, signal) => this.#move(row, signal),
      failed: (row, error, signal) => this.#failed(row, error, signal),
    })
    migrationRows.hurry(db)
    for (const { space_key } of db.now(
      sql.all<{ space_key: number }>("SELECT DISTINCT space_key FROM vector_spaces WHERE state = 'superseded'"),
    ))
      this.#clean(space_key)
    this.wake()
  }

  /** Looks soon whether a migration has to be worked at. */
  wake(): void {
    this.#runs?.wake()
  }

  /** migrations that are under way, or will be without anybody's help */
  get active(): number {
    return (this.#context === undefined ? 0 : migrationRows.open(this.#context.db).length) + this.#cleaning.size
  }

  /** A migration has ended by the caller's transaction: nothing more is done for it, and what it filled is removed. */
  async ended(row: Pick<MigrationRow, 'key' | 'space_key'>): Promise<void> {
    await this.#runs?.ended(row.key)
    this.#clean(row.space_key)
  }

  async close(): Promise<void> {
    this.#stopped.abort()
    await this.#runs?.close()
    await Promise.allSettled(this.#cleaning)
  }

  #started(): EngineContext {
    if (this.#context === undefined) throw new KsError('internal', 'a migration was asked for before the start')
    return this.#context
  }

  async #move(row: MigrationRow, signal: AbortSignal): Promise<void> {
    const context = this.#started()
    const { db, log } = context
    const current = db.now(spaceByKey(row.space_key))
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
      if (await db.write(() => this.#switch(move, after))) break
    }
    const target = db.now(activeVectorSpace(move.space))
    if (target !== undefined) await context.indexes.activateVectors(move.space.id, target.id)
    log.info({ space: move.space.id, migration: row.id }, 'a space has moved to another embedding model')
    this.#clean(row.space_key)
    context.vectors.wake()
    context.wake()
  }

  /** @returns false while passages behind `after` came meanwhile, which have no vector yet */
  #switch({ row, space }: Move, after: number): boolean {
    const { db } = this.#started()
    const open = migrationRows.stillOpen(db, row.key)
    if (open === undefined) return true
    const target = db.now(targetOf(open))
    if (db.now(unfilled(open, target, after, 1)).length > 0) return false
    if (target === undefined && !isTrained(space) && this.#started().db.now(hasPassages(open))) {
      const message = 'the embedding model refused every passage of the space'
      db.now(abandon(open, 'failed', { class: 'unavailable', message }))
    } else db.now(switchTo(open, target))
    return true
  }

  /** @returns the passage up to which nothing is missing any more */
  async #fillTrained({ row, space, signal }: Move, after: number): Promise<number> {
    const context = this.#started()
    const { db } = context
    const known = db.now(targetOf(row))
    const target = known ?? (after > 0 ? undefined : await trainVectorSpace(context, space, row.vector_space, signal))
    if (target !== undefined) return await fillVectors(context, space, target, signal, after)
    // text too little for a model: the space is searched by words until there is more
    const last = db.now(
      sql.get<{ key: number | null }>('SELECT max(key) key FROM nodes WHERE space_key = ?', [space.key]),
    )
    return last?.key ?? 0
  }

  /** @returns the passage up to which nothing is missing any more */
  async #fillByProvider(move: Move, from: number): Promise<number> {
    const context = this.#started()
    const { row, space, signal } = move
    const dimension = context.db.now(targetOf(row))?.dimension
    const embedder = context.models.embedder(embeddingReference(space), account(context, space), dimension)
    // a model that did not answer in time may answer when it is asked for less
    const size = row.error_class === 'timeout' ? Math.max(1, embedder.maxBatch >> row.attempts) : embedder.maxBatch
    let after = from
    for (;;) {
      signal.throwIfAborted()
      const nodes = context.db.now(unfilled(row, context.db.now(targetOf(row)), after, size * REQUESTS_AT_ONCE))
      if (nodes.length === 0) return after
      const slices: UnfilledNode[][] = []
      for (let at = 0; at < nodes.length; at += size) slices.push(nodes.slice(at, at + size))
      const ended = await Promise.allSettled(slices.map((slice) => this.#fillSlice(move, embedder, slice)))
      const failed = ended.find((one) => one.status === 'rejected')
      if (failed !== undefined) throw failed.reason
      after = nodes.at(-1)?.key ?? after
    }
  }

  async #fillSlice({ row, space, signal }: Move, embedder: Embedder, nodes: UnfilledNode[]): Promise<void> {
    const context = this.#started()
    const { db, log } = context
    const texts = nodes.map(({ title, text }) => `${title}\n${text}`)
    const made = await embedPassages(embedder, texts, signal)
    const stored = await db.write(function* () {
      // canceled, or its space deleted, while the provider was asked
      if (migrationRows.stillOpen(db, row.key) === undefined) return undefined
      const filled: FilledVector[] = []
      for (const [place, node] of nodes.entries()) {
        const result = made[place]
        if (result === undefined || (yield* sql.get('SELECT 1 one FROM nodes WHERE key = ?', [node.key])) === undefined)
          continue
        if (result instanceof Float32Array) filled.push({ nodeKey: node.key, doc: node.doc_key, vector: result })
        else {
          yield* noteRefusal(space.key, node.key, result.refused)
          log.warn({ space: space.id, node: node.key, error: result.refused }, 'the embedding model refused a passage')
        }
      }
      yield* goOn(row.key)
      const [first] = filled
      if (first === undefined) return undefined
      const target = yield* targetFor(row, space, first.vector.length)
      yield* insertVectors(target.key, filled)
      return { target, filled }
    })
    // an index that cannot take them now reads them from the rows when they are made active
    if (stored !== undefined)
      await addToIndex(context, space, stored.target, stored.filled).catch((error: unknown) =>
        log.warn({ space: space.id, error: String(error) }, 'new vectors have not reached the index yet'),
      )
  }

  /** What passes by itself is waited for; everything else ends the migration and leaves the space as it was. */
  async #failed(row: MigrationRow, error: unknown, signal: AbortSignal): Promise<void> {
    const { db, log } = this.#started()
    const trouble = troubleOf(error, row.model)
    const write = () => {
      const open = migrationRows.stillOpen(db, row.key)
      if (open === undefined) return false
      const isPermanent = trouble.isPermanent || error instanceof DimensionChanged
      if (isPermanent) db.now(abandon(open, 'failed', trouble))
      else migrationRows.delay(db, row.key, trouble, Date.now() + pauseAfter(trouble, open.attempts))
      return isPermanent
    }
    const failed = await untilWritten(this.#started(), 'when a migration goes on', signal, () => db.write(write))
    log.warn({ migration: row.id, class: trouble.class, error: trouble.message, failed }, 'a migration met a failure')
    if (failed) this.#clean(row.space_key)
  }

  /** Removes the vectors that nobody uses any more, from the rows and from the index. */
  #clean(spaceKey: number): void {
    const context = this.#started()
    const cleaning = this.#dropUnused(spaceKey)
      .catch((error: unknown) => context.log.warn({ error: String(error) }, 'replaced vectors could not be removed'))
      .finally(() => this.#cleaning.delete(cleaning))
    this.#cleaning.add(cleaning)
  }

  async #dropUnused(spaceKey: number): Promise<void> {
    const context = this.#started()
    const space = context.db.now(spaceByKey(spaceKey))
    if (space === undefined) return
    await forgetSuperseded(context, spaceKey, this.#stopped.signal)
    if (this.#stopped.signal.aborted) return
    const active = context.db.now(activeVectorSpace(space))
    if (active !== undefined) await context.indexes.activateVectors(space.id, active.id)
  }
}

/** A provider's answers differ in length from its first. */
class DimensionChanged extends KsError {}

/** The vector space that is filled, made by the first vector, which shows its dimension. */
function* targetFor(row: MigrationRow, space: SpaceRow, dimension: number): Write<VectorSpace> {
  const known = yield* targetOf(row)
  if (known !== undefined) {
    if (known.dimension === dimension) return known
    throw new DimensionChanged(
      'provider-failed',
      `the embedding model answered with ${dimension} dimensions, and with ${known.dimension} before`,
    )
  }
  const { key } = yield* sql.run(
    "INSERT INTO vector_spaces (id, space_key, revision, dimension, state, created_at) VALUES (?, ?, ?, ?, 'building', ?)",
    [row.vector_space, space.key, space.embedding_revision + 1, dimension, Date.now()],
  )
  return { key, id: row.vector_space, dimension, trainedNodes: 0 }
}

/** Whether a space has passages at all. */
function* hasPassages({ space_key }: MigrationRow): Read<boolean> {
  return (
    (yield* sql.get(
      `SELECT 1 one FROM nodes INDEXED BY nodes_place JOIN versions INDEXED BY versions_at ON versions.key = nodes.version_key
       WHERE nodes.space_key = ? AND versions.until_revision IS NULL LIMIT 1`,
      [space_key],
    )) !== undefined
  )
}
