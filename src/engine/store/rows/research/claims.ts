import { type Read, sql, type Write } from '../../program.js'
import { OF_LOST_GATEWAYS } from '../gateways.js'
import type { ResearchTaskKey } from './task-key.js'
import { findTaskByKey, moveTask, type ResearchTaskRow } from './tasks.js'

/** Longest time that a task is deferred. */
export const MAX_TASK_RETRY_MS = 5 * 60_000

/** a task that was running at this many crashes of its gateway fails */
const MAX_UNCLEAN_ENDS = 5

/** Releases tasks of lost gateways; a task that was running at too many such ends fails. @returns their number */
export function* releaseOrphanedTasks(now: number): Write<number> {
  const released = yield* sql.returning<Pick<ResearchTaskRow, 'tenant' | 'id' | 'stage' | 'unclean_ends'>>(
    `UPDATE research_tasks SET claimed_by = NULL, unclean_ends = unclean_ends + 1
     WHERE claimed_by IS NOT NULL AND completed_at IS NULL AND ${OF_LOST_GATEWAYS}
     RETURNING tenant, id, stage, unclean_ends`,
  )
  const error = 'the daemon crashed repeatedly while it worked on this task'
  for (const task of released)
    if (task.unclean_ends >= MAX_UNCLEAN_ENDS) yield* moveTask(task, { from: task.stage, to: 'failed', now, error })
  return released.length
}

/** Whether any task can be claimed. */
export function* isTaskDue(now: number): Read<boolean> {
  return (yield* findFirstDueTask(0, now)) !== undefined
}

/** The task that is due for longest, of the next space after one, continuing with the first space. */
function* findDueTask(after: number, now: number): Read<ResearchTaskKey | undefined> {
  return (yield* findFirstDueTask(after, now)) ?? (yield* findFirstDueTask(0, now))
}

function* findFirstDueTask(after: number, now: number): Read<ResearchTaskKey | undefined> {
  return yield* sql.get<ResearchTaskKey>(
    `SELECT t.tenant, t.id FROM research_tasks t INDEXED BY research_tasks_open
     JOIN spaces s ON s.key = t.space_key AND s.deleted_at IS NULL
     WHERE t.completed_at IS NULL AND t.claimed_by IS NULL AND t.space_key > ?
       AND (t.run_after <= ? OR t.run_after > ?)
     ORDER BY t.space_key, t.run_after, t.id LIMIT 1`,
    [after, now, now + MAX_TASK_RETRY_MS],
  )
}

/** Claims the task that is due for longest, of the next space after one, continuing with the first space. */
export function* claimTask(after: number, gateway: string, now: number): Write<ResearchTaskRow | undefined> {
  const due = yield* findDueTask(after, now)
  if (due === undefined) return undefined
  const claimed = yield* sql.returning<{ id: string }>(
    `UPDATE research_tasks SET claimed_by = ?, fence = fence + 1
     WHERE tenant = ? AND id = ? AND claimed_by IS NULL AND completed_at IS NULL RETURNING id`,
    [gateway, due.tenant, due.id],
  )
  return claimed.length === 0 ? undefined : yield* findTaskByKey(due)
}

/** Releases a claim; the next holder continues after the last step. */
export function* releaseTask({ tenant, id, claimed_by, fence }: ClaimedTask): Write<void> {
  yield* sql.run(
    'UPDATE research_tasks SET claimed_by = NULL WHERE tenant = ? AND id = ? AND claimed_by = ? AND fence = ?',
    [tenant, id, claimed_by, fence],
  )
}

/** Releases a claim until a time. @param attempts number of attempts that it counts as */
export function* deferTask(
  { tenant, id, claimed_by, fence }: ClaimedTask,
  attempts: number,
  until: number,
): Write<void> {
  yield* sql.run(
    `UPDATE research_tasks SET claimed_by = NULL, attempts = attempts + ?, run_after = ?
     WHERE tenant = ? AND id = ? AND claimed_by = ? AND fence = ?`,
    [attempts, until, tenant, id, claimed_by, fence],
  )
}

type ClaimedTask = Pick<ResearchTaskRow, 'tenant' | 'id' | 'claimed_by' | 'fence'>
