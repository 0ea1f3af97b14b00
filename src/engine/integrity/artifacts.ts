import { createHash, type Hash } from 'node:crypto'
import { KsError } from '../../contract/errors.js'
import { defined } from '../../lib/defined.js'
import { Clock } from '../base/clock.js'
import { isTrained } from '../compile/vector-spaces.js'
import type { CompiledElement, CompiledOutlineNode } from '../parse/compiled.js'
import { hashOfText, storedElements, storedItems, storedText, walkSections } from '../parse/read-stored.js'
import { itemName, type StoredArtifact, type StoredItem } from '../parse/stored.js'
import { type HashedNode, hashedNodes } from '../rows/integrity/nodes.js'
import {
  type DocumentState,
  documentStates,
  itemBytes,
  ownerOfKept,
  type ScannedVersion,
  versionsAfter,
} from '../rows/integrity/versions.js'
import { latestJob } from '../rows/jobs.js'
import { type Packed, withParts } from '../rows/version-parts.js'
import { nodeHash } from '../storage/node-hash.js'
import { PACKED_NOTHING, unpack, unpackedPieces } from '../storage/packed.js'
import type { Read } from '../storage/program.js'
import { unlessDamaged } from '../storage/readable.js'
import { type Finding, finding, type Remedy, type Scan } from './findings.js'
import { type Phase, SLICE_FINDINGS, sliceOf } from './phase.js'

/** Versions of small documents are read in batches, those of large ones one by one. */
const SLICE_VERSIONS = { most: 64, bytes: 512 * 1024 }
const SLICE_DOCUMENTS = 200
const SLICE_NODES = 200

/** The parts of a version, as far as they can be read. */
export interface ReadVersion {
  artifact?: StoredArtifact
  outline?: CompiledOutlineNode[]
  items?: StoredItem[]
}

/** Unpacks the parts of a version completely, for a repair. A damaged part is absent. */
export async function readVersion(row: Packed): Promise<ReadVersion> {
  const artifact = await unpacked(row.artifact, isArtifact)
  const outline = await unpacked(row.outline, isList<CompiledOutlineNode>)
  const items = await unpacked(row.items, isList<StoredItem>)
  return { ...defined({ artifact, outline, items }) }
}

async function unpacked<T>(bytes: Uint8Array, fits: (value: unknown) => value is T): Promise<T | undefined> {
  const value = await unlessUnreadable(() => unpack<unknown>(bytes))
  return fits(value) ? value : undefined
}

/** The result of reading a packed part; undefined where the part is damaged. */
export async function unlessUnreadable<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof KsError && error.code === 'data-damaged') return undefined
    throw error
  }
}

function isArtifact(value: unknown): value is StoredArtifact {
  if (typeof value !== 'object' || value === null || !('text' in value) || !('elements' in value)) return false
  return typeof value.text === 'string' && isList<CompiledElement>(value.elements)
}

function isList<T>(value: unknown): value is T[] {
  return Array.isArray(value) && value.every((entry) => typeof entry === 'object' && entry !== null)
}

/** The hash that `prepareVersion` stores for an artifact. */
export function artifactHash(text: string, outline: CompiledOutlineNode[]): string {
  return createHash('sha256').update(text).update(JSON.stringify(outline)).digest('hex')
}

/** Checks one version. */
export type VersionCheck = (row: ScannedVersion) => Promise<Finding[]>

/**
 * Creates a phase that checks one version after the other. @param prepare reads what the next versions need together
 */
export function versionPhase(prepare: (scan: Scan, rows: ScannedVersion[]) => Promise<VersionCheck>): Phase {
  return async (scan, after) => {
    const { db } = scan.context
    const { rows, next } = await db.read(versionsAfter(scan.space.key, Number(after ?? 0), SLICE_VERSIONS))
    const findings: Finding[] = []
    const check = await prepare(scan, rows)
    const clock = new Clock()
    for (const [place, row] of rows.entries()) {
      const last = rows[place - 1]
      if (findings.length > SLICE_FINDINGS / 2 && last !== undefined)
        return { scanned: place, findings, next: last.key }
      if (clock.due) await clock.turn()
      const found = await check(isInRow(row) ? row : await db.read(withParts(row)))
      if (found.length > 0 && (await db.read(ownerOfKept(row.key))) !== undefined) findings.push(...found)
    }
    return { scanned: rows.length, findings, ...(next === undefined ? {} : { next }) }
  }
}

/** Whether all parts of a version are stored in its row. */
function isInRow({ artifact, outline, items }: Packed): boolean {
  return artifact.length > 0 && outline.length > 0 && items.length > 0
}

const versions = versionPhase(async (scan) => (row) => checkVersion(scan, row))

async function checkVersion(scan: Scan, row: ScannedVersion): Promise<Finding[]> {
  const remedy: Remedy = { by: 'reading-again', versionKey: row.key }
  const target = {
    type: 'artifact-object',
    id: row.artifact_id,
    documentAssetId: row.document_id,
    parseArtifactId: row.artifact_id,
  } as const
  const name = `version ${row.version} of ${JSON.stringify(row.filename)}`
  const items = await unlessUnreadable(() => assetsOf(row.items))
  const read = {
    artifact: await unlessUnreadable(() => textHash(row.artifact)),
    outline: await unlessUnreadable(() => isOutline(row.outline)),
    items,
  }
  const findings: Finding[] = []
  for (const part of ['artifact', 'outline', 'items'] as const) {
    if (read[part] !== undefined) continue
    const [type, what] =
      row[part].length === 0
        ? (['missing-artifact-object', 'is missing'] as const)
        : (['segment-hash-mismatch', 'cannot be unpacked'] as const)
    findings.push(finding(type, `${part}-unreadable`, `the ${part} of ${name} ${what}`, target, remedy))
  }
  if (read.artifact !== undefined && read.outline !== undefined) {
    // the hash covers the JSON of the outline as it is stored
    for await (const piece of unpackedPieces(row.outline)) read.artifact.update(piece)
    if (read.artifact.digest('hex') !== row.artifact_hash) {
      const message = `the artifact of ${name} differs from what was stored: its hash does not match`
      findings.push(finding('segment-hash-mismatch', 'artifact-hash', message, target, remedy))
    }
  }
  return [...findings, ...(await scan.context.db.read(checkAssets(row, items ?? [], name, remedy)))]
}

/** The hash of the text of an artifact whose elements can be read. @throws KsError `data-damaged` */
async function textHash(artifact: Uint8Array): Promise<Hash> {
  for await (const _ of storedElements(artifact));
  return await hashOfText(storedText(artifact))
}

/** @returns true where an outline can be read @throws KsError `data-damaged` */
async function isOutline(outline: Uint8Array): Promise<true> {
  for await (const _ of walkSections(outline, {}));
  return true
}

/** A stored picture of a version. */
interface StoredAsset {
  itemId: string
  sha256: string
}

/** @throws KsError `data-damaged` */
async function assetsOf(items: Uint8Array): Promise<StoredAsset[]> {
  const assets: StoredAsset[] = []
  if (PACKED_NOTHING.equals(items)) return assets
  let index = 0
  for await (const item of storedItems(items)) {
    if (item.asset !== undefined) assets.push({ itemId: itemName(item, index), sha256: item.asset.sha256 })
    index++
  }
  return assets
}

/** Checks the pictures of a version. Reports only the first damaged ones; a repair fixes all. */
function* checkAssets(
  row: ScannedVersion,
  assets: readonly StoredAsset[],
  name: string,
  remedy: Remedy,
): Read<Finding[]> {
  const findings: Finding[] = []
  for (const { itemId: id, sha256 } of assets) {
    if (findings.length >= SLICE_FINDINGS / 4) break
    const stored = yield* itemBytes(row.key, id)
    const target = {
      type: 'artifact-segment',
      id,
      documentAssetId: row.document_id,
      parseArtifactId: row.artifact_id,
    } as const
    if (stored === undefined)
      findings.push(finding('missing-artifact-object', 'item-missing', `${id} of ${name} has no bytes`, target, remedy))
    else if (createHash('sha256').update(stored).digest('hex') !== sha256)
      findings.push(
        finding(
          'segment-hash-mismatch',
          'item-hash',
          `the bytes of ${id} of ${name} have another hash`,
          target,
          remedy,
        ),
      )
  }
  return findings
}

/** Documents that should have a published version, or a running job, and have neither. */
const documents: Phase = async (scan, after) => {
  const { rows, findings } = await scan.context.db.read(checkDocuments(scan, String(after ?? '')))
  return sliceOf(rows, SLICE_DOCUMENTS, findings, (row) => row.id)
}

function* checkDocuments(scan: Scan, after: string): Read<{ rows: DocumentState[]; findings: Finding[] }> {
  const rows = yield* documentStates(scan.space.key, after, SLICE_DOCUMENTS)
  const findings: Finding[] = []
  for (const row of rows) findings.push(...(yield* checkDocument(scan, row)))
  return { rows, findings }
}

function* checkDocument(scan: Scan, row: DocumentState): Read<Finding[]> {
  if (row.published === 1 || row.parser_status === 'failed') return []
  const job = yield* latestJob(row.key)
  if (job !== undefined && unlessDamaged(() => job.completed_at) === null) return []
  const target = { type: 'artifact-object', documentAssetId: row.id } as const
  const name = JSON.stringify(row.filename)
  // a provider's model costs money and may be unavailable: a person decides
  const remedy: Remedy = isTrained(scan.space)
    ? { by: 'compiling-again', docKey: row.key }
    : { by: 'person', advice: `\`ks docs reindex ${row.id}\` compiles it again` }
  const message =
    row.parser_status === 'parsed'
      ? `${name} has no published version`
      : `${name} waits to be compiled, but has no job`
  return [finding('missing-artifact-object', 'version-missing', message, target, remedy)]
}

/** Compares the hash of every passage with the stored one. */
const nodes: Phase = async (scan, after) => {
  const { rows, findings } = await scan.context.db.read(checkNodes(scan, Number(after ?? 0)))
  return sliceOf(rows, SLICE_NODES, findings, (row) => row.key)
}

function* checkNodes(scan: Scan, after: number): Read<{ rows: HashedNode[]; findings: Finding[] }> {
  const rows = yield* hashedNodes(scan.space.key, after, SLICE_NODES)
  const findings: Finding[] = []
  for (const row of rows) {
    const { title, text, start_offset: startOffset, end_offset: endOffset } = row
    if (Buffer.compare(nodeHash({ title, text, startOffset, endOffset }), row.row_hash) === 0) continue
    const owner = yield* ownerOfKept(row.version_key)
    if (owner === undefined) continue
    const target = {
      type: 'knowledge-node',
      id: row.id,
      documentAssetId: owner.document,
      parseArtifactId: owner.artifact_id,
    } as const
    const message = `passage ${row.id} differs from what was stored: its hash does not match`
    const remedy: Remedy = { by: 'reading-again', versionKey: row.version_key }
    findings.push(finding('segment-hash-mismatch', 'node-hash', message, target, remedy))
  }
  return { rows, findings }
}

export const artifactPhases: Phase[] = [versions, documents, nodes]
