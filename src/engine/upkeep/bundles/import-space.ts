import { KsError } from '../../../contract/errors.js'
import type { ImportedBundle } from '../../../contract/gateway/bundles.js'
import type { Bindable } from '../../base/statements.js'
import { assertRawBytesQuota, type EngineContext } from '../../library/index.js'
import { isBuiltin } from '../../models/index.js'
import { ObjectStore } from '../../store/objects.js'
import type { Read, Write } from '../../store/program.js'
import { isRetainedScope } from '../../store/rows/permissions.js'
import type { SpaceRow } from '../../store/rows/spaces.js'
import { abandonImport, hasImportClaim, markImportedVectorsDue, revealImport } from '../rows/bundles/imports.js'
import {
  findForeignReference,
  findMissingOwner,
  getOwnerColumn,
  hasHeadPublication,
} from '../rows/bundles/references.js'
import { type ImportTable, listImportColumns } from '../rows/bundles/tables.js'
import {
  findTakenId,
  findTakenSource,
  insertBundledRow,
  insertReader,
  insertRowWithKey,
  isVectorSpaceTaken,
} from '../rows/bundles/write.js'
import { invalidBundle } from './format.js'
import { BUNDLE_LIMITS } from './limits.js'
import { findVectorModelProblem } from './model.js'
import { type BundleLine, type BundleTable, toBytes, toCell, toCheckedNumber, toCheckedText } from './rows.js'

/** Maximum number of rows in one transaction, which then blocks the event loop for milliseconds. */
const MAX_SLICE_ROWS = 200

/** The vector space of an imported space. */
export interface ImportedVectors {
  key: number
  dimension: number
}

/** A space during its import: its rows are stored, but hidden. */
export class SpaceImport {
  readonly context: EngineContext
  readonly space: SpaceRow
  /** sources that documents may belong to: those of the bundle, and those whose readers it has */
  readonly sources = new Set<string>()
  vectors: ImportedVectors | undefined
  documents = 0
  nodes = 0
  withoutVectors = 0
  /** newest entry of the index log */
  seq = 0

  constructor(context: EngineContext, space: SpaceRow) {
    this.context = context
    this.space = space
  }

  /** Runs a program that writes rows of the space, while this gateway has the claim on the import. */
  async write<T>(work: () => Write<T>): Promise<T> {
    const { context, space } = this
    await context.foregroundPriority.yieldToQueries()
    return await context.db.write(() => withImportClaim(space.key, context.instance, work))
  }

  /** The cells of a row, with values that this store adds. */
  cells(table: ImportTable, line: BundleLine, made: Readonly<Record<string, Bindable>> = {}): Bindable[] {
    const { tenant, key } = this.space
    const added: Readonly<Record<string, Bindable>> = { tenant, space_key: key, ...made }
    return listImportColumns(table).map(
      (column) => added[column] ?? (column in added ? null : toCell(table, line, column)),
    )
  }

  /** Writes rows of a table, except of documents. */
  async add(table: Exclude<BundleTable, 'spaces'>, lines: readonly BundleLine[]): Promise<void> {
    if (table === 'vector_spaces') return await this.#addVectorSpace(lines)
    if (table === 'source_readers' || table === 'sources') this.#noteSources(table, lines)
    for (let start = 0; start < lines.length; start += MAX_SLICE_ROWS) {
      const slice = lines.slice(start, start + MAX_SLICE_ROWS)
      if (table === 'source_readers') await this.write(() => this.#addReaders(slice))
      else await this.write(() => this.#addRows(table, slice))
    }
  }

  /** Writes rows that refer to objects, inside the caller's transaction. */
  *addFiles(table: 'workspace_files' | 'snapshot_files', lines: readonly BundleLine[]): Write<void> {
    yield* withImportClaim(this.space.key, this.context.instance, () => this.#addRows(table, lines))
  }

  *#addRows(table: ImportTable, lines: readonly BundleLine[]): Write<void> {
    yield* this.#assertFree(table, lines)
    for (const line of lines) yield* insertBundledRow(table, this.cells(table, line, this.#addedCells(table, line)))
  }

  #addedCells(table: ImportTable, line: BundleLine): Readonly<Record<string, Bindable>> {
    if (table === 'workspace_files' || table === 'snapshot_files')
      return { object_key: ObjectStore.key(this.space.tenant, toCheckedText(line.sha256)) }
    // its documents are determined when it is first read
    return table === 'semantic_views' ? { created_at: this.context.now(), revision: 0, total: 1 } : {}
  }

  /** Checks that no row has an existing id, or an owner that the bundle lacks. */
  *#assertFree(table: ImportTable, lines: readonly BundleLine[]): Read<void> {
    const { tenant, key } = this.space
    const ids = lines.flatMap(({ id }) => (typeof id === 'string' ? [id] : []))
    const existingId =
      (yield* findTakenId(tenant, table, ids)) ?? (table === 'sources' ? yield* findTakenSource(key, ids) : undefined)
    if (existingId !== undefined) throw idTakenError(table, existingId)
    const column = getOwnerColumn(table)
    if (column === undefined) return
    const owners = [...new Set(lines.map((line) => toCheckedText(line[column])))]
    const missing = yield* findMissingOwner({ tenant, spaceKey: key }, table, owners)
    if (missing !== undefined)
      throw invalidBundle(`has a row of ${table} whose ${column} ${JSON.stringify(missing)} is not in it`)
    if (table === 'quoted_sources') this.assertSources(lines.map(({ source_id }) => source_id))
  }

  *#addReaders(lines: readonly BundleLine[]): Write<void> {
    const { key } = this.space
    const names = lines.map(({ source_id }) => toCheckedText(source_id))
    // readers of a removed source belong to that source
    const existingId = yield* findTakenSource(key, [...names, ...names.map((name) => name.replace(/^kept-/, ''))])
    if (existingId !== undefined) throw idTakenError('source_readers', existingId)
    for (const { source_id, subject } of lines)
      yield* insertReader(key, toCheckedText(source_id), toCheckedText(subject))
  }

  #noteSources(table: 'sources' | 'source_readers', lines: readonly BundleLine[]): void {
    for (const line of lines) this.sources.add(toCheckedText(table === 'sources' ? line.id : line.source_id))
    if (this.sources.size > BUNDLE_LIMITS.sources)
      throw invalidBundle(`has more than ${BUNDLE_LIMITS.sources} sources in a space`)
  }

  /** @throws KsError `invalid-bundle` for a source that the bundle lacks: it could belong to others */
  assertSources(ids: readonly unknown[]): void {
    for (const id of ids)
      if (id !== undefined && !this.sources.has(toCheckedText(id)))
        throw invalidBundle(
          `has a row of source ${JSON.stringify(id)}, which is not in it${isRetainedScope(toCheckedText(id)) ? ' any more' : ''}`,
        )
  }

  async #addVectorSpace(lines: readonly BundleLine[]): Promise<void> {
    const [line, more] = lines
    if (line === undefined || more !== undefined || this.vectors !== undefined)
      throw invalidBundle('has more than one vector space in a space')
    const id = toCheckedText(line.id)
    const dimension = toCheckedNumber(line.dimension)
    if (id !== this.space.vector_space || line.state !== 'active' || dimension !== this.space.dimension)
      throw invalidBundle('has a vector space that is not the one of its space')
    if (dimension < 1 || dimension > BUNDLE_LIMITS.dimension)
      throw invalidBundle(`has vectors of ${dimension} dimensions, at most ${BUNDLE_LIMITS.dimension} are possible`)
    const problem = findVectorModelProblem(
      this.#isBuiltin(),
      line.model === undefined ? undefined : toBytes(line.model),
      dimension,
    )
    if (problem !== undefined) throw invalidBundle(`has an embedding model that ${problem}`)
    const cells = this.cells('vector_spaces', line)
    const key = await this.write(function* () {
      if (yield* isVectorSpaceTaken(id)) throw idTakenError('vector_spaces', id)
      return yield* insertRowWithKey('vector_spaces', cells)
    })
    this.vectors = { key, dimension }
  }

  #isBuiltin(): boolean {
    return isBuiltin(this.#embedding())
  }

  #embedding() {
    const { embedding_plugin: pluginId, embedding_provider: provider, embedding_model: model } = this.space
    return { pluginId, provider, model }
  }

  /** @throws KsError `invalid-bundle` where the imported rows do not form a complete space */
  async assertComplete(): Promise<void> {
    const { tenant, key: spaceKey, publication_id: head, head_revision: revision } = this.space
    const owner = { tenant, spaceKey }
    if (!(await this.context.db.read(hasHeadPublication(owner, head, revision))))
      throw invalidBundle('has a space without the publication that it shows')
    const stray = await this.context.db.read(findForeignReference(owner))
    if (stray !== undefined) throw invalidBundle(`has an answer ${stray} that belongs to another space`)
    await this.write(() => assertRawBytesQuota(this.context, this.space))
  }

  /** Makes the space visible, inside the caller's transaction. */
  *makeVisible(): Write<void> {
    const { key } = this.space
    if (!(yield* revealImport(key, this.context.instance))) throw lostClaimError()
    if (this.withoutVectors > 0 && !this.#isBuiltin()) yield* markImportedVectorsDue(key, this.vectors?.key)
  }

  /** Leaves the imported rows to the purge. */
  async discard(): Promise<void> {
    await this.context.db.write(() => abandonImport(this.space.key, this.context.instance))
  }

  /** Wakes the background work after a publication. */
  notifyPublished(): void {
    const { context, space } = this
    context.changes.report(space.tenant, space.id)
    context.pageIndexes.notePublication(space.key)
    context.pictures.notePublication(space.key)
    context.conflicts.published(space.key)
    context.failedClusters.captured(space.key)
    context.vectors.wake()
    context.wake(space.key)
  }

  toSummary(): ImportedBundle['spaces'][number] {
    const { id, slug, name, head_revision: headRevision } = this.space
    const { documents, nodes, withoutVectors } = this
    const embeddingConfigured = this.#isBuiltin() || this.context.models.has(this.#embedding(), 'embedding')
    return { id, slug, name, documents, nodes, headRevision, withoutVectors, embeddingConfigured }
  }
}

/** Runs a program while this gateway still has the claim on the import. */
export function* withImportClaim<T>(spaceKey: number, gateway: string, work: () => Write<T>): Write<T> {
  if (!(yield* hasImportClaim(spaceKey, gateway))) throw lostClaimError()
  return yield* work()
}

function lostClaimError(): KsError {
  return new KsError(
    'unavailable',
    'the import was aborted, because other gateways considered this one dead: start it again',
  )
}

/** How to import a space whose slug or ids exist, as the end of an error message. */
export const COPY_ADVICE = 'import it as a copy with new ids (`ks bundle import FILE --as NAME`)'

export function idTakenError(table: string, id: string): KsError {
  return new KsError(
    'id-taken',
    `the bundle brings ${JSON.stringify(id)} of ${table}, which already exists here: ${COPY_ADVICE}`,
  )
}
