import { KsError } from '../../../contract/errors.js'
import type { BundleManifest, ImportedBundle } from '../../../contract/gateway/bundles.js'
import { type TarEntry, TarError, TarReader } from '../../../lib/tar.js'
import type { Caller } from '../../base/caller.js'
import { asDeployment } from '../../base/tenant-scope.js'
import type { EngineContext } from '../../library/index.js'
import { SCHEMA } from '../../store/migrations.js'
import type { Read, Write } from '../../store/program.js'
import { countSpaces, findSpaceBySlug } from '../../store/rows/space-changes.js'
import { findSpaceOrDeleting, type SpaceRow } from '../../store/rows/spaces.js'
import { isConstraintViolation } from '../../store/sql-errors.js'
import { writeReply } from '../../store/write-reply.js'
import { beginImport, findSpaceOfAnyTenant } from '../rows/bundles/imports.js'
import { DOCUMENT_TABLES, type DocumentTable } from '../rows/bundles/tables.js'
import type { BundleCheckResult, BundleChecks } from './checks.js'
import { type BundleFileName, FORMAT_VERSION, getTablePosition, invalidBundle, parseFileName } from './format.js'
import { DocumentsImport } from './import-documents.js'
import { COPY_ADVICE, idTakenError, SpaceImport } from './import-space.js'
import { toImportedSpace } from './imported-space.js'
import { BUNDLE_LIMITS } from './limits.js'
import { parseBounded, readLines } from './lines.js'
import { createNewIds, type IdReplacer } from './new-ids.js'
import { ReceivedObjects } from './received-objects.js'
import { type BundleLine, type BundleTable, toCheckedText } from './rows.js'

export interface ImportOptions {
  /** slug of the only space, instead of its own */
  slug?: string
  /** slug of a copy of the only space, in which all ids are new */
  as?: string
  checks: BundleChecks
  /** aborts when the engine closes */
  signal: AbortSignal
}

/**
 * Imports the spaces of a bundle while its bytes arrive. Rows and objects are stored under hidden spaces, and one
 * transaction at the end makes all of them visible. After a failure they are purged.
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
    await work.cleanUp()
    if (error instanceof TarError) throw invalidBundle(error.message, error)
    if (isConstraintViolation(error))
      throw invalidBundle('has rows that contradict each other: duplicate ids or positions', error)
    throw error
  }
}

/** The space whose files are being read, with the position of the last file. */
interface CurrentSpace {
  /** id of the space in the bundle */
  name: string
  spaceImport: SpaceImport
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
  readonly #newIds: IdReplacer | undefined
  readonly #slug: string | undefined
  readonly #rows = new Map<string, number>()
  #manifest: BundleManifest['spaces'] = []
  #current: CurrentSpace | undefined

  constructor(context: EngineContext, caller: Caller, source: AsyncIterable<Uint8Array>, options: ImportOptions) {
    this.#context = context
    this.#caller = caller
    this.#options = options
    this.#slug = options.as ?? options.slug
    this.#newIds = options.as === undefined ? undefined : createNewIds()
    this.#objects = new ReceivedObjects(context, caller.tenant)
    this.#reader = new TarReader(source)
  }

  async run(): Promise<ImportedBundle> {
    const first = await this.#reader.next()
    if (first === undefined || parseFileName(first.name).kind !== 'manifest')
      throw invalidBundle('does not begin with its manifest')
    await this.#begin(this.#validate('manifest', await this.#json(first), this.#options.checks.manifest))
    for (;;) {
      this.#options.signal.throwIfAborted()
      const entry = await this.#reader.next()
      if (entry === undefined) throw invalidBundle('has no end')
      const fileName = parseFileName(entry.name)
      if (fileName.kind === 'object') await this.#object(entry, fileName.sha256)
      else if (fileName.kind === 'rows') await this.#rowsFile(entry, fileName)
      else return await this.#end(entry, fileName.kind)
    }
  }

  /** Cleans up: removes received objects and leaves stored rows to the purge. */
  async cleanUp(): Promise<void> {
    const { log } = this.#context
    await this.#objects.discard()
    const begun = this.#current === undefined ? this.#done : [...this.#done, this.#current.spaceImport]
    for (const spaceImport of begun)
      await spaceImport
        .discard()
        .catch((error: unknown) => log.warn({ error: String(error) }, 'a failed import is removed later'))
    this.#context.wake()
  }

  async #begin(manifest: BundleManifest): Promise<void> {
    if (manifest.version > FORMAT_VERSION || manifest.schema > SCHEMA)
      throw invalidBundle(
        `has format ${manifest.version} and schema ${manifest.schema}: use a newer version of this program`,
      )
    const ids = manifest.spaces.map(({ id }) => id)
    if (ids.some((id, at) => at > 0 && id <= (ids[at - 1] ?? '')))
      throw invalidBundle('does not have its spaces in order')
    if (this.#slug !== undefined && ids.length > 1)
      throw new KsError(
        'invalid-request',
        `${this.#options.as === undefined ? 'slug' : 'as'} must be given for a bundle of one space, ` +
          `this one has ${ids.length}`,
      )
    this.#manifest = manifest.spaces
    await this.#context.db.read(this.#assertCapacity())
  }

  /** Runs at the start, so that nothing is read in vain, and again at the end. */
  *#assertCapacity(): Read<void> {
    const { tenant } = this.#caller
    const { spacesPerTenant } = this.#context.options.limits
    if ((yield* countSpaces(tenant)) + this.#manifest.length > spacesPerTenant)
      throw new KsError('capacity-exceeded', `a tenant holds at most ${spacesPerTenant} knowledge spaces`)
    for (const { slug } of this.#manifest) {
      const requiredSlug = this.#slug ?? slug
      const holder = yield* findSpaceBySlug(tenant, requiredSlug)
      if (holder !== undefined)
        throw new KsError(
          'slug-taken',
          `slug ${JSON.stringify(requiredSlug)} is already used by space ${holder.id}: ${COPY_ADVICE}`,
        )
    }
  }

  async #object(entry: TarEntry, sha256: string): Promise<void> {
    if (this.#current === undefined) throw invalidBundle(`has object ${sha256} out of place`)
    await this.#objects.receive(sha256, entry.size, this.#reader.content())
  }

  async #rowsFile(entry: TarEntry, fileName: Extract<BundleFileName, { kind: 'rows' }>): Promise<void> {
    const { table } = fileName
    if (entry.size > BUNDLE_LIMITS.rowsBytes || entry.size === 0)
      throw invalidBundle(
        `has a file of ${table} of ${entry.size} bytes, at most ${BUNDLE_LIMITS.rowsBytes} are possible`,
      )
    const lines = readLines(table, await this.#reader.readAll(), this.#options.checks)
    this.#rows.set(table, (this.#rows.get(table) ?? 0) + lines.length)
    const ids = this.#newIds
    if (table === 'spaces') await this.#beginSpace(fileName, lines)
    else
      await this.#addLines(
        this.#advanceTo(fileName),
        table,
        ids === undefined ? lines : lines.map((line) => ids.line(table, line)),
      )
  }

  /** The current space, to which the next file must belong, in order. */
  #advanceTo({ space, number, table }: Extract<BundleFileName, { kind: 'rows' }>): CurrentSpace {
    const current = this.#current
    const place = getTablePosition(table)
    const isNext = current?.name === space && number === current.number + 1 && place >= current.place
    if (current === undefined || !isNext) throw invalidBundle(`has file ${number} of space ${space} out of place`)
    current.number = number
    current.place = place
    return current
  }

  async #addLines(current: CurrentSpace, table: NonSpaceTable, lines: BundleLine[]): Promise<void> {
    const previous = current.table
    current.table = table
    const isDocuments = isDocumentTable(table)
    // each file of documents starts a page
    if (table === 'documents' || !isDocuments) await current.documents.endPage()
    if (
      isDocuments &&
      isDocumentTable(previous) &&
      getDocumentTableIndex(table) < getDocumentTableIndex(previous) &&
      table !== 'documents'
    )
      throw invalidBundle(`has rows of ${table} after those of ${previous}`)
    if (table === 'documents') await this.#addDocuments(current.documents, lines)
    else if (isDocuments) {
      this.#objects.assertAllReferenced()
      await current.documents.add(table, lines)
    } else if (table === 'workspace_files' || table === 'snapshot_files')
      await this.#objects.insertWithObjects(lines, () => current.spaceImport.addFiles(table, lines))
    else await current.spaceImport.add(table, lines)
  }

  async #addDocuments(documents: DocumentsImport, lines: BundleLine[]): Promise<void> {
    documents.assertDocuments(lines)
    const keys = await this.#objects.insertWithObjects(lines, () => documents.insertDocuments(lines))
    documents.recordInserted(lines, keys)
  }

  async #beginSpace({ space, number }: Extract<BundleFileName, { kind: 'rows' }>, lines: BundleLine[]): Promise<void> {
    await this.#endSpace()
    const expected = this.#manifest[this.#done.length]
    const [line, more] = lines
    if (line === undefined || more !== undefined || number !== 1 || line.id !== space || expected?.id !== space)
      throw invalidBundle(`has space ${space} out of place`)
    if (
      line.fingerprint !== expected.fingerprint ||
      line.head_revision !== expected.headRevision ||
      line.slug !== expected.slug
    )
      throw invalidBundle(`has space ${space} otherwise than its manifest`)
    const { db } = this.#context
    // on a server, a transaction of this tenant would not see a space of another one
    const own = this.#newIds?.line('spaces', line) ?? line
    const id = toCheckedText(own.id)
    const existing = await asDeployment(() => db.read(findSpaceOfAnyTenant(id)))
    if (existing !== undefined && existing.tenant !== this.#caller.tenant) throw idTakenError('spaces', id)
    const row = await db.write(() => this.#insertSpace(id, own))
    const spaceImport = new SpaceImport(this.#context, row)
    this.#current = {
      name: space,
      spaceImport,
      documents: new DocumentsImport(spaceImport, this.#options.checks),
      number,
      place: 0,
      table: 'spaces',
    }
  }

  *#insertSpace(id: string, line: BundleLine): Write<SpaceRow> {
    const { tenant } = this.#caller
    const existing = yield* findSpaceOfAnyTenant(id)
    if (existing?.tenant === tenant && existing.isDeleted === 1)
      throw new KsError('id-taken', `space ${id} was deleted here and is still being removed: try again later`)
    if (existing !== undefined) throw idTakenError('spaces', id)
    yield* beginImport(toImportedSpace(line, tenant, this.#slug), this.#context.instance)
    const row = yield* findSpaceOrDeleting(tenant, id)
    if (row === undefined) throw new KsError('internal', 'a space vanished while it was made')
    return row
  }

  async #endSpace(): Promise<void> {
    this.#objects.assertAllReferenced()
    const current = this.#current
    if (current === undefined) return
    await current.documents.endPage()
    await current.spaceImport.assertComplete()
    this.#done.push(current.spaceImport)
    this.#current = undefined
  }

  async #end(entry: TarEntry, kind: 'manifest' | 'end'): Promise<ImportedBundle> {
    const { checks } = this.#options
    if (kind !== 'end') throw invalidBundle('has two manifests')
    const previous = this.#reader.digestBefore()
    const end = this.#validate('end', await this.#json(entry), checks.end)
    await this.#endSpace()
    if (this.#done.length !== this.#manifest.length) throw invalidBundle('does not have all spaces of its manifest')
    const isCounted =
      end.objects === this.#objects.count &&
      Object.keys(end.rows).length === this.#rows.size &&
      Object.entries(end.rows).every(([table, rows]) => this.#rows.get(table) === rows)
    if (!isCounted || end.sha256 !== previous)
      throw invalidBundle('is not what was written: its hash or its counts differ')
    if ((await this.#reader.next()) !== undefined) throw invalidBundle('continues after its end')
    return await this.#makeVisible()
  }

  async #makeVisible(): Promise<ImportedBundle> {
    const { indexes, db } = this.#context
    // the first query must find everything
    for (const { space, seq } of this.#done) if (seq > 0) await indexes.follow(space.id, seq)
    const summary = {
      spaces: this.#done.map((spaceImport) => spaceImport.toSummary()),
      objects: this.#objects.count,
      bytes: this.#reader.bytesRead,
    }
    await writeReply(db, this.#caller, () => this.#makeAllVisible(), { toReply: () => summary })
    for (const spaceImport of this.#done) spaceImport.notifyPublished()
    this.#done.length = 0
    return summary
  }

  *#makeAllVisible(): Write<void> {
    yield* this.#assertCapacity()
    for (const spaceImport of this.#done) yield* spaceImport.makeVisible()
  }

  async #json({ size, name }: TarEntry): Promise<unknown> {
    if (size > BUNDLE_LIMITS.manifestBytes) throw invalidBundle(`has a ${name} of ${size} bytes`)
    const bytes = await this.#reader.readAll()
    try {
      return parseBounded(name, bytes.toString('utf8'))
    } catch (cause) {
      if (cause instanceof KsError) throw cause
      throw invalidBundle(`has a ${name} that is not JSON`, cause)
    }
  }

  #validate<T>(what: string, value: unknown, check: (value: unknown) => BundleCheckResult<T>): T {
    const result = check(value)
    if ('problem' in result) throw invalidBundle(`has a ${what} that does not fit: ${result.problem}`)
    return result.value
  }
}

type NonSpaceTable = Exclude<BundleTable, 'spaces'>

function isDocumentTable(table: BundleTable): table is DocumentTable {
  return getDocumentTableIndex(table) >= 0
}

function getDocumentTableIndex(table: BundleTable): number {
  const names: readonly string[] = DOCUMENT_TABLES
  return names.indexOf(table)
}
