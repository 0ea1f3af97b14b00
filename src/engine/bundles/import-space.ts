import { KsError } from '../../contract/errors.js'
import type { ImportedBundle } from '../../contract/gateway/bundles.js'
import type { Bindable } from '../base/statements.js'
import type { EngineContext } from '../context.js'
import { isBuiltin } from '../models/registry.js'
import { dropImport, holdsImport, oweImported, showImported } from '../rows/bundles/imports.js'
import { hasHead, missingOwner, ownerColumn, strayAnswer } from '../rows/bundles/references.js'
import { type RowTable, writtenColumns } from '../rows/bundles/tables.js'
import {
  insertKeyed,
  insertReader,
  insertRow,
  isVectorSpaceTaken,
  takenId,
  takenSource,
} from '../rows/bundles/write.js'
import { isKept } from '../rows/permissions.js'
import type { SpaceRow } from '../rows/spaces.js'
import { assertRawBytes } from '../spaces/quota.js'
import { ObjectStore } from '../storage/objects.js'
import type { Read, Write } from '../storage/program.js'
import { invalid } from './format.js'
import { BUNDLE_LIMITS } from './limits.js'
import { wrongModel } from './model.js'
import { type BundleTable, bytesOf, cellOf, type Line, numberOf, textOf } from './rows.js'

/** Maximum number of rows in one transaction, which then blocks the event loop for milliseconds. */
const SLICE = 200

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
    await context.rightOfWay.giveWay()
    return await context.db.write(() => held(space.key, context.instance, work))
  }

  /** The cells of a row, with values that this store adds. */
  cells(table: RowTable, line: Line, made: Readonly<Record<string, Bindable>> = {}): Bindable[] {
    const { tenant, key } = this.space
    const added: Readonly<Record<string, Bindable>> = { tenant, space_key: key, ...made }
    return writtenColumns(table).map(
      (column) => added[column] ?? (column in added ? null : cellOf(table, line, column)),
    )
  }

  /** Writes rows of a table, except of documents. */
  async add(table: Exclude<BundleTable, 'spaces'>, lines: readonly Line[]): Promise<void> {
    if (table === 'vector_spaces') return await this.#addVectorSpace(lines)
    if (table === 'source_readers' || table === 'sources') this.#noteSources(table, lines)
    for (let from = 0; from < lines.length; from += SLICE) {
      const slice = lines.slice(from, from + SLICE)
      if (table === 'source_readers') await this.write(() => this.#addReaders(slice))
      else await this.write(() => this.#addRows(table, slice))
    }
  }

  /** Writes rows that refer to objects, inside the caller's transaction. */
  *addFiles(table: 'workspace_files' | 'snapshot_files', lines: readonly Line[]): Write<void> {
    yield* held(this.space.key, this.context.instance, () => this.#addRows(table, lines))
  }

  *#addRows(table: RowTable, lines: readonly Line[]): Write<void> {
    yield* this.#assertFree(table, lines)
    for (const line of lines) yield* insertRow(table, this.cells(table, line, this.#made(table, line)))
  }

  #made(table: RowTable, line: Line): Readonly<Record<string, Bindable>> {
    if (table === 'workspace_files' || table === 'snapshot_files')
      return { object_key: ObjectStore.key(this.space.tenant, textOf(line.sha256)) }
    // its documents are determined when it is first read
    return table === 'semantic_views' ? { created_at: Date.now(), revision: 0, total: 1 } : {}
  }

  /** Checks that no row has an existing id, or an owner that the bundle lacks. */
  *#assertFree(table: RowTable, lines: readonly Line[]): Read<void> {
    const { tenant, key } = this.space
    const ids = lines.flatMap(({ id }) => (typeof id === 'string' ? [id] : []))
    const taken =
      (yield* takenId(tenant, table, ids)) ?? (table === 'sources' ? yield* takenSource(key, ids) : undefined)
    if (taken !== undefined) throw idTaken(table, taken)
    const column = ownerColumn(table)
    if (column === undefined) return
    const owners = [...new Set(lines.map((line) => textOf(line[column])))]
    const missing = yield* missingOwner({ tenant, spaceKey: key }, table, owners)
    if (missing !== undefined)
      throw invalid(`has a row of ${table} whose ${column} ${JSON.stringify(missing)} is not in it`)
    if (table === 'quoted_sources') this.assertSources(lines.map(({ source_id }) => source_id))
  }

  *#addReaders(lines: readonly Line[]): Write<void> {
    const { key } = this.space
    const names = lines.map(({ source_id }) => textOf(source_id))
    // readers of a removed source belong to that source
    const taken = yield* takenSource(key, [...names, ...names.map((name) => name.replace(/^kept-/, ''))])
    if (taken !== undefined) throw idTaken('source_readers', taken)
    for (const { source_id, subject } of lines) yield* insertReader(key, textOf(source_id), textOf(subject))
  }

  #noteSources(table: 'sources' | 'source_readers', lines: readonly Line[]): void {
    for (const line of lines) this.sources.add(textOf(table === 'sources' ? line.id : line.source_id))
    if (this.sources.size > BUNDLE_LIMITS.sources)
      throw invalid(`has more than ${BUNDLE_LIMITS.sources} sources in a space`)
  }

  /** @throws KsError `invalid-bundle` for a source that the bundle lacks: it could belong to others */
  assertSources(ids: readonly unknown[]): void {
    for (const id of ids)
      if (id !== undefined && !this.sources.has(textOf(id)))
        throw invalid(
          `has a row of source ${JSON.stringify(id)}, which is not in it${isKept(textOf(id)) ? ' any more' : ''}`,
        )
  }

  async #addVectorSpace(lines: readonly Line[]): Promise<void> {
    const [line, more] = lines
    if (line === undefined || more !== undefined || this.vectors !== undefined)
      throw invalid('has more than one vector space in a space')
    const id = textOf(line.id)
    const dimension = numberOf(line.dimension)
    if (id !== this.space.vector_space || line.state !== 'active' || dimension !== this.space.dimension)
      throw invalid('has a vector space that is not the one of its space')
    if (dimension < 1 || dimension > BUNDLE_LIMITS.dimension)
      throw invalid(`has vectors of ${dimension} dimensions, at most ${BUNDLE_LIMITS.dimension} are possible`)
    const wrong = wrongModel(this.#isBuiltin(), line.model === undefined ? undefined : bytesOf(line.model), dimension)
    if (wrong !== undefined) throw invalid(`has an embedding model that ${wrong}`)
    const key = await this.write(() => this.#makeVectorSpace(id, line))
    this.vectors = { key, dimension }
  }

  *#makeVectorSpace(id: string, line: Line): Write<number> {
    if (yield* isVectorSpaceTaken(id)) throw idTaken('vector_spaces', id)
    return yield* insertKeyed('vector_spaces', this.cells('vector_spaces', line))
  }

  #isBuiltin(): boolean {
    return isBuiltin(this.#embedding())
  }

  #embedding() {
    const { embedding_plugin: pluginId, embedding_provider: provider, embedding_model: model } = this.space
    return { pluginId, provider, model }
  }

  /** @throws KsError `invalid-bundle` where the imported rows do not form a complete space */
  async assertWhole(): Promise<void> {
    const { tenant, key: spaceKey, publication_id: head, head_revision: revision } = this.space
    const owner = { tenant, spaceKey }
    if (!(await this.context.db.read(hasHead(owner, head, revision))))
      throw invalid('has a space without the publication that it shows')
    const stray = await this.context.db.read(strayAnswer(owner))
    if (stray !== undefined) throw invalid(`has an answer ${stray} that belongs to another space`)
    await this.write(() => assertRawBytes(this.context, this.space))
  }

  /** Makes the space visible, inside the caller's transaction. */
  *show(): Write<void> {
    const { key } = this.space
    if (!(yield* showImported(key, this.context.instance))) throw lost()
    if (this.withoutVectors > 0 && !this.#isBuiltin()) yield* oweImported(key, this.vectors?.key)
  }

  /** Leaves the imported rows to the purge. */
  async drop(): Promise<void> {
    await this.context.db.write(() => dropImport(this.space.key, this.context.instance))
  }

  /** Wakes the background work after a publication. */
  shown(): void {
    const { context, space } = this
    context.changes.changed(space.tenant, space.id)
    context.pageIndexes.published(space.key)
    context.pictures.published(space.key)
    context.conflicts.published(space.key)
    context.failedClusters.captured(space.key)
    context.vectors.wake()
    context.wake(space.key)
  }

  told(): ImportedBundle['spaces'][number] {
    const { id, slug, name, head_revision: headRevision } = this.space
    const { documents, nodes, withoutVectors } = this
    const embeddingConfigured = this.#isBuiltin() || this.context.models.has(this.#embedding(), 'embedding')
    return { id, slug, name, documents, nodes, headRevision, withoutVectors, embeddingConfigured }
  }
}

/** Runs a program while this gateway still has the claim on the import. */
export function* held<T>(spaceKey: number, gateway: string, work: () => Write<T>): Write<T> {
  if (!(yield* holdsImport(spaceKey, gateway))) throw lost()
  return yield* work()
}

function lost(): KsError {
  return new KsError('unavailable', 'the import was aborted, because other gateways considered this one dead: start it again')
}

/** How to import a space whose slug or ids exist, as the end of an error message. */
export const COPY_ADVICE = 'import it as a copy with new ids (`ks bundle import FILE --as NAME`)'

export function idTaken(table: string, id: string): KsError {
  return new KsError(
    'id-taken',
    `the bundle brings ${JSON.stringify(id)} of ${table}, which already exists here: ${COPY_ADVICE}`,
  )
}
