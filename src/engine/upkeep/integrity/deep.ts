import { analyzeDocument } from '../../../lib/text/analyze.js'
import { decodeHalfInto } from '../../store/half.js'
import type { Read } from '../../store/program.js'
import type { VectorSpace } from '../../store/rows/vector-spaces.js'
import { type IndexedNodeRow, isNodeLive, listIndexedNodes } from '../rows/integrity/nodes.js'
import { createFinding, type IntegrityFinding, type IntegrityScan } from './findings.js'
import { getVectorSpaceInUse } from './model-in-use.js'
import { makeScanSlice, type ScanPhase } from './phase.js'

const SLICE_NODES = 50
/** Passages with identical vectors may fill all hits; then equal similarity is enough. */
const VECTOR_HITS = 50
const TEXT_HITS = 1000
const MIN_SAME_COSINE = 0.9999

/**
 * Every live passage is found by its own vector among all, and by its rarest term within its document. Counts alone do
 * not reveal a graph index that can no longer reach a point, as approximate indexes may after many removals.
 */
const searchablePhase: ScanPhase = async (scan, after) => {
  const { context, space } = scan
  const { active, rows } = await context.db.read(readNodesToFind(scan, Number(after ?? 0)))
  if (rows.length > 0) await context.indexes.settle(space.id)
  const rarity = countByTerm(rows)
  const findings: IntegrityFinding[] = []
  for (const row of rows) {
    const byTerm = await isFoundByTerm(scan, row, rarity)
    const byVector = active === undefined || (await isFoundByVector(scan, row, active))
    if (byTerm && byVector) continue
    const current = await context.db.read(readCurrentState(scan, row.key))
    if (!current.isLive) continue
    if (!byTerm) findings.push(lostNodeFinding(row, 'text'))
    if (!byVector && current.vectorSpace === active?.id) findings.push(lostNodeFinding(row, 'vector'))
  }
  return makeScanSlice(rows, SLICE_NODES, findings, (row) => row.key)
}

function* readNodesToFind(
  scan: IntegrityScan,
  after: number,
): Read<{ active: VectorSpace | undefined; rows: IndexedNodeRow[] }> {
  const active = yield* getVectorSpaceInUse(scan)
  return { active, rows: yield* listIndexedNodes(scan.space.key, active?.key, after, SLICE_NODES) }
}

/** A passage and a model that existed a moment ago may have been replaced. */
function* readCurrentState(
  scan: IntegrityScan,
  nodeKey: number,
): Read<{ isLive: boolean; vectorSpace: string | undefined }> {
  return { isLive: yield* isNodeLive(nodeKey), vectorSpace: (yield* getVectorSpaceInUse(scan))?.id }
}

function lostNodeFinding(row: IndexedNodeRow, index: 'text' | 'vector'): IntegrityFinding {
  const how = index === 'text' ? 'its rarest term' : 'its own vector'
  return createFinding('stale-projection', `${index}-lost`, `passage ${row.id} is not found by ${how}`, {
    target: { type: 'index-projection', id: row.id, documentAssetId: row.document },
    remedy: { by: 'rebuilding-index' },
  })
}

/** Count of these passages that contain each term. */
function countByTerm(rows: IndexedNodeRow[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const row of rows)
    for (const term of new Set(analyzeDocument(row.text))) counts.set(term, (counts.get(term) ?? 0) + 1)
  return counts
}

async function isFoundByTerm(
  { context, space }: IntegrityScan,
  row: IndexedNodeRow,
  rarity: Map<string, number>,
): Promise<boolean> {
  let rarest: string | undefined
  for (const term of new Set(analyzeDocument(row.text)))
    if (rarest === undefined || (rarity.get(term) ?? 0) < (rarity.get(rarest) ?? 0)) rarest = term
  if (rarest === undefined) return true
  const { hits, textCount } = await context.indexes.search(space.id, {
    terms: [rarest],
    textK: TEXT_HITS,
    vectorK: 1,
    docs: [row.doc_key],
  })
  return textCount >= TEXT_HITS || hits.some((hit) => hit.key === row.key)
}

async function isFoundByVector(
  { context, space }: IntegrityScan,
  row: IndexedNodeRow,
  active: { id: string; dimension: number },
): Promise<boolean> {
  if (row.vector === null || row.vector.length !== 2 * active.dimension) return true
  const vector = new Float32Array(active.dimension)
  decodeHalfInto(row.vector, vector, 0)
  if (!vector.every(Number.isFinite)) return true
  const request = { terms: [], vector, vectorSpace: active.id, textK: 1, vectorK: VECTOR_HITS }
  const { hits } = await context.indexes.search(space.id, request)
  if (hits.some((hit) => hit.key === row.key)) return true
  return hits.length === VECTOR_HITS && hits.every((hit) => (hit.cosine ?? 0) >= MIN_SAME_COSINE)
}

export const deepPhases: ScanPhase[] = [searchablePhase]
