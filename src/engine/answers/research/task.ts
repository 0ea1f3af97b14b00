import type { ResearchLimits, ResearchTaskJob } from '../../../contract/gateway/research.js'
import type { RetrievalProfile } from '../../../contract/gateway/retrieval-profile.js'
import { omitUndefined } from '../../../lib/omit-undefined.js'
import type { SpaceSnapshot } from '../../library/index.js'
import type { ModeRoute } from '../../retrieval/index.js'
import type { Read } from '../../store/program.js'
import { parseJsonCell } from '../../store/readable.js'
import type { ResearchTaskRow } from '../../store/rows/research/tasks.js'
import { listTaskCosts, roundUsd } from '../rows/research/costs.js'

/** Settings that were frozen when the task was created. */
export interface FrozenSettings {
  route: ModeRoute
  snapshot: SpaceSnapshot
  profile: RetrievalProfile
  limits: ResearchLimits
}

export function parseFrozen(row: ResearchTaskRow): FrozenSettings {
  const route: ModeRoute = parseJsonCell(row.route)
  const snapshot: SpaceSnapshot = parseJsonCell(row.snapshot)
  const profile: RetrievalProfile = parseJsonCell(row.profile)
  const limits: ResearchLimits = row.limits === null ? {} : parseJsonCell(row.limits)
  return { route, snapshot, profile, limits }
}

export function* toResearchJob(row: ResearchTaskRow): Read<ResearchTaskJob> {
  const costs = yield* listTaskCosts(row)
  const { limits } = parseFrozen(row)
  return {
    id: row.id,
    tenantId: row.tenant,
    subjectId: row.subject,
    knowledgeSpaceId: row.space_id,
    queueJobId: row.queue_id,
    query: row.query,
    stage: row.stage,
    ...(row.limits === null ? {} : { limits }),
    ...omitUndefined({ budgetUsd: row.budget_usd ?? undefined }),
    cost: {
      totalUsd: roundUsd(costs.reduce((sum, cost) => sum + cost.cost_usd, 0)),
      ...(row.budget_usd === null ? {} : { budgetUsd: row.budget_usd, budgetExceeded: row.budget_exceeded === 1 }),
      entries: costs.map((cost) => ({
        step: cost.step,
        provider: cost.provider,
        costUsd: cost.cost_usd,
        usage: parseJsonCell(cost.usage),
        recordedAt: cost.recorded_at,
      })),
    },
    ...omitUndefined({ error: row.error ?? undefined }),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    ...omitUndefined({ completedAt: row.completed_at ?? undefined }),
  }
}
