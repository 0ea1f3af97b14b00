import { type Read, sql, type Write } from '../../storage/program.js'
import { OF_THE_GONE } from '../gateways.js'
import type { OwnTask } from './own-task.js'
import { moveTask, type TaskRow, taskById } from './tasks.js'

/** Longest time that a task is deferred. */
export const MAX_RETRY_MS = 5 * 60_000

/** a task that was running at this many crashes of its gateway fails */
const MAX_UNCLEAN_ENDS = 5

/** Releases tasks of lost gateways; a task that was running at too many such ends fails. @returns their number */
export function* freeTasks(now: number): Write<number> {
  const freed = yield* sql.returning<Pick<TaskRow, 'tenant' | 'id' | 'stage' | 'unclean_ends'>>(
    `UPDATE research_tasks SET claimed_by = NULL, unclean_ends = unclean_ends + 1
     WHERE claimed_by IS NOT NULL AND completed_at IS NULL AND ${OF_THE_GONE}
     RETURNING tenant, id, stage, unclean_ends`,
  )
  const error = 'the daemon crashed repeatedly while it worked on this task'
  for (const task of freed)
    if (task.unclean_ends >= MAX_UNCLEAN_ENDS) yield* moveTask(task, { from: task.stage, to: 'failed', now, error })
  return freed.length
}

/** Whether any task can be claimed. */
export function* isTaskDue(now: number): Read<boolean> {
  return (yield* firstDue(0, now)) !== undefined
}

/** The task that is due for longest, of the next space after one, continuing with the first space. */
function* taskDue(after: number, now: number): Read<OwnTask | undefined> {
  return (yield* firstDue(after, now)) ?? (yield* firstDue(0, now))
}

function* firstDue(after: number, now: number): Read<OwnTask | undefined> {
  return yield* sql.get<OwnTask>(
    `SELECT t.tenant, t.id FROM research_tasks t INDEXED BY research_tasks_open
     JOIN spaces s ON s.key = t.space_key AND s.deleted_at IS NULL
     WHERE t.completed_at IS NULL AND t.claimed_by IS NULL AND t.space_key > ?
       AND (t.run_after <= ? OR t.run_after > ?)
     ORDER BY t.space_key, t.run_after, t.id LIMIT 1`,
    [after, now, now + MAX_RETRY_MS],
  )
}

/** Claims the task that is due for longest, of the next space after one, continuing with the first space. */
export function* claimTask(after: number, gateway: string, now: number): Write<TaskRow | undefined> {
  const due = yield* taskDue(after, now)
  if (due === undefined) return undefined
  const claimed = yield* sql.returning<{ id: string }>(
    `UPDATE research_tasks SET claimed_by = ?, fence = fence + 1
     WHERE tenant = ? AND id = ? AND claimed_by IS NULL AND completed_at IS NULL RETURNING id`,
    [gateway, due.tenant, due.id],
  )
  return claimed.length === 0 ? undefined : yield* taskById(due)
}

/** Releases a claim; the next holder continues after the last step. */
export function* giveBack({ tenant, id, claimed_by, fence }: Claimed): Write<void> {
  yield* sql.run(
    'UPDATE research_tasks SET claimed_by = NULL WHERE tenant = ? AND id = ? AND claimed_by = ? AND fence = ?',
    [tenant, id, claimed_by, fence],
  )
}

/** Releases a claim until a time. @param attempts number of attempts that it counts as */
export function* putOff({ tenant, id, claimed_by, fence }: Claimed, attempts: number, until: number): Write<void> {
  yield* sql.run(
    `UPDATE research_tasks SET claimed_by = NULL, attempts = attempts + ?, run_after = ?
     WHERE tenant = ? AND id = ? AND claimed_by = ? AND fence = ?`,
    [attempts, until, tenant, id, claimed_by, fence],
  )
}

type Claimed = Pick<TaskRow, 'tenant' | 'id' | 'claimed_by' | 'fence'>
