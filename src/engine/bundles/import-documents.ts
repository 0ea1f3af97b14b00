import { KsError } from '../../contract/errors.js'
import type { Bindable } from '../base/statements.js'
import { takeNodeKeys } from '../compile/node-keys.js'
import type { StoredPart } from '../parse/stored.js'
import type { DocumentTable } from '../rows/bundles/tables.js'
import {
  insertKeyed,
  insertModelRead,
  insertRow,
  insertStoredVector,
  takenId,
  takenNode,
} from '../rows/bundles/write.js'
import { logAdded } from '../rows/projection-log.js'
import { versionOverQuota } from '../spaces/quota.js'
import { FLOATS } from '../storage/half.js'
import { nodeHash } from '../storage/node-hash.js'
import { ObjectStore } from '../storage/objects.js'
import type { Write } from '../storage/program.js'
import type { BundleChecks } from './checks.js'
import { invalid } from './format.js'
import { held, idTaken, type SpaceImport } from './import-space.js'
import { PackedCheck, type PartHashes } from './packed.js'
import { bytesOf, type Line, numberOf, type Reads, textOf } from './rows.js'

const SLICE_NODES = 500
const PARTS = ['artifact', 'outline', 'items'] as const

interface Version {
  key: number
  docKey: number
  /** key of its first passage, and how many there are to be */
  firstNode: number
  expected: number
  isLive: boolean
  /** passages that came so far, and those with a vector */
  seen: number
  vectors: number
  hash: string
  hashes: PartHashes
  /** packed parts that came so far */
  parts: Set<StoredPart>
}

interface Document {
  key: number
  isParsed: boolean
  /** published versions that are not superseded */
  live: number
}

/** A packed column that stands beside its row, and comes in pieces. */
interface Open {
  version: Version
  part: StoredPart
  place: number
  check: PackedCheck
}

/** The documents of a space, page by page: what refers to a document comes before the next page. */
export class DocumentsImport {
  readonly #of: SpaceImport
  readonly #checks: BundleChecks
  #documents = new Map<string, Document>()
  #versions = new Map<string, Version>()
  #open: Open | undefined

  constructor(of: SpaceImport, checks: BundleChecks) {
    this.#of = of
    this.#checks = checks
  }

  async add(table: Exclude<DocumentTable, 'documents'>, lines: readonly Line[]): Promise<void> {
    if (table !== 'version_parts') await this.#endPart()
    if (table === 'versions') await this.#addVersions(lines)
    else if (table === 'version_parts') await this.#addParts(lines)
    else if (table === 'item_assets') await this.#addAssets(lines)
    else await this.#addNodes(lines)
  }

  /** Writes documents, inside the caller's transaction. @returns their keys, for `noted` */
  *insertDocuments(lines: readonly Line[]): Write<number[]> {
    const { space, context } = this.#of
    return yield* held(space.key, context.instance, () => this.#insert(lines))
  }

  *#insert(lines: readonly Line[]): Write<number[]> {
    const { space } = this.#of
    const taken = yield* takenId(
      space.tenant,
      'documents',
      lines.map(({ id }) => textOf(id)),
    )
    if (taken !== undefined) throw idTaken('documents', taken)
    const keys: number[] = []
    for (const line of lines) {
      const object_key = ObjectStore.key(space.tenant, textOf(line.sha256))
      keys.push(yield* insertKeyed('documents', this.#of.cells('documents', line, { object_key })))
    }
    return keys
  }

  /** What `insertDocuments` wrote is committed. */
  noted(lines: readonly Line[], keys: readonly number[]): void {
    for (const [at, line] of lines.entries()) {
      const isParsed = line.parser_status === 'parsed'
      this.#documents.set(textOf(line.id), { key: keys[at] ?? 0, isParsed, live: 0 })
    }
    this.#of.documents += lines.length
  }

  /** Documents as they have to be: none is on its way, and none is of a source that is not there. */
  assertDocuments(lines: readonly Line[]): void {
    this.#of.assertSources(lines.map(({ source_id }) => source_id))
    const pending = lines.find((line) => line.parser_status === 'pending')
    if (pending !== undefined) throw invalid(`has a document ${textOf(pending.id)} that is still on its way`)
  }

  /** @throws KsError `invalid-bundle` unless all that belongs to the documents has come */
  async endPage(): Promise<void> {
    await this.#endPart()
    for (const [id, { isParsed, live }] of this.#documents)
      if (live > 1 || (isParsed && live === 0)) throw invalid(`has ${live} current versions of document ${id}`)
    for (const [name, version] of this.#versions) {
      if (version.seen !== version.expected)
        throw invalid(`has ${version.seen} passages of ${name} and not ${version.expected}`)
      const missing = PARTS.find((part) => !version.parts.has(part))
      if (missing !== undefined) throw invalid(`has no ${missing} of ${name}`)
      if (version.hashes.whole !== undefined && version.hashes.whole !== version.hash)
        throw invalid(`has an artifact of ${name} that does not have its hash`)
      if (version.isLive) this.#of.withoutVectors += version.seen - version.vectors
    }
    this.#documents = new Map()
    this.#versions = new Map()
  }

  async #addVersions(lines: readonly Line[]): Promise<void> {
    for (const line of lines) {
      const document = this.#documentOf(line)
      const version = await this.#readVersion(line, document)
      const key = await this.#of.write(() => this.#insertVersion(line, document, version))
      const name = nameOf(line)
      if (this.#versions.has(name)) throw invalid(`has ${name} twice`)
      this.#versions.set(name, { ...version, key })
      if (version.isLive) document.live += 1
    }
  }

  async #readVersion(line: Line, document: Document): Promise<Omit<Version, 'key'>> {
    const { space, context } = this.#of
    const [from, until] = [numberOf(line.from_revision ?? -1), line.until_revision]
    const isLive = until === undefined
    const [expected, count] = [numberOf(line.nodes), numberOf(line.node_count)]
    const isOver = !isLive && (numberOf(until) > space.head_revision || numberOf(until) <= from)
    if (from < 0 || from > space.head_revision || isOver || numberOf(line.version) < 1)
      throw invalid(`has ${nameOf(line)} of a publication that its space does not have`)
    if (expected !== count && (isLive || expected !== 0))
      throw invalid(`has ${nameOf(line)} with ${expected} of its ${count} passages`)
    const hashes: PartHashes = {}
    const parts = new Set<StoredPart>()
    for (const part of PARTS) {
      const bytes = bytesOf(line[part])
      if (bytes.length === 0) continue
      const check = new PackedCheck(part, this.#checks, hashes)
      await check.add(bytes)
      await endCheck(parts, part, nameOf(line), check)
    }
    const firstNode = await takeNodeKeys(context, expected)
    const hash = textOf(line.artifact_hash)
    return { docKey: document.key, firstNode, expected, isLive, seen: 0, vectors: 0, hash, hashes, parts }
  }

  *#insertVersion(line: Line, document: Document, version: Omit<Version, 'key'>): Write<number> {
    const { context, space } = this.#of
    const { firstNode, expected } = version
    const made: Record<string, Bindable> = {
      doc_key: document.key,
      first_node: expected === 0 ? null : firstNode,
      last_node: expected === 0 ? null : firstNode + expected - 1,
    }
    const key = yield* insertKeyed('versions', this.#of.cells('versions', line, made))
    // what it takes is counted by now
    const over = yield* versionOverQuota(context, space, { artifactBytes: 0, segments: 0, nodes: 0 })
    if (over !== undefined) throw new KsError(over.code, over.message)
    return key
  }

  async #addParts(lines: readonly Line[]): Promise<void> {
    for (const line of lines) {
      const version = this.#versionOf(line)
      const part = PARTS.find((name) => name === line.part)
      const place = numberOf(line.place)
      const isNext = this.#open?.version === version && this.#open.part === part
      if (!isNext) await this.#endPart()
      if (part === undefined || place !== (this.#open?.place ?? -1) + 1 || version.parts.has(part))
        throw invalid(`has parts of ${nameOf(line)} that do not follow one another`)
      this.#open ??= { version, part, place: -1, check: new PackedCheck(part, this.#checks, version.hashes) }
      this.#open.place = place
      await this.#open.check.add(bytesOf(line.bytes))
      const cells = this.#of.cells('version_parts', line, { version_key: version.key })
      await this.#of.write(() => insertRow('version_parts', cells))
    }
  }

  async #endPart(): Promise<void> {
    const open = this.#open
    this.#open = undefined
    if (open !== undefined) await endCheck(open.version.parts, open.part, 'a version', open.check)
  }

  async #addAssets(lines: readonly Line[]): Promise<void> {
    const { createHash } = await import('node:crypto')
    for (const line of lines) {
      const version = this.#versionOf(line)
      if (createHash('sha256').update(bytesOf(line.bytes)).digest('hex') !== line.sha256)
        throw invalid(`has a picture of ${nameOf(line)} that does not have its hash`)
      const cells = this.#of.cells('item_assets', line, { version_key: version.key })
      await this.#of.write(() => insertRow('item_assets', cells))
    }
  }

  async #addNodes(lines: readonly Line[]): Promise<void> {
    const rows = lines.map((line) => this.#nodeOf(line))
    for (let from = 0; from < rows.length; from += SLICE_NODES) {
      const slice = rows.slice(from, from + SLICE_NODES)
      const seq = await this.#of.write(() => this.#insertNodes(slice))
      this.#of.seq = Math.max(this.#of.seq, seq)
    }
    this.#of.nodes += rows.length
  }

  #nodeOf(line: Line): Node {
    const { vectors } = this.#of
    const version = this.#versionOf(line)
    const ordinal = numberOf(line.ordinal)
    if (ordinal !== version.seen || ordinal >= version.expected)
      throw invalid(`has passages of ${nameOf(line)} that do not follow one another`)
    version.seen += 1
    const vector = line.vector === undefined ? undefined : bytesOf(line.vector)
    if (vector !== undefined && (vectors === undefined || !isVector(vector, vectors.dimension)))
      throw invalid(`has a vector of ${nameOf(line)} that is none of its vector space`)
    if (vector !== undefined) version.vectors += 1
    const reads: Reads = Array.isArray(line.reads) ? line.reads : []
    return { line, version, key: version.firstNode + ordinal, vector, reads }
  }

  *#insertNodes(nodes: readonly Node[]): Write<number> {
    const { space, vectors } = this.#of
    const taken = yield* takenNode(nodes.map(({ line }) => textOf(line.id)))
    if (taken !== undefined) throw idTaken('nodes', taken)
    for (const { line, version, key, vector, reads } of nodes) {
      const row_hash = nodeHash({
        title: textOf(line.title),
        text: textOf(line.text),
        startOffset: numberOf(line.start_offset),
        endOffset: numberOf(line.end_offset),
      })
      const made = { key, doc_key: version.docKey, version_key: version.key, row_hash }
      yield* insertRow('nodes', this.#of.cells('nodes', line, made))
      if (vector !== undefined && vectors !== undefined) yield* insertStoredVector(vectors.key, key, vector)
      for (const [model, text_hash, said] of reads) yield* insertModelRead(space.key, key, { model, text_hash, said })
    }
    let seq = 0
    for (const [first, last] of ranges(nodes)) seq = yield* logAdded(space.key, first, last)
    return seq
  }

  #documentOf(line: Line): Document {
    const document = this.#documents.get(textOf(line.document))
    if (document === undefined) throw invalid(`has ${nameOf(line)}, and the document is not before it`)
    return document
  }

  #versionOf(line: Line): Version {
    const version = this.#versions.get(nameOf(line))
    if (version === undefined) throw invalid(`has rows of ${nameOf(line)}, and the version is not before them`)
    return version
  }
}

interface Node {
  line: Line
  version: Version
  key: number
  vector: Buffer | undefined
  reads: Reads
}

/** Neighbouring keys of passages that the indexes are to know. */
function ranges(nodes: readonly Node[]): [number, number][] {
  const found: [number, number][] = []
  for (const { key, version } of nodes) {
    const last = found.at(-1)
    if (!version.isLive) continue
    if (last !== undefined && last[1] === key - 1) last[1] = key
    else found.push([key, key])
  }
  return found
}

function nameOf(line: Line): string {
  return `version ${numberOf(line.version)} of document ${textOf(line.document)}`
}

function isVector(bytes: Buffer, dimension: number): boolean {
  if (bytes.length !== 2 * dimension) return false
  for (let at = 0; at < bytes.length; at += 2) if (!Number.isFinite(FLOATS[bytes.readUInt16LE(at)])) return false
  return true
}

async function endCheck(parts: Set<StoredPart>, part: StoredPart, name: string, check: PackedCheck): Promise<void> {
  const problem = await check.end()
  if (problem !== undefined) throw invalid(`has a packed ${part} of ${name} that ${problem}`)
  parts.add(part)
}
