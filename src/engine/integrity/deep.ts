import { analyzeDocument } from '../../lib/text/analyze.js'
import { type IndexedNode, indexedNodes, isNodeLive } from '../rows/integrity/nodes.js'
import type { VectorSpace } from '../rows/vector-spaces.js'
import { decodeHalfInto } from '../storage/half.js'
import type { Read } from '../storage/program.js'
import { type Finding, finding, type Scan } from './findings.js'
import { vectorSpaceInUse } from './model-in-use.js'
import { type Phase, sliceOf } from './phase.js'

const SLICE_NODES = 50
/** Passages with identical vectors may fill all hits; then equal similarity is enough. */
const VECTOR_HITS = 50
const TEXT_HITS = 1000
const SAME = 0.9999

/**
 * Every live passage is found by its own vector among all, and by its rarest term within its document. Counts alone do
 * not reveal a graph index that can no longer reach a point, as approximate indexes may after many removals.
 */
const everyNode: Phase = async (scan, after) => {
  const { context, space } = scan
  const { active, rows } = await context.db.read(nodesToFind(scan, Number(after ?? 0)))
  if (rows.length > 0) await context.indexes.settle(space.id)
  const rarity = frequencies(rows)
  const findings: Finding[] = []
  for (const row of rows) {
    const byWord = await isFoundByWord(scan, row, rarity)
    const byVector = active === undefined || (await isFoundByVector(scan, row, active))
    if (byWord && byVector) continue
    const there = await context.db.read(stateNow(scan, row.key))
    if (!there.isLive) continue
    if (!byWord) findings.push(lostNode(row, 'text'))
    if (!byVector && there.vectorSpace === active?.id) findings.push(lostNode(row, 'vector'))
  }
  return sliceOf(rows, SLICE_NODES, findings, (row) => row.key)
}

function* nodesToFind(scan: Scan, after: number): Read<{ active: VectorSpace | undefined; rows: IndexedNode[] }> {
  const active = yield* vectorSpaceInUse(scan)
  return { active, rows: yield* indexedNodes(scan.space.key, active?.key, after, SLICE_NODES) }
}

/** A passage and a model that existed a moment ago may have been replaced. */
function* stateNow(scan: Scan, nodeKey: number): Read<{ isLive: boolean; vectorSpace: string | undefined }> {
  return { isLive: yield* isNodeLive(nodeKey), vectorSpace: (yield* vectorSpaceInUse(scan))?.id }
}

function lostNode(row: IndexedNode, index: 'text' | 'vector'): Finding {
  const how = index === 'text' ? 'its rarest term' : 'its own vector'
  return finding(
    'stale-projection',
    `${index}-lost`,
    `passage ${row.id} is not found by ${how}`,
    { type: 'index-projection', id: row.id, documentAssetId: row.document },
    { by: 'rebuilding-index' },
  )
}

/** Count of these passages that contain each term. */
function frequencies(rows: IndexedNode[]): Map<string, number> {
  const found = new Map<string, number>()
  for (const row of rows)
    for (const term of new Set(analyzeDocument(row.text))) found.set(term, (found.get(term) ?? 0) + 1)
  return found
}

async function isFoundByWord(
  { context, space }: Scan,
  row: IndexedNode,
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
  { context, space }: Scan,
  row: IndexedNode,
  active: { id: string; dimension: number },
): Promise<boolean> {
  if (row.vector === null || row.vector.length !== 2 * active.dimension) return true
  const vector = new Float32Array(active.dimension)
  decodeHalfInto(row.vector, vector, 0)
  if (!vector.every(Number.isFinite)) return true
  const request = { terms: [], vector, vectorSpace: active.id, textK: 1, vectorK: VECTOR_HITS }
  const { hits } = await context.indexes.search(space.id, request)
  if (hits.some((hit) => hit.key === row.key)) return true
  return hits.length === VECTOR_HITS && hits.every((hit) => (hit.cosine ?? 0) >= SAME)
}

export const deepPhases: Phase[] = [everyNode]
