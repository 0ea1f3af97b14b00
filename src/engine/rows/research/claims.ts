import { type Read, sql, type Write } from '../../storage/program.js'
import { moveTask, type OwnTask, type TaskRow, taskById } from './tasks.js'

/** Longest time that a task is put off. */
export const MAX_RETRY_MS = 5 * 60_000

/** Frees what a dead process had claimed; what was at work at `mostEnds` such deaths is given up. */
export function* freeClaims(mostEnds: number, now: number): Write<void> {
  yield* sql.run(
    `UPDATE research_tasks SET claimed_by = NULL, unclean_ends = unclean_ends + 1
     WHERE claimed_by IS NOT NULL AND completed_at IS NULL`,
  )
  const hopeless = yield* sql.all<Pick<TaskRow, 'tenant' | 'id' | 'stage'>>(
    'SELECT tenant, id, stage FROM research_tasks WHERE completed_at IS NULL AND unclean_ends >= ?',
    [mostEnds],
  )
  const error = 'the daemon died again and again while it worked on this task'
  for (const task of hopeless) yield* moveTask(task, { from: task.stage, to: 'failed', now, error })
}

export interface DueTask extends OwnTask {
  space_key: number
}

/** The oldest task that is due, of the next space behind one, around to the first. */
export function* taskDue(after: number, now: number): Read<DueTask | undefined> {
  return (yield* firstDue(after, now)) ?? (yield* firstDue(0, now))
}

function* firstDue(after: number, now: number): Read<DueTask | undefined> {
  return yield* sql.get<DueTask>(
    `SELECT t.tenant, t.id, t.space_key FROM research_tasks t INDEXED BY research_tasks_open
     JOIN spaces s ON s.key = t.space_key AND s.deleted_at IS NULL
     WHERE t.completed_at IS NULL AND t.claimed_by IS NULL AND t.space_key > ?
       AND (t.run_after <= ? OR t.run_after > ?)
     ORDER BY t.space_key, t.run_after, t.id LIMIT 1`,
    [after, now, now + MAX_RETRY_MS],
  )
}

/** Claims a task, inside the caller's transaction. */
export function* claimTask({ tenant, id }: OwnTask, instance: string): Write<TaskRow | undefined> {
  yield* sql.run('UPDATE research_tasks SET claimed_by = ? WHERE tenant = ? AND id = ?', [instance, tenant, id])
  return yield* taskById({ tenant, id })
}

/** Gives a claim back; the next holder goes on behind its last step. */
export function* giveBack({ tenant, id }: OwnTask, instance: string): Write<void> {
  yield* sql.run('UPDATE research_tasks SET claimed_by = NULL WHERE tenant = ? AND id = ? AND claimed_by = ?', [
    tenant,
    id,
    instance,
  ])
}

/** Gives a claim back until a time. @param attempts that it counts as */
export function* putOff({ tenant, id }: OwnTask, instance: string, attempts: number, until: number): Write<void> {
  yield* sql.run(
    `UPDATE research_tasks SET claimed_by = NULL, attempts = attempts + ?, run_after = ?
     WHERE tenant = ? AND id = ? AND claimed_by = ?`,
    [attempts, until, tenant, id, instance],
  )
}
