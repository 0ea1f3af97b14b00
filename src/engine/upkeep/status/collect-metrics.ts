import type { DurationCounts } from '../../../lib/durations.js'
import type { DegradedCount } from '../../base/metrics.js'
import type { EngineContext } from '../../library/index.js'
import type { DatabaseCounts } from '../../store/driver.js'
import type { ObjectRequests } from '../../store/objects.js'
import { readUnlessDamaged } from '../../store/write-stop.js'
import { countJobsByStage, listLogHeads } from '../rows/metrics.js'

/** The engine's counters since its start, and its current queues. */
export interface MetricsSnapshot {
  database: DatabaseCounts
  /** open jobs by their last durable stage */
  jobs: ReadonlyMap<string, number>
  claimWaits: DurationCounts
  answers: { all: number; degraded: readonly DegradedCount[] }
  queries: { running: number; waiting: number }
  /** leases of this process */
  leases: { active: ReadonlyMap<string, number>; expired: number }
  /** of the spaces with open indexes: log entries that the index has not applied yet */
  indexes: { open: number; pendingEntries: number; maxPendingEntries: number }
  objects: readonly ObjectRequests[]
}

type MetricsContext = Pick<EngineContext, 'db' | 'indexes' | 'leases' | 'measures' | 'objects'>

/** Collects the metrics. A damaged database affects only those that need it. */
export async function collectMetrics(
  context: MetricsContext,
  queries: MetricsSnapshot['queries'],
): Promise<MetricsSnapshot> {
  const { db, indexes, leases, measures, objects } = context
  const applied = await indexes.applied()
  const logHeads = await readUnlessDamaged(db.read(listLogHeads([...applied.keys()])), new Map<string, number>())
  const pendingEntries = [...applied].map(([space, seq]) => Math.max(0, (logHeads.get(space) ?? seq) - seq))
  return {
    database: db.counts(),
    jobs: await readUnlessDamaged(db.read(countJobsByStage()), new Map<string, number>()),
    claimWaits: measures.getClaimWaits(),
    answers: measures.getAnswerCounts(),
    queries,
    leases: leases.counts(),
    indexes: {
      open: applied.size,
      pendingEntries: pendingEntries.reduce((sum, count) => sum + count, 0),
      maxPendingEntries: Math.max(0, ...pendingEntries),
    },
    objects: objects.requests(),
  }
}
