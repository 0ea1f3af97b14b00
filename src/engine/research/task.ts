import type { ResearchLimits, ResearchTaskJob } from '../../contract/gateway/research.js'
import type { RetrievalProfile } from '../../contract/gateway/retrieval-profile.js'
import { defined } from '../../lib/defined.js'
import type { Route } from '../query/mode.js'
import { costsOf, roundUsd } from '../rows/research/costs.js'
import type { TaskRow } from '../rows/research/tasks.js'
import type { Snapshot } from '../spaces/snapshot.js'
import type { Read } from '../storage/program.js'
import { fromCell } from '../storage/readable.js'

/** Settings that were frozen when the task was created. */
export interface Frozen {
  route: Route
  snapshot: Snapshot
  profile: RetrievalProfile
  limits: ResearchLimits
}

export function frozenOf(row: TaskRow): Frozen {
  const route: Route = fromCell(row.route)
  const snapshot: Snapshot = fromCell(row.snapshot)
  const profile: RetrievalProfile = fromCell(row.profile)
  const limits: ResearchLimits = row.limits === null ? {} : fromCell(row.limits)
  return { route, snapshot, profile, limits }
}

export function* toResearchJob(row: TaskRow): Read<ResearchTaskJob> {
  const costs = yield* costsOf(row)
  const { limits } = frozenOf(row)
  return {
    id: row.id,
    tenantId: row.tenant,
    subjectId: row.subject,
    knowledgeSpaceId: row.space_id,
    queueJobId: row.queue_id,
    query: row.query,
    stage: row.stage,
    ...(row.limits === null ? {} : { limits }),
    ...defined({ budgetUsd: row.budget_usd ?? undefined }),
    cost: {
      totalUsd: roundUsd(costs.reduce((sum, cost) => sum + cost.cost_usd, 0)),
      ...(row.budget_usd === null ? {} : { budgetUsd: row.budget_usd, budgetExceeded: row.budget_exceeded === 1 }),
      entries: costs.map((cost) => ({
        step: cost.step,
        provider: cost.provider,
        costUsd: cost.cost_usd,
        usage: fromCell(cost.usage),
        recordedAt: cost.recorded_at,
      })),
    },
    ...defined({ error: row.error ?? undefined }),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    ...defined({ completedAt: row.completed_at ?? undefined }),
  }
}
