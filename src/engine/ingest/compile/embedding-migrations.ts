import { KsError } from '../../../contract/errors.js'
import { computeRetryDelayMs, type ProviderProblem } from '../../base/provider-problem.js'
import { retryUntilWritten } from '../../base/retry-until-written.js'
import { RowRunner } from '../../base/runs.js'
import { readClock } from '../../base/statements.js'
import { type EngineContext, embeddingReference, getSpaceAccount, isTrained, runInSpace } from '../../library/index.js'
import { type Embedder, toProviderProblem } from '../../models/index.js'
import type { Write } from '../../store/program.js'
import {
  endMigration,
  findTargetVectorSpace,
  listUnfilled,
  type MigrationRow,
  migrationRows,
  publishMigration,
  resetMigrationRetries,
  storeRejection,
} from '../../store/rows/embedding-migrations.js'
import { type EmbeddingInputRow, findLastNodeKey, hasNode, hasPassages } from '../../store/rows/nodes.js'
import { findSpaceByKey, type SpaceRow } from '../../store/rows/spaces.js'
import {
  getActiveVectorSpace,
  insertVectorSpace,
  insertVectors,
  listSpacesWithRemovableVectorSpaces,
  type PassageVector,
  type VectorSpace,
} from '../../store/rows/vector-spaces.js'
import { isWriteStopped } from '../../store/write-stop.js'
import { computeRequestSize, type EmbeddingRefusal, embedPassages, sendSlices } from './passage-vectors.js'
import { deleteSuperseded, fillVectors, trainVectorSpace } from './training.js'
import { addToIndex } from './vector-rows.js'

/** concurrent requests of one migration; the `maxConcurrency` of a provider limits the total */
const MAX_CONCURRENT_REQUESTS = 4

/** One run of a migration. `space` has the new model instead of its own. */
interface MigrationRun {
  row: MigrationRow
  space: SpaceRow
  signal: AbortSignal
}

/**
 * Moves spaces to other embedding models. The vectors of the new model are computed while the old ones are in use, then
 * one transaction switches. The progress of a migration is stored in its rows, so a restart continues it.
 */
export class EmbeddingMigrations extends RowRunner<EngineContext, MigrationRow> {
  protected override readonly rowKind = 'migration'
  #cleaning = 0

  /** Continues migrations after a stop; the cause of a provider's failure may have been fixed since. */
  override start(context: EngineContext): void {
    context.db.recover(() => migrationRows.retryNow(context.instance))
    super.start(context)
    this.#clean(this.#cleanAll())
  }

  /** migrations that run, or will run without intervention */
  override get active(): Promise<number> {
    return this.listOpen().then(({ length }) => length + this.#cleaning)
  }

  /** Stops the work on a migration that the caller's transaction has ended, and removes its vectors. */
  async stopEnded(row: Pick<MigrationRow, 'key' | 'space_key'>): Promise<void> {
    await this.stopRun(row.key)
    this.#startCleaning(row.space_key)
  }

  protected override isPaused(): boolean {
    return isWriteStopped(this.context)
  }

  protected override listOpen(): Promise<MigrationRow[]> {
    return this.context.db.read(migrationRows.listOpen(this.context.instance))
  }

  protected override claim({ key }: MigrationRow): Promise<boolean> {
    return this.context.db.write(() => migrationRows.claim(key, this.context.instance))
  }

  protected override work(row: MigrationRow, signal: AbortSignal): Promise<void> {
    return runInSpace(this.context.db, row.space_key, () => this.#runMigration(row, signal))
  }

  protected override onFailure(row: MigrationRow, error: unknown, signal: AbortSignal): Promise<void> {
    return runInSpace(this.context.db, row.space_key, () => this.#handleFailure(row, error, signal))
  }

  async #runMigration(row: MigrationRow, signal: AbortSignal): Promise<void> {
    const context = this.context
    const { db, log } = context
    const current = await db.read(findSpaceByKey(row.space_key))
    if (current === undefined) return
    const model = {
      embedding_plugin: row.plugin,
      embedding_provider: row.provider,
      embedding_model: row.model,
      vector_space: row.vector_space,
    }
    const run: MigrationRun = { row, space: { ...current, ...model }, signal }
    let after = 0
    for (;;) {
      after = isTrained(run.space) ? await this.#fillTrained(run, after) : await this.#fillByProvider(run, after)
      signal.throwIfAborted()
      if (await db.write(() => switchWhenFilled(run, after), { lock: row.space_key })) break
    }
    const target = await db.read(getActiveVectorSpace(run.space))
    if (target !== undefined) await context.indexes.activateVectors(run.space.id, target.id)
    log.info({ space: run.space.id, migration: row.id }, 'a space has moved to another embedding model')
    this.#startCleaning(row.space_key)
    context.vectors.wake()
    context.wake()
  }

  /** @returns the last passage up to which no vector is missing */
  async #fillTrained({ row, space, signal }: MigrationRun, after: number): Promise<number> {
    const context = this.context
    const { db } = context
    const existing = await db.read(findTargetVectorSpace(row))
    const target =
      existing ?? (after > 0 ? undefined : await trainVectorSpace(context, space, { id: row.vector_space }, signal))
    if (target !== undefined) return await fillVectors(context, space, target, { signal, from: after })
    // too little text for a model: the space is searched by text until there is more
    return await db.read(findLastNodeKey(space.key))
  }

  /** @returns the last passage up to which no vector is missing */
  async #fillByProvider(run: MigrationRun, from: number): Promise<number> {
    const context = this.context
    const { row, space, signal } = run
    const dimension = (await context.db.read(findTargetVectorSpace(row)))?.dimension
    const embedder = context.models.embedder(embeddingReference(space), getSpaceAccount(context, space), dimension)
    const size = computeRequestSize(embedder, row)
    let after = from
    for (;;) {
      signal.throwIfAborted()
      const nodes = await context.db.read(listUnfilled(row, after, size * MAX_CONCURRENT_REQUESTS))
      if (nodes.length === 0) return after
      await sendSlices(nodes, size, (slice) => this.#fillSlice(run, embedder, slice))
      after = nodes.at(-1)?.key ?? after
    }
  }

  async #fillSlice(
    { row, space, signal }: MigrationRun,
    embedder: Embedder,
    nodes: EmbeddingInputRow[],
  ): Promise<void> {
    const context = this.context
    const { db, log } = context
    const texts = nodes.map(({ title, text }) => `${title}\n${text}`)
    const results = await embedPassages(embedder, texts, signal)
    const stored = await db.write(() => storeMigrationSlice({ row, space, signal }, nodes, results), {
      lock: space.key,
    })
    for (const { node, error } of stored.refused)
      log.warn({ space: space.id, node, error }, 'the embedding model refused a passage')
    // an index that cannot take them now reads them from the rows when they are activated
    if (stored.target !== undefined)
      await addToIndex(context, space, stored.target, stored.filled).catch((error: unknown) =>
        log.warn({ space: space.id, error: String(error) }, 'new vectors have not reached the index yet'),
      )
  }

  /** Retries temporary failures; any other ends the migration and leaves the space unchanged. */
  async #handleFailure(row: MigrationRow, error: unknown, signal: AbortSignal): Promise<void> {
    const { db, log } = this.context
    const problem = toProviderProblem(error, row.model)
    const isPermanent = problem.isPermanent || error instanceof DimensionChanged
    const failed = await retryUntilWritten(this.context, 'when a migration goes on', signal, () =>
      db.write(() => delayOrFail(row.key, problem, isPermanent)),
    )
    log.warn({ migration: row.id, class: problem.class, error: problem.message, failed }, 'a migration met a failure')
    if (failed) this.#startCleaning(row.space_key)
  }

  /** Removes vectors of superseded models that a stop left. */
  async #cleanAll(): Promise<void> {
    for (const spaceKey of await this.context.db.read(listSpacesWithRemovableVectorSpaces()))
      this.#startCleaning(spaceKey)
  }

  #startCleaning(spaceKey: number): void {
    this.#clean(runInSpace(this.context.db, spaceKey, () => this.#dropUnused(spaceKey)))
  }

  #clean(work: Promise<void>): void {
    const { log } = this.context
    this.#cleaning++
    this.track(
      work
        .catch((error: unknown) => log.warn({ error: String(error) }, 'replaced vectors could not be removed'))
        .finally(() => this.#cleaning--),
    )
  }

  /** Removes the unused vectors of a space from the rows and from the index. */
  async #dropUnused(spaceKey: number): Promise<void> {
    const context = this.context
    const space = await context.db.read(findSpaceByKey(spaceKey))
    if (space === undefined) return
    await deleteSuperseded(context, spaceKey, this.stopSignal)
    if (this.isStopped) return
    const active = await context.db.read(getActiveVectorSpace(space))
    if (active !== undefined) await context.indexes.activateVectors(space.id, active.id)
  }
}

/** The dimension of a provider's vectors differs from its first. */
class DimensionChanged extends KsError {}

/** Result of one request: vectors of a vector space, and passages that the model refused. */
interface StoredSlice {
  target: VectorSpace | undefined
  filled: PassageVector[]
  refused: { node: number; error: string }[]
}

/**
 * Stores the result of one request, if the migration is still open: it may have been canceled, or its space deleted.
 */
function* storeMigrationSlice(
  { row, space }: MigrationRun,
  nodes: readonly EmbeddingInputRow[],
  results: readonly (Float32Array | EmbeddingRefusal)[],
): Write<StoredSlice> {
  const stored: StoredSlice = { target: undefined, filled: [], refused: [] }
  if ((yield* migrationRows.findUnlessEnded(row.key)) === undefined) return stored
  for (const [index, node] of nodes.entries()) {
    const result = results[index]
    if (result === undefined || !(yield* hasNode(node.key))) continue
    if (result instanceof Float32Array) stored.filled.push({ nodeKey: node.key, doc: node.doc_key, vector: result })
    else {
      yield* storeRejection(space.key, node.key, result.refused)
      stored.refused.push({ node: node.key, error: result.refused })
    }
  }
  yield* resetMigrationRetries(row.key)
  const [first] = stored.filled
  if (first === undefined) return stored
  stored.target = yield* getOrCreateTarget(row, space, first.vector.length)
  yield* insertVectors(stored.target.key, stored.filled)
  return stored
}

/** @returns false if passages after `after` were added meanwhile, which have no vector yet */
function* switchWhenFilled({ row, space }: MigrationRun, after: number): Write<boolean> {
  const open = yield* migrationRows.findUnlessEnded(row.key)
  if (open === undefined) return true
  if ((yield* listUnfilled(open, after, 1)).length > 0) return false
  const target = yield* findTargetVectorSpace(open)
  if (target === undefined && !isTrained(space) && (yield* hasPassages(open.space_key))) {
    const message = 'the embedding model refused every passage of the space'
    yield* endMigration(open, 'failed', { class: 'unavailable', message })
  } else yield* publishMigration(open, target)
  return true
}

/** @returns whether this ends the migration as failed */
function* delayOrFail(key: number, trouble: ProviderProblem, isPermanent: boolean): Write<boolean> {
  const open = yield* migrationRows.findUnlessEnded(key)
  if (open === undefined) return false
  if (isPermanent) yield* endMigration(open, 'failed', trouble)
  else yield* migrationRows.defer(key, trouble, (yield* readClock()) + computeRetryDelayMs(trouble, open.attempts))
  return isPermanent
}

/** The vector space that is being filled; the first vector creates it and determines its dimension. */
function* getOrCreateTarget(row: MigrationRow, space: SpaceRow, dimension: number): Write<VectorSpace> {
  const existing = yield* findTargetVectorSpace(row)
  if (existing === undefined)
    return yield* insertVectorSpace(space.key, {
      id: row.vector_space,
      revision: space.embedding_revision + 1,
      dimension,
      state: 'building',
    })
  if (existing.dimension === dimension) return existing
  throw new DimensionChanged(
    'provider-failed',
    `the embedding model returned ${dimension} dimensions, but ${existing.dimension} before`,
  )
}
