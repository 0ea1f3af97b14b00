import { omitUndefined } from '../../../lib/omit-undefined.js'
import { embedTrained, isTrained } from '../../library/index.js'
import { FLOATS } from '../../store/half.js'
import type { Read } from '../../store/program.js'
import { isSpaceBuilding } from '../../store/rows/projections.js'
import type { VectorSpace } from '../../store/rows/vector-spaces.js'
import {
  listActiveVectors,
  listNodesWithoutVector,
  type NodeWithoutVector,
  type OwnedVector,
} from '../rows/integrity/vectors.js'
import { createFinding, type IntegrityFinding, type IntegrityScan, type RepairRemedy } from './findings.js'
import { getVectorSpaceInUse } from './model-in-use.js'
import { makeScanSlice, type ScanPhase } from './phase.js'
import { notComparedFinding } from './projections.js'

const SLICE_VECTORS = 200
/** Passages without a vector are embedded to determine whether they could have one. */
const SLICE_MISSING = 64
/**
 * Vectors are stored with unit length in half precision; a flipped bit that matters changes the length by more than
 * this.
 */
const LENGTH_TOLERANCE = 0.01

/** Each vector in use must have its passage, its dimension and unit length. */
export const vectorsPhase: ScanPhase = async (scan, after) => {
  const rows = await scan.context.db.read(listActiveVectors(scan.space.key, Number(after ?? 0), SLICE_VECTORS))
  const findings = rows.flatMap((row) => checkVector(scan, row))
  return makeScanSlice(rows, SLICE_VECTORS, findings, (row) => row.node_key)
}

function checkVector(scan: IntegrityScan, row: OwnedVector): IntegrityFinding[] {
  const remedy: RepairRemedy = { by: 'removing-vector', vectorSpaceKey: row.vector_space, nodeKey: row.node_key }
  if (row.node === null) {
    const target = { type: 'index-projection', id: String(row.node_key) } as const
    return [
      createFinding('missing-node-target', 'vector-without-node', 'a vector belongs to no passage', { target, remedy }),
    ]
  }
  if (row.vector.length === 2 * row.dimension && hasUnitLength(row.vector)) return []
  const target = {
    type: 'index-projection',
    id: row.node,
    ...omitUndefined({ documentAssetId: row.document ?? undefined }),
  } as const
  const vectorRemedy: RepairRemedy = isTrained(scan.space)
    ? remedy
    : { by: 'person', advice: `\`ks docs reindex ${row.document ?? ''}\` uses the embedding model again` }
  return [
    createFinding('stale-projection', 'vector-damaged', `the vector of passage ${row.node} is damaged`, {
      target,
      remedy: vectorRemedy,
    }),
  ]
}

function hasUnitLength(halves: Uint8Array): boolean {
  let sum = 0
  for (let offset = 0; offset + 1 < halves.length; offset += 2) {
    const value = FLOATS[(halves[offset] ?? 0) | ((halves[offset + 1] ?? 0) << 8)] ?? Number.NaN
    sum += value * value
  }
  return Math.abs(Math.sqrt(sum) - 1) <= LENGTH_TOLERANCE
}

/**
 * Live passages without a vector in the model in use, although they could have one: a passage of unknown words has
 * none. Vectors that a provider still has to compute appear in the status of the space.
 */
export const missingVectorsPhase: ScanPhase = async (scan, after) => {
  const { context, space } = scan
  const { active, rows, busy } = await context.db.read(readNodesWithoutVector(scan, Number(after ?? 0)))
  if (active === undefined || rows.length === 0) return { scanned: 0, findings: [] }
  // missing vectors may be about to be computed
  if (busy) return { scanned: 0, findings: [notComparedFinding(scan)] }
  const trained = isTrained(space)
  const possible = trained
    ? await embedTrained(
        context,
        active,
        rows.map((row) => `${row.title}\n${row.text}`),
      )
    : undefined
  const findings = rows
    .filter((_, index) => possible === undefined || possible[index] !== undefined)
    .map((row) =>
      createFinding('stale-projection', 'vector-missing', `passage ${row.id} has no vector`, {
        target: { type: 'index-projection', id: row.id, documentAssetId: row.document },
        remedy: trained
          ? { by: 'filling-vectors' }
          : { by: 'person', advice: `\`ks docs reindex ${row.document}\` uses the embedding model` },
      }),
    )
  return makeScanSlice(rows, SLICE_MISSING, findings, (row) => row.key)
}

function* readNodesWithoutVector(
  scan: IntegrityScan,
  after: number,
): Read<{ active: VectorSpace | undefined; rows: NodeWithoutVector[]; busy: boolean }> {
  const { key } = scan.space
  const active = yield* getVectorSpaceInUse(scan)
  const rows = active === undefined ? [] : yield* listNodesWithoutVector(key, active.key, after, SLICE_MISSING)
  return { active, rows, busy: yield* isSpaceBuilding(key) }
}
