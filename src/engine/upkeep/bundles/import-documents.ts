import { createHash } from 'node:crypto'
import { KsError } from '../../../contract/errors.js'
import type { Bindable } from '../../base/statements.js'
import { allocateNodeKeys } from '../../ingest/index.js'
import { checkVersionQuota } from '../../library/index.js'
import type { StoredPart } from '../../readers/index.js'
import { FLOATS } from '../../store/half.js'
import { hashNode } from '../../store/node-hash.js'
import { ObjectStore } from '../../store/objects.js'
import type { Write } from '../../store/program.js'
import { logAdded } from '../../store/rows/projection-log.js'
import type { DocumentTable } from '../rows/bundles/tables.js'
import {
  findTakenId,
  findTakenNode,
  insertBundledRow,
  insertModelRead,
  insertRowWithKey,
  insertStoredVector,
} from '../rows/bundles/write.js'
import type { BundleChecks } from './checks.js'
import { invalidBundle } from './format.js'
import { idTakenError, type SpaceImport, withImportClaim } from './import-space.js'
import { PackedCheck, type PartHashes } from './packed-check.js'
import { type BundleLine, type ModelReads, toBytes, toCheckedNumber, toCheckedText } from './rows.js'

const SLICE_NODES = 500
const PARTS = ['artifact', 'outline', 'items'] as const

interface ImportedVersion {
  key: number
  docKey: number
  /** key of its first passage, and expected count of passages */
  firstNode: number
  expected: number
  isLive: boolean
  /** passages received so far, and those with a vector */
  seen: number
  vectors: number
  hash: string
  hashes: PartHashes
  /** packed parts received so far */
  parts: Set<StoredPart>
}

interface ImportedDocument {
  key: number
  isParsed: boolean
  /** published versions that are not superseded */
  live: number
}

/** A packed column that is stored outside its row, and arrives in pieces. */
interface OpenPart {
  version: ImportedVersion
  part: StoredPart
  place: number
  check: PackedCheck
}

/** Imports the documents of a space, page by page: rows that refer to a document arrive before the next page. */
export class DocumentsImport {
  readonly #spaceImport: SpaceImport
  readonly #checks: BundleChecks
  #documents = new Map<string, ImportedDocument>()
  #versions = new Map<string, ImportedVersion>()
  #open: OpenPart | undefined

  constructor(of: SpaceImport, checks: BundleChecks) {
    this.#spaceImport = of
    this.#checks = checks
  }

  async add(table: Exclude<DocumentTable, 'documents'>, lines: readonly BundleLine[]): Promise<void> {
    if (table !== 'version_parts') await this.#endPart()
    if (table === 'versions') await this.#addVersions(lines)
    else if (table === 'version_parts') await this.#addParts(lines)
    else if (table === 'item_assets') await this.#addAssets(lines)
    else await this.#addNodes(lines)
  }

  /** Inserts documents, inside the caller's transaction. @returns their keys, for `recordInserted` */
  *insertDocuments(lines: readonly BundleLine[]): Write<number[]> {
    const { space, context } = this.#spaceImport
    return yield* withImportClaim(space.key, context.instance, () => this.#insert(lines))
  }

  *#insert(lines: readonly BundleLine[]): Write<number[]> {
    const { space } = this.#spaceImport
    const existingId = yield* findTakenId(
      space.tenant,
      'documents',
      lines.map(({ id }) => toCheckedText(id)),
    )
    if (existingId !== undefined) throw idTakenError('documents', existingId)
    const keys: number[] = []
    for (const line of lines) {
      const object_key = ObjectStore.key(space.tenant, toCheckedText(line.sha256))
      keys.push(yield* insertRowWithKey('documents', this.#spaceImport.cells('documents', line, { object_key })))
    }
    return keys
  }

  /** Records documents whose insertion is committed. */
  recordInserted(lines: readonly BundleLine[], keys: readonly number[]): void {
    for (const [index, line] of lines.entries()) {
      const isParsed = line.parser_status === 'parsed'
      this.#documents.set(toCheckedText(line.id), { key: keys[index] ?? 0, isParsed, live: 0 })
    }
    this.#spaceImport.documents += lines.length
  }

  /** Checks that no document is in progress or has a source that the bundle lacks. */
  assertDocuments(lines: readonly BundleLine[]): void {
    this.#spaceImport.assertSources(lines.map(({ source_id }) => source_id))
    const pending = lines.find((line) => line.parser_status === 'pending')
    if (pending !== undefined)
      throw invalidBundle(`has a document ${toCheckedText(pending.id)} that is still being processed`)
  }

  /** @throws KsError `invalid-bundle` unless everything that belongs to the documents has arrived */
  async endPage(): Promise<void> {
    await this.#endPart()
    for (const [id, { isParsed, live }] of this.#documents)
      if (live > 1 || (isParsed && live === 0)) throw invalidBundle(`has ${live} current versions of document ${id}`)
    for (const [name, version] of this.#versions) {
      if (version.seen !== version.expected)
        throw invalidBundle(`has ${version.seen} passages of ${name} and not ${version.expected}`)
      const missing = PARTS.find((part) => !version.parts.has(part))
      if (missing !== undefined) throw invalidBundle(`has no ${missing} of ${name}`)
      if (version.hashes.complete !== undefined && version.hashes.complete !== version.hash)
        throw invalidBundle(`has an artifact of ${name} that does not have its hash`)
      if (version.isLive) this.#spaceImport.withoutVectors += version.seen - version.vectors
    }
    this.#documents = new Map()
    this.#versions = new Map()
  }

  async #addVersions(lines: readonly BundleLine[]): Promise<void> {
    for (const line of lines) {
      const document = this.#documentOf(line)
      const version = await this.#readVersion(line, document)
      const key = await this.#spaceImport.write(() => this.#insertVersion(line, document, version))
      const name = formatVersionName(line)
      if (this.#versions.has(name)) throw invalidBundle(`has ${name} twice`)
      this.#versions.set(name, { ...version, key })
      if (version.isLive) document.live += 1
    }
  }

  async #readVersion(line: BundleLine, document: ImportedDocument): Promise<Omit<ImportedVersion, 'key'>> {
    const { space, context } = this.#spaceImport
    const [start, until] = [toCheckedNumber(line.from_revision ?? -1), line.until_revision]
    const isLive = until === undefined
    const [expected, count] = [toCheckedNumber(line.nodes), toCheckedNumber(line.node_count)]
    const isOver = !isLive && (toCheckedNumber(until) > space.head_revision || toCheckedNumber(until) <= start)
    if (start < 0 || start > space.head_revision || isOver || toCheckedNumber(line.version) < 1)
      throw invalidBundle(`has ${formatVersionName(line)} of a publication that its space does not have`)
    if (expected !== count && (isLive || expected !== 0))
      throw invalidBundle(`has ${formatVersionName(line)} with ${expected} of its ${count} passages`)
    const hashes: PartHashes = {}
    const parts = new Set<StoredPart>()
    for (const part of PARTS) {
      const bytes = toBytes(line[part])
      if (bytes.length === 0) continue
      const check = new PackedCheck(part, this.#checks, hashes)
      await check.add(bytes)
      await finishPart(parts, part, formatVersionName(line), check)
    }
    const firstNode = await allocateNodeKeys(context, expected)
    const hash = toCheckedText(line.artifact_hash)
    return { docKey: document.key, firstNode, expected, isLive, seen: 0, vectors: 0, hash, hashes, parts }
  }

  *#insertVersion(line: BundleLine, document: ImportedDocument, version: Omit<ImportedVersion, 'key'>): Write<number> {
    const { context, space } = this.#spaceImport
    const { firstNode, expected } = version
    const added: Record<string, Bindable> = {
      doc_key: document.key,
      first_node: expected === 0 ? null : firstNode,
      last_node: expected === 0 ? null : firstNode + expected - 1,
    }
    const key = yield* insertRowWithKey('versions', this.#spaceImport.cells('versions', line, added))
    // the triggers have counted the version by now
    const over = yield* checkVersionQuota(context, space, { artifactBytes: 0, segments: 0, nodes: 0 })
    if (over !== undefined) throw new KsError(over.code, over.message)
    return key
  }

  async #addParts(lines: readonly BundleLine[]): Promise<void> {
    for (const line of lines) {
      const version = this.#versionOf(line)
      const part = PARTS.find((name) => name === line.part)
      const place = toCheckedNumber(line.place)
      const isNext = this.#open?.version === version && this.#open.part === part
      if (!isNext) await this.#endPart()
      if (part === undefined || place !== (this.#open?.place ?? -1) + 1 || version.parts.has(part))
        throw invalidBundle(`has parts of ${formatVersionName(line)} that do not follow one another`)
      this.#open ??= { version, part, place: -1, check: new PackedCheck(part, this.#checks, version.hashes) }
      this.#open.place = place
      await this.#open.check.add(toBytes(line.bytes))
      const cells = this.#spaceImport.cells('version_parts', line, { version_key: version.key })
      await this.#spaceImport.write(() => insertBundledRow('version_parts', cells))
    }
  }

  async #endPart(): Promise<void> {
    const open = this.#open
    this.#open = undefined
    if (open !== undefined) await finishPart(open.version.parts, open.part, 'a version', open.check)
  }

  async #addAssets(lines: readonly BundleLine[]): Promise<void> {
    for (const line of lines) {
      const version = this.#versionOf(line)
      if (createHash('sha256').update(toBytes(line.bytes)).digest('hex') !== line.sha256)
        throw invalidBundle(`has a picture of ${formatVersionName(line)} that does not have its hash`)
      const cells = this.#spaceImport.cells('item_assets', line, { version_key: version.key })
      await this.#spaceImport.write(() => insertBundledRow('item_assets', cells))
    }
  }

  async #addNodes(lines: readonly BundleLine[]): Promise<void> {
    const rows = lines.map((line) => this.#nodeOf(line))
    for (let start = 0; start < rows.length; start += SLICE_NODES) {
      const slice = rows.slice(start, start + SLICE_NODES)
      const seq = await this.#spaceImport.write(() => this.#insertNodes(slice))
      this.#spaceImport.seq = Math.max(this.#spaceImport.seq, seq)
    }
    this.#spaceImport.nodes += rows.length
  }

  #nodeOf(line: BundleLine): ImportedNode {
    const { vectors } = this.#spaceImport
    const version = this.#versionOf(line)
    const ordinal = toCheckedNumber(line.ordinal)
    if (ordinal !== version.seen || ordinal >= version.expected)
      throw invalidBundle(`has passages of ${formatVersionName(line)} that do not follow one another`)
    version.seen += 1
    const vector = line.vector === undefined ? undefined : toBytes(line.vector)
    if (vector !== undefined && (vectors === undefined || !isVectorOf(vector, vectors.dimension)))
      throw invalidBundle(`has a vector of ${formatVersionName(line)} that does not fit its vector space`)
    if (vector !== undefined) version.vectors += 1
    const reads: ModelReads = Array.isArray(line.reads) ? line.reads : []
    return { line, version, key: version.firstNode + ordinal, vector, reads }
  }

  *#insertNodes(nodes: readonly ImportedNode[]): Write<number> {
    const { space, vectors } = this.#spaceImport
    const existingId = yield* findTakenNode(nodes.map(({ line }) => toCheckedText(line.id)))
    if (existingId !== undefined) throw idTakenError('nodes', existingId)
    for (const { line, version, key, vector, reads } of nodes) {
      const row_hash = hashNode({
        title: toCheckedText(line.title),
        text: toCheckedText(line.text),
        startOffset: toCheckedNumber(line.start_offset),
        endOffset: toCheckedNumber(line.end_offset),
      })
      const added = { key, doc_key: version.docKey, version_key: version.key, row_hash }
      yield* insertBundledRow('nodes', this.#spaceImport.cells('nodes', line, added))
      if (vector !== undefined && vectors !== undefined) yield* insertStoredVector(vectors.key, key, vector)
      for (const [model, text_hash, said] of reads) yield* insertModelRead(space.key, key, { model, text_hash, said })
    }
    let seq = 0
    for (const [first, last] of toKeyRanges(nodes)) seq = yield* logAdded(space.key, first, last)
    return seq
  }

  #documentOf(line: BundleLine): ImportedDocument {
    const document = this.#documents.get(toCheckedText(line.document))
    if (document === undefined) throw invalidBundle(`has ${formatVersionName(line)}, and the document is not before it`)
    return document
  }

  #versionOf(line: BundleLine): ImportedVersion {
    const version = this.#versions.get(formatVersionName(line))
    if (version === undefined)
      throw invalidBundle(`has rows of ${formatVersionName(line)}, and the version is not before them`)
    return version
  }
}

interface ImportedNode {
  line: BundleLine
  version: ImportedVersion
  key: number
  vector: Buffer | undefined
  reads: ModelReads
}

/** Ranges of consecutive passage keys that the indexes must add. */
function toKeyRanges(nodes: readonly ImportedNode[]): [number, number][] {
  const keyRanges: [number, number][] = []
  for (const { key, version } of nodes) {
    const last = keyRanges.at(-1)
    if (!version.isLive) continue
    if (last !== undefined && last[1] === key - 1) last[1] = key
    else keyRanges.push([key, key])
  }
  return keyRanges
}

function formatVersionName(line: BundleLine): string {
  return `version ${toCheckedNumber(line.version)} of document ${toCheckedText(line.document)}`
}

function isVectorOf(bytes: Buffer, dimension: number): boolean {
  if (bytes.length !== 2 * dimension) return false
  for (let offset = 0; offset < bytes.length; offset += 2)
    if (!Number.isFinite(FLOATS[bytes.readUInt16LE(offset)])) return false
  return true
}

async function finishPart(parts: Set<StoredPart>, part: StoredPart, name: string, check: PackedCheck): Promise<void> {
  const problem = await check.end()
  if (problem !== undefined) throw invalidBundle(`has a packed ${part} of ${name} that ${problem}`)
  parts.add(part)
}
