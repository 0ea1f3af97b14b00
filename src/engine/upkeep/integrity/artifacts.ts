import { createHash, type Hash } from 'node:crypto'
import { KsError } from '../../../contract/errors.js'
import { omitUndefined } from '../../../lib/omit-undefined.js'
import { ReadClock } from '../../base/clock.js'
import { isTrained } from '../../library/index.js'
import {
  buildItemName,
  hashTextParts,
  readStoredElements,
  readStoredItems,
  readStoredText,
  type StoredArtifact,
  type StoredItem,
  walkSections,
} from '../../readers/index.js'
import type { CompiledOutlineNode } from '../../store/compiled.js'
import { matchesRowHash } from '../../store/node-hash.js'
import { PACKED_EMPTY_LIST, unpack, unpackChunks } from '../../store/packed.js'
import type { Read } from '../../store/program.js'
import { unlessDamaged } from '../../store/readable.js'
import { findLatestJob } from '../../store/rows/jobs.js'
import { loadPackedVersion, type PackedVersion } from '../../store/rows/version-parts.js'
import { type HashedNode, listHashedNodes } from '../rows/integrity/nodes.js'
import {
  type DocumentState,
  findItemBytes,
  findRetainedOwner,
  listDocumentStates,
  listScannedVersions,
  type ScannedVersion,
} from '../rows/integrity/versions.js'
import { createFinding, type IntegrityFinding, type IntegrityScan, type RepairRemedy } from './findings.js'
import { MAX_SLICE_FINDINGS, makeScanSlice, type ScanPhase } from './phase.js'

/** Versions of small documents are read in batches, those of large ones one by one. */
const SLICE_VERSIONS = { most: 64, bytes: 512 * 1024 }
const SLICE_DOCUMENTS = 200
const SLICE_NODES = 200

/** The parts of a version, as far as they can be read. */
export interface UnpackedVersion {
  artifact?: StoredArtifact
  outline?: CompiledOutlineNode[]
  items?: StoredItem[]
}

/** Unpacks the parts of a version completely, for a repair. A damaged part is absent. */
export async function unpackVersion(row: PackedVersion): Promise<UnpackedVersion> {
  const artifact = await unlessUnreadable(async () => ({
    text: (await collect(readStoredText(row.artifact))).join(''),
    elements: await collect(readStoredElements(row.artifact)),
  }))
  // parsed in one call: the hash of the version depends on the order of its keys
  const outline = await unlessUnreadable(() => unpack<unknown>(row.outline))
  const items = await unlessUnreadable(() => collect(readStoredItems(row.items)))
  return { ...omitUndefined({ artifact, outline: isOutline(outline) ? outline : undefined, items }) }
}

async function collect<T>(values: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const value of values) all.push(value)
  return all
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

function isOutline(value: unknown): value is CompiledOutlineNode[] {
  return Array.isArray(value) && value.every((entry) => typeof entry === 'object' && entry !== null)
}

/** The hash that `prepareDocument` stores for an artifact. */
export function hashArtifact(text: string, outline: CompiledOutlineNode[]): string {
  return createHash('sha256').update(text).update(JSON.stringify(outline)).digest('hex')
}

/** Checks one version. */
export type VersionCheck = (row: ScannedVersion) => Promise<IntegrityFinding[]>

/**
 * Creates a phase that checks one version after the other. @param prepare reads what the next versions need together
 */
export function createVersionPhase(
  prepare: (scan: IntegrityScan, rows: ScannedVersion[]) => Promise<VersionCheck>,
): ScanPhase {
  return async (scan, after) => {
    const { db } = scan.context
    const { rows, next } = await db.read(listScannedVersions(scan.space.key, Number(after ?? 0), SLICE_VERSIONS))
    const findings: IntegrityFinding[] = []
    const check = await prepare(scan, rows)
    const clock = new ReadClock()
    for (const [index, row] of rows.entries()) {
      const last = rows[index - 1]
      if (findings.length > MAX_SLICE_FINDINGS / 2 && last !== undefined)
        return { scanned: index, findings, next: last.key }
      if (clock.isYieldDue) await clock.yieldIfDue()
      const versionFindings = await check(hasAllPartsInRow(row) ? row : await db.read(loadPackedVersion(row)))
      if (versionFindings.length > 0 && (await db.read(findRetainedOwner(row.key))) !== undefined)
        findings.push(...versionFindings)
    }
    return { scanned: rows.length, findings, ...(next === undefined ? {} : { next }) }
  }
}

/** Whether all parts of a version are stored in its row. */
function hasAllPartsInRow({ artifact, outline, items }: PackedVersion): boolean {
  return artifact.length > 0 && outline.length > 0 && items.length > 0
}

const versionsPhase = createVersionPhase(async (scan) => (row) => checkVersion(scan, row))

async function checkVersion(scan: IntegrityScan, row: ScannedVersion): Promise<IntegrityFinding[]> {
  const remedy: RepairRemedy = { by: 'reading-again', versionKey: row.key }
  const target = {
    type: 'artifact-object',
    id: row.artifact_id,
    documentAssetId: row.document_id,
    parseArtifactId: row.artifact_id,
  } as const
  const name = `version ${row.version} of ${JSON.stringify(row.filename)}`
  const items = await unlessUnreadable(() => listAssets(row.items))
  const parts = {
    artifact: await unlessUnreadable(() => hashArtifactText(row.artifact)),
    outline: await unlessUnreadable(() => canReadOutline(row.outline)),
    items,
  }
  const findings: IntegrityFinding[] = []
  for (const part of ['artifact', 'outline', 'items'] as const) {
    if (parts[part] !== undefined) continue
    const [type, what] =
      row[part].length === 0
        ? (['missing-artifact-object', 'is missing'] as const)
        : (['segment-hash-mismatch', 'cannot be unpacked'] as const)
    findings.push(createFinding(type, `${part}-unreadable`, `the ${part} of ${name} ${what}`, { target, remedy }))
  }
  if (parts.artifact !== undefined && parts.outline !== undefined) {
    // the hash covers the JSON of the outline as it is stored
    for await (const piece of unpackChunks(row.outline)) parts.artifact.update(piece)
    if (parts.artifact.digest('hex') !== row.artifact_hash) {
      const message = `the artifact of ${name} differs from what was stored: its hash does not match`
      findings.push(createFinding('segment-hash-mismatch', 'artifact-hash', message, { target, remedy }))
    }
  }
  return [...findings, ...(await scan.context.db.read(checkAssets(row, items ?? [], name, remedy)))]
}

/** The hash of the text of an artifact whose elements can be read. @throws KsError `data-damaged` */
async function hashArtifactText(artifact: Uint8Array): Promise<Hash> {
  for await (const _ of readStoredElements(artifact));
  return await hashTextParts(readStoredText(artifact))
}

/** @returns true where an outline can be read @throws KsError `data-damaged` */
async function canReadOutline(outline: Uint8Array): Promise<true> {
  for await (const _ of walkSections(outline, {}));
  return true
}

/** A stored picture of a version. */
interface StoredAsset {
  itemId: string
  sha256: string
}

/** @throws KsError `data-damaged` */
async function listAssets(items: Uint8Array): Promise<StoredAsset[]> {
  const assets: StoredAsset[] = []
  if (PACKED_EMPTY_LIST.equals(items)) return assets
  let index = 0
  for await (const item of readStoredItems(items)) {
    if (item.asset !== undefined) assets.push({ itemId: buildItemName(item, index), sha256: item.asset.sha256 })
    index++
  }
  return assets
}

/** Checks the pictures of a version. Reports only the first damaged ones; a repair fixes all. */
function* checkAssets(
  row: ScannedVersion,
  assets: readonly StoredAsset[],
  name: string,
  remedy: RepairRemedy,
): Read<IntegrityFinding[]> {
  const findings: IntegrityFinding[] = []
  for (const { itemId: id, sha256 } of assets) {
    if (findings.length >= MAX_SLICE_FINDINGS / 4) break
    const stored = yield* findItemBytes(row.key, id)
    const target = {
      type: 'artifact-segment',
      id,
      documentAssetId: row.document_id,
      parseArtifactId: row.artifact_id,
    } as const
    if (stored === undefined)
      findings.push(
        createFinding('missing-artifact-object', 'item-missing', `${id} of ${name} has no bytes`, { target, remedy }),
      )
    else if (createHash('sha256').update(stored).digest('hex') !== sha256)
      findings.push(
        createFinding('segment-hash-mismatch', 'item-hash', `the bytes of ${id} of ${name} have another hash`, {
          target,
          remedy,
        }),
      )
  }
  return findings
}

/** Documents that should have a published version, or a running job, and have neither. */
const documentsPhase: ScanPhase = async (scan, after) => {
  const { rows, findings } = await scan.context.db.read(checkDocuments(scan, String(after ?? '')))
  return makeScanSlice(rows, SLICE_DOCUMENTS, findings, (row) => row.id)
}

function* checkDocuments(
  scan: IntegrityScan,
  after: string,
): Read<{ rows: DocumentState[]; findings: IntegrityFinding[] }> {
  const rows = yield* listDocumentStates(scan.space.key, after, SLICE_DOCUMENTS)
  const findings: IntegrityFinding[] = []
  for (const row of rows) findings.push(...(yield* checkDocument(scan, row)))
  return { rows, findings }
}

function* checkDocument(scan: IntegrityScan, row: DocumentState): Read<IntegrityFinding[]> {
  if (row.published === 1 || row.parser_status === 'failed') return []
  const job = yield* findLatestJob(row.key)
  if (job !== undefined && unlessDamaged(() => job.completed_at) === null) return []
  const target = { type: 'artifact-object', documentAssetId: row.id } as const
  const name = JSON.stringify(row.filename)
  // a provider's model costs money and may be unavailable: a person decides
  const remedy: RepairRemedy = isTrained(scan.space)
    ? { by: 'compiling-again', docKey: row.key }
    : { by: 'person', advice: `\`ks docs reindex ${row.id}\` reads it again` }
  const message =
    row.parser_status === 'parsed' ? `${name} has no published version` : `${name} waits to be read, but has no job`
  return [createFinding('missing-artifact-object', 'version-missing', message, { target, remedy })]
}

/** Compares the hash of every passage with the stored one. */
const nodesPhase: ScanPhase = async (scan, after) => {
  const { rows, findings } = await scan.context.db.read(checkNodes(scan, Number(after ?? 0)))
  return makeScanSlice(rows, SLICE_NODES, findings, (row) => row.key)
}

function* checkNodes(scan: IntegrityScan, after: number): Read<{ rows: HashedNode[]; findings: IntegrityFinding[] }> {
  const rows = yield* listHashedNodes(scan.space.key, after, SLICE_NODES)
  const findings: IntegrityFinding[] = []
  for (const row of rows) {
    if (matchesRowHash(row)) continue
    const owner = yield* findRetainedOwner(row.version_key)
    if (owner === undefined) continue
    const target = {
      type: 'knowledge-node',
      id: row.id,
      documentAssetId: owner.document,
      parseArtifactId: owner.artifact_id,
    } as const
    const message = `passage ${row.id} differs from what was stored: its hash does not match`
    const remedy: RepairRemedy = { by: 'reading-again', versionKey: row.version_key }
    findings.push(createFinding('segment-hash-mismatch', 'node-hash', message, { target, remedy }))
  }
  return { rows, findings }
}

export const artifactPhases: ScanPhase[] = [versionsPhase, documentsPhase, nodesPhase]
