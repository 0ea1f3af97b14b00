import { setTimeout as sleep } from 'node:timers/promises'
import { countLiveNodes, countLiveVectors } from '../rows/integrity/vectors.js'
import { lastSequence } from '../rows/projection-log.js'
import { isBuilding } from '../rows/projections.js'
import type { Read } from '../storage/program.js'
import { type Finding, finding, type Scan } from './findings.js'
import { vectorSpaceInUse } from './model-in-use.js'
import type { Phase } from './phase.js'

/** Running work makes rows and index differ for moments: they are compared again until both are unchanged. */
const ATTEMPTS = 20
const PAUSE_MS = 100

interface Truth {
  seq: number
  nodes: number
  vectors: number
  vectorSpace: string | undefined
  busy: boolean
}

/** Expected content of the indexes, counted from rows. */
function* truthOf(scan: Scan): Read<Truth> {
  const { space } = scan
  const active = yield* vectorSpaceInUse(scan)
  return {
    seq: yield* lastSequence(space.key),
    nodes: yield* countLiveNodes(space.key),
    vectors: active === undefined ? 0 : yield* countLiveVectors(active.key),
    vectorSpace: active?.id,
    busy: yield* isBuilding(space.key),
  }
}

/**
 * Compares the text and the vector index with the rows: both must contain all live passages and the newest change.
 * While a space is written to all the time they cannot be compared, and an issue of severity `info` reports that.
 */
export const projections: Phase = async (scan) => {
  let settled: Finding[] | undefined
  for (let attempt = 0; attempt < ATTEMPTS && settled === undefined; attempt++) {
    if (attempt > 0) await sleep(PAUSE_MS)
    const before = await scan.context.db.read(truthOf(scan))
    if (before.seq === 0) return { scanned: 0, findings: [] }
    await scan.context.indexes.settle(scan.space.id)
    const status = await scan.context.indexes.status(scan.space.id)
    const after = await scan.context.db.read(truthOf(scan))
    const still = before.seq === after.seq && before.nodes === after.nodes && before.vectors === after.vectors
    const differences = compare(scan, after, status)
    // Differences while documents compile say nothing about the indexes; the last attempt confirms those that stay.
    if (differences.length === 0 || (still && !after.busy && attempt === ATTEMPTS - 1)) settled = differences
  }
  return settled === undefined ? { scanned: 0, findings: [notCompared(scan)] } : { scanned: 2, findings: settled }
}

/** Reports that indexes and vectors could not be compared because of running work. */
export function notCompared({ space }: Scan): Finding {
  const message = `indexes and vectors of space ${space.slug} were not compared with the rows: documents are being compiled or vectors trained; check again when they are done`
  const target = { type: 'index-projection', id: space.id } as const
  return finding('stale-projection', 'index-not-compared', message, target, { by: 'nobody' }, 'info')
}

function compare(
  { space }: Scan,
  truth: Truth,
  status: { textWatermark: number; textCount: number; vectorCount: number },
): Finding[] {
  const found: Finding[] = []
  const add = (code: string, message: string, id: string) => {
    const target = { type: 'index-projection', id } as const
    found.push(
      finding('stale-projection', code, `${message} in space ${space.slug}`, target, { by: 'rebuilding-index' }),
    )
  }
  if (status.textWatermark !== truth.seq)
    add('text-watermark', `the text index is at change ${status.textWatermark}, the rows at ${truth.seq}`, 'text')
  if (status.textCount !== truth.nodes)
    add('text-count', `the text index holds ${status.textCount} passages, the rows ${truth.nodes}`, 'text')
  if (truth.vectorSpace !== undefined && status.vectorCount !== truth.vectors)
    add('vector-count', `the vector index holds ${status.vectorCount} vectors, the rows ${truth.vectors}`, 'vector')
  return found
}
