import { notFoundError } from '../../../../contract/errors.js'
import type { ReachedResearchLimit, ResearchStage } from '../../../../contract/gateway/research.js'
import { isUuid } from '../../../../lib/ids.js'
import type { Caller } from '../../../base/caller.js'
import { type Read, sql, type Write } from '../../program.js'
import { appendEvent } from './events.js'
import { assertMove, isTerminal } from './stages.js'
import type { ResearchTaskKey } from './task-key.js'

/** A row of `research_tasks`, with the id of its space. */
export interface ResearchTaskRow {
  id: string
  tenant: string
  subject: string
  space_key: number
  space_id: string
  queue_id: string
  query: string
  mode: 'fast' | 'deep' | 'research'
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
  /** rises with each claim */
  fence: number
  attempts: number
  unclean_ends: number
  created_at: number
  updated_at: number
  completed_at: number | null
}

const SELECT_TASK = `SELECT t.*, s.id space_id FROM research_tasks t JOIN spaces s ON s.key = t.space_key AND s.deleted_at IS NULL`

/**
 * A task of the caller. @throws KsError `not-found`, also for a task of another subject: it quotes documents that only
 * that subject may read
 */
export function* findTask(caller: Caller, id: string): Read<ResearchTaskRow> {
  const row = isUuid(id)
    ? yield* sql.get<ResearchTaskRow>(`${SELECT_TASK} WHERE t.tenant = ? AND t.id = ? AND t.subject = ?`, [
        caller.tenant,
        id,
        caller.subject,
      ])
    : undefined
  if (row === undefined) throw notFoundError('research task', id)
  return row
}

export function* findTaskByKey({ tenant, id }: ResearchTaskKey): Read<ResearchTaskRow | undefined> {
  return yield* sql.get<ResearchTaskRow>(`${SELECT_TASK} WHERE t.tenant = ? AND t.id = ?`, [tenant, id])
}

/** Tasks of a caller, newest first. @param filter `before`: last id of the previous page */
export function* listResearchTasks(
  caller: Caller,
  filter: { spaceId?: string | undefined; stage?: ResearchStage | undefined; before?: string | undefined },
  limit: number,
): Read<ResearchTaskRow[]> {
  return yield* sql.all<ResearchTaskRow>(
    `${SELECT_TASK} WHERE t.tenant = ? AND t.subject = ? AND (? IS NULL OR s.id = ?) AND (? IS NULL OR t.stage = ?)
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

/** Number of tasks of a space that have not ended. */
export function* countOpenTasks(spaceKey: number): Read<number> {
  const text = 'SELECT count(*) n FROM research_tasks WHERE space_key = ? AND completed_at IS NULL'
  return yield* sql.count(text, [spaceKey])
}

/** Number of tasks of all spaces that have not ended. */
export function* countAllOpenTasks(): Read<number> {
  return yield* sql.count('SELECT count(*) n FROM research_tasks WHERE completed_at IS NULL')
}

/** A task to be inserted; JSON columns as text. */
export interface NewResearchTask
  extends Pick<
    ResearchTaskRow,
    | 'id'
    | 'tenant'
    | 'subject'
    | 'space_key'
    | 'queue_id'
    | 'query'
    | 'mode'
    | 'route'
    | 'snapshot'
    | 'profile'
    | 'limits'
    | 'budget_usd'
    | 'created_at'
  > {
  metadata: string | null
  permission_scope: string | null
}

/** A gateway's claim on a task. */
export type TaskClaim = Pick<ResearchTaskRow, 'claimed_by' | 'fence'>

/** Inserts a queued task with its event, inside the caller's transaction. */
export function* insertTask(task: NewResearchTask): Write<void> {
  const { id, created_at: createdAt } = task
  yield* sql.run(
    `INSERT INTO research_tasks (id, tenant, subject, space_key, queue_id, query, mode, route, snapshot, profile, limits,
       budget_usd, metadata, permission_scope, stage, created_at, updated_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'queued', ?, ?)`,
    [
      id,
      task.tenant,
      task.subject,
      task.space_key,
      task.queue_id,
      task.query,
      task.mode,
      task.route,
      task.snapshot,
      task.profile,
      task.limits,
      task.budget_usd,
      task.metadata,
      task.permission_scope,
      createdAt,
      createdAt,
    ],
  )
  yield* appendEvent(task, 'research.stage', {
    researchTaskId: id,
    stage: 'queued',
    at: new Date(createdAt).toISOString(),
  })
}

/**
 * Moves a task to another stage and appends the event, or does neither; inside the caller's transaction.
 *
 * @param move `claim`: of the gateway that works on the task; absent for a move by another caller, such as a
 * cancellation
 * @returns whether this call moved it; false if another caller moved it or took it over
 */
export function* moveTask(
  task: ResearchTaskKey,
  move: { from: ResearchStage; to: ResearchStage; now: number; error?: string; claim?: TaskClaim },
): Write<boolean> {
  const { tenant, id } = task
  const { from, to, now, error, claim } = move
  assertMove(from, to)
  const isEnded = isTerminal(to)
  const { changes } = yield* sql.run(
    `UPDATE research_tasks SET stage = ?, error = ?, updated_at = ?, completed_at = ?, attempts = 0,
       claimed_by = CASE WHEN ? THEN NULL ELSE claimed_by END
     WHERE tenant = ? AND id = ? AND stage = ? AND (? IS NULL OR claimed_by = ? AND fence = ?)`,
    [
      to,
      error ?? null,
      now,
      isEnded ? now : null,
      isEnded ? 1 : 0,
      tenant,
      id,
      from,
      claim?.claimed_by ?? null,
      claim?.claimed_by ?? null,
      claim?.fence ?? 0,
    ],
  )
  if (changes !== 1) return false
  if (to === 'completed') yield* appendEvent(task, 'research.completed', { researchTaskId: id })
  else if (to === 'canceled') yield* appendEvent(task, 'research.canceled', { researchTaskId: id })
  else if (to === 'failed') yield* appendEvent(task, 'research.failed', { error: error ?? 'the task failed' })
  else yield* appendEvent(task, 'research.stage', { researchTaskId: id, stage: to, at: new Date(now).toISOString() })
  return true
}

/** Moves a task like `moveTask`, and stores its active time and the limit that ended its stage. */
export function* advanceTask(
  task: ResearchTaskKey,
  move: { from: ResearchStage; to: ResearchStage; now: number; claim: TaskClaim },
  activeMs: number,
  stoppedBy: ReachedResearchLimit | undefined,
): Write<boolean> {
  if (!(yield* moveTask(task, move))) return false
  yield* sql.run('UPDATE research_tasks SET active_ms = ? WHERE tenant = ? AND id = ?', [
    activeMs,
    task.tenant,
    task.id,
  ])
  if (stoppedBy !== undefined)
    yield* sql.run('UPDATE research_tasks SET stopped_by = ? WHERE tenant = ? AND id = ?', [
      JSON.stringify(stoppedBy),
      task.tenant,
      task.id,
    ])
  return true
}

/** Records that the budget prevented part of the work; only with a valid claim. */
export function* markBudgetExceeded({ tenant, id, claimed_by, fence }: ResearchTaskRow): Write<void> {
  yield* sql.run(
    'UPDATE research_tasks SET budget_exceeded = 1 WHERE tenant = ? AND id = ? AND claimed_by = ? AND fence = ?',
    [tenant, id, claimed_by, fence],
  )
}
