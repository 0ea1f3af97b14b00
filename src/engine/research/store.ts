import { notFound } from '../../contract/errors.js'
import type {
  ResearchEventData,
  ResearchEventName,
  ResearchLimits,
  ResearchStage,
  ResearchTaskJob,
} from '../../contract/gateway/research.js'
import type { RetrievalProfile } from '../../contract/gateway/retrieval-profile.js'
import { defined } from '../../lib/defined.js'
import { isUuid } from '../../lib/ids.js'
import type { Caller } from '../base/caller.js'
import type { ConcreteMode, Route } from '../query/mode.js'
import type { Snapshot } from '../spaces/snapshot.js'
import { type Read, sql, type Write } from '../storage/program.js'
import { fromCell } from '../storage/readable.js'
import { assertMove, isTerminal } from './stages.js'

/** A row of `research_tasks`, with the id of its space. */
export interface TaskRow {
  id: string
  tenant: string
  subject: string
  space_key: number
  space_id: string
  queue_id: string
  query: string
  mode: ConcreteMode
  route: string
  snapshot: string
  profile: string
  limits: string | null
  budget_usd: number | null
  stage: ResearchStage
  error: string | null
  stopped_by: string | null
  budget_exceeded: number
  active_ms: number
  claimed_by: string | null
  attempts: number
  unclean_ends: number
  created_at: number
  updated_at: number
  completed_at: number | null
}

/** What was frozen when the task was made. */
export interface Frozen {
  route: Route
  snapshot: Snapshot
  profile: RetrievalProfile
  limits: ResearchLimits
}

const TASK = `SELECT t.*, s.id space_id FROM research_tasks t JOIN spaces s ON s.key = t.space_key AND s.deleted_at IS NULL`

/** A task of the caller's own. @throws KsError `not-found`, also for another subject's task: it quotes what that one may read */
export function* findTask(caller: Caller, id: string): Read<TaskRow> {
  const row = isUuid(id)
    ? yield* sql.get<TaskRow>(`${TASK} WHERE t.id = ? AND t.tenant = ? AND t.subject = ?`, [
        id,
        caller.tenant,
        caller.subject,
      ])
    : undefined
  if (row === undefined) throw notFound('research task', id)
  return row
}

export function* taskById(id: string): Read<TaskRow | undefined> {
  return yield* sql.get<TaskRow>(`${TASK} WHERE t.id = ?`, [id])
}

/** Tasks of a caller, newest first. @param before the id that the page before ended with */
export function* tasksOf(
  caller: Caller,
  filter: { spaceId?: string | undefined; stage?: ResearchStage | undefined; before?: string | undefined },
  limit: number,
): Read<TaskRow[]> {
  return yield* sql.all<TaskRow>(
    `${TASK} WHERE t.tenant = ? AND t.subject = ? AND (? IS NULL OR s.id = ?) AND (? IS NULL OR t.stage = ?)
       AND (? IS NULL OR t.id < ?) ORDER BY t.id DESC LIMIT ?`,
    [
      caller.tenant,
      caller.subject,
      filter.spaceId ?? null,
      filter.spaceId ?? null,
      filter.stage ?? null,
      filter.stage ?? null,
      filter.before ?? null,
      filter.before ?? null,
      limit,
    ],
  )
}

export function frozenOf(row: TaskRow): Frozen {
  const route: Route = fromCell(row.route)
  const snapshot: Snapshot = fromCell(row.snapshot)
  const profile: RetrievalProfile = fromCell(row.profile)
  const limits: ResearchLimits = row.limits === null ? {} : fromCell(row.limits)
  return { route, snapshot, profile, limits }
}

interface CostRow {
  step: string
  provider: string
  cost_usd: number
  usage: string
  recorded_at: number
}

export function* toResearchJob(row: TaskRow): Read<ResearchTaskJob> {
  const costs = yield* sql.all<CostRow>('SELECT * FROM research_costs WHERE task_id = ? ORDER BY sequence', [row.id])
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

/** To a ten-thousandth of a cent: sums of prices a token would show the tails of binary fractions. */
export function roundUsd(usd: number): number {
  return Math.round(usd * 1e6) / 1e6
}

/** Adds an event behind the last one, inside the caller's transaction. */
export function* appendEvent<N extends ResearchEventName>(
  taskId: string,
  event: N,
  data: ResearchEventData<N>,
): Write<void> {
  yield* sql.run(
    `INSERT INTO research_events (task_id, sequence, event, data)
     VALUES (?, (SELECT coalesce(max(sequence), 0) + 1 FROM research_events WHERE task_id = ?), ?, ?)`,
    [taskId, taskId, event, JSON.stringify(data)],
  )
}

export interface EventRow {
  sequence: number
  event: ResearchEventName
  data: string
}

export function* eventsAfter(taskId: string, after: number, limit: number): Read<EventRow[]> {
  return yield* sql.all<EventRow>(
    'SELECT sequence, event, data FROM research_events WHERE task_id = ? AND sequence > ? ORDER BY sequence LIMIT ?',
    [taskId, after, limit],
  )
}

/**
 * Moves a task to another stage and tells it, or does neither; inside the caller's transaction.
 *
 * @param claim the instance that works on the task; absent for a move by somebody else, such as a cancellation
 * @returns whether this call moved it; false means that somebody else did, or took it over
 */
export function* moveTask(
  id: string,
  move: { from: ResearchStage; to: ResearchStage; now: number; error?: string; claim?: string },
): Write<boolean> {
  const { from, to, now, error, claim } = move
  assertMove(from, to)
  const ended = isTerminal(to)
  const { changes } = yield* sql.run(
    `UPDATE research_tasks SET stage = ?, error = ?, updated_at = ?, completed_at = ?, attempts = 0,
       claimed_by = CASE WHEN ? THEN NULL ELSE claimed_by END
     WHERE id = ? AND stage = ? AND (? IS NULL OR claimed_by = ?)`,
    [to, error ?? null, now, ended ? now : null, ended ? 1 : 0, id, from, claim ?? null, claim ?? null],
  )
  if (changes !== 1) return false
  if (to === 'completed') yield* appendEvent(id, 'research.completed', { researchTaskId: id })
  else if (to === 'canceled') yield* appendEvent(id, 'research.canceled', { researchTaskId: id })
  else if (to === 'failed') yield* appendEvent(id, 'research.failed', { error: error ?? 'the task failed' })
  else yield* appendEvent(id, 'research.stage', { researchTaskId: id, stage: to, at: new Date(now).toISOString() })
  return true
}
