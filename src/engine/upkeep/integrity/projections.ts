import { setTimeout as sleep } from 'node:timers/promises'
import { formatCount, pluralize } from '../../../lib/text/pluralize.js'
import type { Read } from '../../store/program.js'
import { getLastSequence } from '../../store/rows/projection-log.js'
import { isSpaceBuilding } from '../../store/rows/projections.js'
import { countLiveNodes, countLiveVectors } from '../rows/integrity/vectors.js'
import { createFinding, type IntegrityFinding, type IntegrityScan } from './findings.js'
import { getVectorSpaceInUse } from './model-in-use.js'
import type { ScanPhase } from './phase.js'

/** Running work makes rows and index differ for moments: they are compared again until both are unchanged. */
const ATTEMPTS = 20
const PAUSE_MS = 100

interface ProjectionState {
  seq: number
  nodes: number
  vectors: number
  vectorSpace: string | undefined
  busy: boolean
}

/** Expected content of the indexes, counted from rows. */
function* readProjectionState(scan: IntegrityScan): Read<ProjectionState> {
  const { space } = scan
  const active = yield* getVectorSpaceInUse(scan)
  return {
    seq: yield* getLastSequence(space.key),
    nodes: yield* countLiveNodes(space.key),
    vectors: active === undefined ? 0 : yield* countLiveVectors(active.key),
    vectorSpace: active?.id,
    busy: yield* isSpaceBuilding(space.key),
  }
}

/**
 * Compares the text and the vector index with the rows: both must contain all live passages and the newest change.
 * While a space is written to all the time they cannot be compared, and an issue of severity `info` reports that.
 */
export const projectionsPhase: ScanPhase = async (scan) => {
  let finalDifferences: IntegrityFinding[] | undefined
  for (let attempt = 0; attempt < ATTEMPTS && finalDifferences === undefined; attempt++) {
    if (attempt > 0) await sleep(PAUSE_MS)
    const before = await scan.context.db.read(readProjectionState(scan))
    if (before.seq === 0) return { scanned: 0, findings: [] }
    await scan.context.indexes.settle(scan.space.id)
    const status = await scan.context.indexes.status(scan.space.id)
    const after = await scan.context.db.read(readProjectionState(scan))
    const isUnchanged = before.seq === after.seq && before.nodes === after.nodes && before.vectors === after.vectors
    const differences = compareCounts(scan, after, status)
    // Differences while documents compile say nothing about the indexes; the last attempt confirms those that stay.
    if (differences.length === 0 || (isUnchanged && !after.busy && attempt === ATTEMPTS - 1))
      finalDifferences = differences
  }
  return finalDifferences === undefined
    ? { scanned: 0, findings: [notComparedFinding(scan)] }
    : { scanned: 2, findings: finalDifferences }
}

/** Reports that indexes and vectors could not be compared because of running work. */
export function notComparedFinding({ space }: IntegrityScan): IntegrityFinding {
  const message = `indexes and vectors of space ${space.slug} were not compared with the database: documents are being read or vectors trained; check again when they are done`
  const target = { type: 'index-projection', id: space.id } as const
  return createFinding('stale-projection', 'index-not-compared', message, {
    target,
    remedy: { by: 'nobody' },
    severity: 'info',
  })
}

function compareCounts(
  { space }: IntegrityScan,
  expected: ProjectionState,
  status: { textWatermark: number; textCount: number; vectorCount: number },
): IntegrityFinding[] {
  const findings: IntegrityFinding[] = []
  const add = (code: string, message: string, id: string) => {
    const target = { type: 'index-projection', id } as const
    findings.push(
      createFinding('stale-projection', code, `${message} in space ${space.slug}`, {
        target,
        remedy: { by: 'rebuilding-index' },
      }),
    )
  }
  if (status.textWatermark !== expected.seq)
    add(
      'text-watermark',
      `the text index is at change ${status.textWatermark}, the database at ${expected.seq}`,
      'text',
    )
  if (status.textCount !== expected.nodes)
    add(
      'text-count',
      `the text index has ${pluralize(status.textCount, 'passage')}, the database ${formatCount(expected.nodes)}`,
      'text',
    )
  if (expected.vectorSpace !== undefined && status.vectorCount !== expected.vectors)
    add(
      'vector-count',
      `the vector index has ${pluralize(status.vectorCount, 'vector')}, the database ${formatCount(expected.vectors)}`,
      'vector',
    )
  return findings
}
