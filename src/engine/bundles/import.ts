import { KsError } from '../../contract/errors.js'
import type { BundleManifest, ImportedBundle } from '../../contract/gateway/bundles.js'
import { type TarEntry, TarError, TarReader } from '../../lib/tar.js'
import type { Caller } from '../base/caller.js'
import { asDeployment } from '../base/tenant-scope.js'
import type { EngineContext } from '../context.js'
import { beginImport, spaceWithId } from '../rows/bundles/imports.js'
import { DOCUMENT_TABLES, type DocumentTable } from '../rows/bundles/tables.js'
import { countSpaces, slugHolder } from '../rows/space-changes.js'
import { findSpaceOrDeleting, type SpaceRow } from '../rows/spaces.js'
import { SCHEMA } from '../storage/migrations.js'
import type { Read, Write } from '../storage/program.js'
import { isConstraint } from '../storage/sql-errors.js'
import { writeAnswer } from '../storage/write-answer.js'
import type { BundleChecks, Checked } from './checks.js'
import { FORMAT_VERSION, invalid, type Named, placeOf, readName } from './format.js'
import { DocumentsImport } from './import-documents.js'
import { COPY_ADVICE, idTaken, SpaceImport } from './import-space.js'
import { spaceOf } from './imported-space.js'
import { BUNDLE_LIMITS } from './limits.js'
import { parseBounded, readLines } from './lines.js'
import { type NewIds, newIds } from './new-ids.js'
import { ReceivedObjects } from './received-objects.js'
import { type BundleTable, type Line, textOf } from './rows.js'

export interface ImportOptions {
  /** slug of the only space, in place of its own */
  slug?: string
  /** slug of a copy of the only space: all of its ids are new */
  as?: string
  checks: BundleChecks
  /** aborts when the engine is closed */
  signal: AbortSignal
}

/**
 * Imports the spaces of a bundle as its bytes arrive: rows and objects are stored under spaces that nobody sees, and one
 * transaction shows all of them at the end. Where that does not come, they are purged.
 *
 * @throws KsError `invalid-bundle`, `id-taken`, `slug-taken`, `capacity-exceeded`, `quota-exceeded`
 */
export async function importBundle(
  context: EngineContext,
  caller: Caller,
  source: AsyncIterable<Uint8Array>,
  options: ImportOptions,
): Promise<ImportedBundle> {
  const work = new BundleImport(context, caller, source, options)
  try {
    return await work.run()
  } catch (error) {
    await work.giveUp()
    if (error instanceof TarError) throw invalid(error.message, error)
    if (isConstraint(error)) throw invalid('has rows that do not go together: ids or places that come twice', error)
    throw error
  }
}

/** The space whose files are being read: the last of them, and what it was of. */
interface Current {
  /** id of the space in the bundle */
  name: string
  of: SpaceImport
  documents: DocumentsImport
  number: number
  place: number
  table: BundleTable
}

class BundleImport {
  readonly #context: EngineContext
  readonly #caller: Caller
  readonly #options: ImportOptions
  readonly #reader: TarReader
  readonly #done: SpaceImport[] = []
  readonly #objects: ReceivedObjects
  /** absent where ids are kept */
  readonly #newIds: NewIds | undefined
  readonly #slug: string | undefined
  readonly #rows = new Map<string, number>()
  #manifest: BundleManifest['spaces'] = []
  #current: Current | undefined

  constructor(context: EngineContext, caller: Caller, source: AsyncIterable<Uint8Array>, options: ImportOptions) {
    this.#context = context
    this.#caller = caller
    this.#options = options
    this.#slug = options.as ?? options.slug
    this.#newIds = options.as === undefined ? undefined : newIds()
    this.#objects = new ReceivedObjects(context, caller.tenant)
    this.#reader = new TarReader(source)
  }

  async run(): Promise<ImportedBundle> {
    const first = await this.#reader.next()
    if (first === undefined || readName(first.name).kind !== 'manifest')
      throw invalid('does not begin with its manifest')
    await this.#begin(this.#checked('manifest', await this.#json(first), this.#options.checks.manifest))
    for (;;) {
      this.#options.signal.throwIfAborted()
      const entry = await this.#reader.next()
      if (entry === undefined) throw invalid('has no end')
      const named = readName(entry.name)
      if (named.kind === 'object') await this.#object(entry, named.sha256)
      else if (named.kind === 'rows') await this.#rowsFile(entry, named)
      else return await this.#end(entry, named.kind)
    }
  }

  /** Leaves nothing: what is received is removed, what is stored is left to the purge. */
  async giveUp(): Promise<void> {
    const { log } = this.#context
    await this.#objects.discard()
    const begun = this.#current === undefined ? this.#done : [...this.#done, this.#current.of]
    for (const one of begun)
      await one.drop().catch((error: unknown) => log.warn({ error: String(error) }, 'an import is removed later'))
    this.#context.wake()
  }

  async #begin(manifest: BundleManifest): Promise<void> {
    if (manifest.version > FORMAT_VERSION || manifest.schema > SCHEMA)
      throw invalid(`has format ${manifest.version} and schema ${manifest.schema}: use a newer version of this program`)
    const ids = manifest.spaces.map(({ id }) => id)
    if (ids.some((id, at) => at > 0 && id <= (ids[at - 1] ?? ''))) throw invalid('does not have its spaces in order')
    if (this.#slug !== undefined && ids.length > 1)
      throw new KsError(
        'invalid-request',
        `${this.#options.as === undefined ? 'slug' : 'as'} must be given for a bundle of one space, ` +
          `this one has ${ids.length}`,
      )
    this.#manifest = manifest.spaces
    await this.#context.db.read(this.#assertRoom())
  }

  /** Asked at the beginning, so that nothing is read in vain, and again at the end. */
  *#assertRoom(): Read<void> {
    const { tenant } = this.#caller
    const { spacesPerTenant } = this.#context.options.limits
    if ((yield* countSpaces(tenant)) + this.#manifest.length > spacesPerTenant)
      throw new KsError('capacity-exceeded', `a tenant holds at most ${spacesPerTenant} knowledge spaces`)
    for (const { slug } of this.#manifest) {
      const wanted = this.#slug ?? slug
      const holder = yield* slugHolder(tenant, wanted)
      if (holder !== undefined)
        throw new KsError(
          'slug-taken',
          `slug ${JSON.stringify(wanted)} is already used by space ${holder.id}: ${COPY_ADVICE}`,
        )
    }
  }

  async #object(entry: TarEntry, sha256: string): Promise<void> {
    if (this.#current === undefined) throw invalid(`has object ${sha256} out of place`)
    await this.#objects.receive(sha256, entry.size, this.#reader.content())
  }

  async #rowsFile(entry: TarEntry, named: Extract<Named, { kind: 'rows' }>): Promise<void> {
    const { table } = named
    if (entry.size > BUNDLE_LIMITS.rowsBytes || entry.size === 0)
      throw invalid(`has a file of ${table} of ${entry.size} bytes, at most ${BUNDLE_LIMITS.rowsBytes} are possible`)
    const lines = readLines(table, await this.#reader.whole(), this.#options.checks)
    this.#rows.set(table, (this.#rows.get(table) ?? 0) + lines.length)
    const ids = this.#newIds
    if (table === 'spaces') await this.#beginSpace(named, lines)
    else
      await this.#addLines(
        this.#inOrder(named),
        table,
        ids === undefined ? lines : lines.map((line) => ids.line(table, line)),
      )
  }

  /** The space that a file belongs to, whose files come in order. */
  #inOrder({ space, number, table }: Extract<Named, { kind: 'rows' }>): Current {
    const current = this.#current
    const place = placeOf(table)
    const isNext = current?.name === space && number === current.number + 1 && place >= current.place
    if (current === undefined || !isNext) throw invalid(`has file ${number} of space ${space} out of place`)
    current.number = number
    current.place = place
    return current
  }

  async #addLines(current: Current, table: RowTableOf, lines: Line[]): Promise<void> {
    const before = current.table
    current.table = table
    const isDocuments = isDocumentTable(table)
    // each file of documents is a page
    if (table === 'documents' || !isDocuments) await current.documents.endPage()
    if (isDocuments && isDocumentTable(before) && order(table) < order(before) && table !== 'documents')
      throw invalid(`has rows of ${table} behind those of ${before}`)
    if (table === 'documents') await this.#addDocuments(current.documents, lines)
    else if (isDocuments) {
      this.#objects.assertNamed()
      await current.documents.add(table, lines)
    } else if (table === 'workspace_files' || table === 'snapshot_files') await this.#addFiles(current.of, table, lines)
    else await current.of.add(table, lines)
  }

  async #addDocuments(documents: DocumentsImport, lines: Line[]): Promise<void> {
    documents.assertDocuments(lines)
    const keys = await this.#objects.name(lines, () => documents.insertDocuments(lines))
    documents.noted(lines, keys)
  }

  async #addFiles(of: SpaceImport, table: 'workspace_files' | 'snapshot_files', lines: Line[]): Promise<void> {
    await this.#objects.name(lines, () => of.addFiles(table, lines))
  }

  async #beginSpace({ space, number }: Extract<Named, { kind: 'rows' }>, lines: Line[]): Promise<void> {
    await this.#endSpace()
    const expected = this.#manifest[this.#done.length]
    const [line, more] = lines
    if (line === undefined || more !== undefined || number !== 1 || line.id !== space || expected?.id !== space)
      throw invalid(`has space ${space} out of place`)
    if (
      line.fingerprint !== expected.fingerprint ||
      line.head_revision !== expected.headRevision ||
      line.slug !== expected.slug
    )
      throw invalid(`has space ${space} otherwise than its manifest`)
    const { db } = this.#context
    // on a server, a transaction of this tenant would not see it
    const own = this.#newIds?.line('spaces', line) ?? line
    const id = textOf(own.id)
    const there = await asDeployment(() => db.read(spaceWithId(id)))
    if (there !== undefined && there.tenant !== this.#caller.tenant) throw idTaken('spaces', id)
    const row = await db.write(() => this.#insertSpace(id, own))
    const of = new SpaceImport(this.#context, row)
    this.#current = {
      name: space,
      of,
      documents: new DocumentsImport(of, this.#options.checks),
      number,
      place: 0,
      table: 'spaces',
    }
  }

  *#insertSpace(id: string, line: Line): Write<SpaceRow> {
    const { tenant } = this.#caller
    const there = yield* spaceWithId(id)
    if (there?.tenant === tenant && there.isDeleted === 1)
      throw new KsError('id-taken', `space ${id} was deleted here and is still being removed: try again later`)
    if (there !== undefined) throw idTaken('spaces', id)
    yield* beginImport(spaceOf(line, tenant, this.#slug), this.#context.instance, Date.now())
    const row = yield* findSpaceOrDeleting(tenant, id)
    if (row === undefined) throw new KsError('internal', 'a space vanished while it was made')
    return row
  }

  async #endSpace(): Promise<void> {
    this.#objects.assertNamed()
    const current = this.#current
    if (current === undefined) return
    await current.documents.endPage()
    await current.of.assertWhole()
    this.#done.push(current.of)
    this.#current = undefined
  }

  async #end(entry: TarEntry, kind: 'manifest' | 'end'): Promise<ImportedBundle> {
    const { checks } = this.#options
    if (kind !== 'end') throw invalid('has two manifests')
    const before = this.#reader.digestBefore()
    const end = this.#checked('end', await this.#json(entry), checks.end)
    await this.#endSpace()
    if (this.#done.length !== this.#manifest.length) throw invalid('does not have all spaces of its manifest')
    const isCounted =
      end.objects === this.#objects.count &&
      Object.keys(end.rows).length === this.#rows.size &&
      Object.entries(end.rows).every(([table, rows]) => this.#rows.get(table) === rows)
    if (!isCounted || end.sha256 !== before) throw invalid('is not what was written: its hash or its counts differ')
    if ((await this.#reader.next()) !== undefined) throw invalid('goes on behind its end')
    return await this.#show()
  }

  async #show(): Promise<ImportedBundle> {
    const { indexes, db } = this.#context
    // the first question finds all of it
    for (const { space, seq } of this.#done) if (seq > 0) await indexes.follow(space.id, seq)
    const told = {
      spaces: this.#done.map((one) => one.told()),
      objects: this.#objects.count,
      bytes: this.#reader.bytesRead,
    }
    await writeAnswer(db, this.#caller, () => this.#showAll(), { answer: () => told })
    for (const one of this.#done) one.shown()
    this.#done.length = 0
    return told
  }

  *#showAll(): Write<void> {
    yield* this.#assertRoom()
    for (const one of this.#done) yield* one.show()
  }

  async #json({ size, name }: TarEntry): Promise<unknown> {
    if (size > BUNDLE_LIMITS.manifestBytes) throw invalid(`has a ${name} of ${size} bytes`)
    const bytes = await this.#reader.whole()
    try {
      return parseBounded(name, bytes.toString('utf8'))
    } catch (cause) {
      if (cause instanceof KsError) throw cause
      throw invalid(`has a ${name} that is not JSON`, cause)
    }
  }

  #checked<T>(what: string, value: unknown, check: (value: unknown) => Checked<T>): T {
    const found = check(value)
    if ('problem' in found) throw invalid(`has a ${what} that does not fit: ${found.problem}`)
    return found.value
  }
}

type RowTableOf = Exclude<BundleTable, 'spaces'>

function isDocumentTable(table: BundleTable): table is DocumentTable {
  return order(table) >= 0
}

function order(table: BundleTable): number {
  const names: readonly string[] = DOCUMENT_TABLES
  return names.indexOf(table)
}
