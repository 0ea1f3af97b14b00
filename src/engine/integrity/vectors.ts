import { defined } from '../../lib/defined.js'
import { embedTrained } from '../compile/embeddings.js'
import { isTrained } from '../compile/vector-spaces.js'
import {
  type NodeWithoutVector,
  nodesWithoutVector,
  type OwnedVector,
  vectorsInUse,
} from '../rows/integrity/vectors.js'
import { isBuilding } from '../rows/projections.js'
import type { VectorSpace } from '../rows/vector-spaces.js'
import { FLOATS } from '../storage/half.js'
import type { Read } from '../storage/program.js'
import { type Finding, finding, type Remedy, type Scan } from './findings.js'
import { vectorSpaceInUse } from './model-in-use.js'
import { type Phase, sliceOf } from './phase.js'
import { notCompared } from './projections.js'

const SLICE_VECTORS = 200
/** Passages without a vector are embedded to determine whether they could have one. */
const SLICE_MISSING = 64
/**
 * Vectors are stored with unit length in half precision; a flipped bit that matters changes the length by more than
 * this.
 */
const LENGTH_TOLERANCE = 0.01

/** Each vector in use must have its passage, its dimension and unit length. */
export const vectors: Phase = async (scan, after) => {
  const rows = await scan.context.db.read(vectorsInUse(scan.space.key, Number(after ?? 0), SLICE_VECTORS))
  const findings = rows.flatMap((row) => checkVector(scan, row))
  return sliceOf(rows, SLICE_VECTORS, findings, (row) => row.node_key)
}

function checkVector(scan: Scan, row: OwnedVector): Finding[] {
  const remedy: Remedy = { by: 'removing-vector', vectorSpaceKey: row.vector_space, nodeKey: row.node_key }
  if (row.node === null) {
    const target = { type: 'index-projection', id: String(row.node_key) } as const
    return [finding('missing-node-target', 'vector-without-node', 'a vector belongs to no passage', target, remedy)]
  }
  if (row.vector.length === 2 * row.dimension && hasUnitLength(row.vector)) return []
  const target = {
    type: 'index-projection',
    id: row.node,
    ...defined({ documentAssetId: row.document ?? undefined }),
  } as const
  const again: Remedy = isTrained(scan.space)
    ? remedy
    : { by: 'person', advice: `\`ks docs reindex ${row.document ?? ''}\` uses the embedding model again` }
  return [finding('stale-projection', 'vector-damaged', `the vector of passage ${row.node} is damaged`, target, again)]
}

function hasUnitLength(halves: Uint8Array): boolean {
  let sum = 0
  for (let at = 0; at + 1 < halves.length; at += 2) {
    const value = FLOATS[(halves[at] ?? 0) | ((halves[at + 1] ?? 0) << 8)] ?? Number.NaN
    sum += value * value
  }
  return Math.abs(Math.sqrt(sum) - 1) <= LENGTH_TOLERANCE
}

/**
 * Live passages without a vector in the model in use, although they could have one: a passage of unknown words has
 * none. Vectors that a provider still has to compute appear in the status of the space.
 */
export const missingVectors: Phase = async (scan, after) => {
  const { context, space } = scan
  const { active, rows, busy } = await context.db.read(nodesLeftOut(scan, Number(after ?? 0)))
  if (active === undefined || rows.length === 0) return { scanned: 0, findings: [] }
  // missing vectors may be about to be computed
  if (busy) return { scanned: 0, findings: [notCompared(scan)] }
  const trained = isTrained(space)
  const possible = trained
    ? await embedTrained(
        context,
        active,
        rows.map((row) => `${row.title}\n${row.text}`),
      )
    : undefined
  const findings = rows
    .filter((_, place) => possible === undefined || possible[place] !== undefined)
    .map((row) =>
      finding(
        'stale-projection',
        'vector-missing',
        `passage ${row.id} has no vector`,
        { type: 'index-projection', id: row.id, documentAssetId: row.document },
        trained
          ? { by: 'filling-vectors' }
          : { by: 'person', advice: `\`ks docs reindex ${row.document}\` uses the embedding model` },
      ),
    )
  return sliceOf(rows, SLICE_MISSING, findings, (row) => row.key)
}

function* nodesLeftOut(
  scan: Scan,
  after: number,
): Read<{ active: VectorSpace | undefined; rows: NodeWithoutVector[]; busy: boolean }> {
  const { key } = scan.space
  const active = yield* vectorSpaceInUse(scan)
  const rows = active === undefined ? [] : yield* nodesWithoutVector(key, active.key, after, SLICE_MISSING)
  return { active, rows, busy: yield* isBuilding(key) }
}
