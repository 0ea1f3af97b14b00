import { type Read, sql, type Write } from '../../storage/program.js'
import { moveTask, type TaskRow, taskById } from './tasks.js'

/** Longest time that a task is put off. */
export const MAX_RETRY_MS = 5 * 60_000

/** Frees what a dead process had claimed; what was at work at `mostEnds` such deaths is given up. */
export function* freeClaims(mostEnds: number, now: number): Write<void> {
  yield* sql.run(
    `UPDATE research_tasks SET claimed_by = NULL, unclean_ends = unclean_ends + 1
     WHERE claimed_by IS NOT NULL AND completed_at IS NULL`,
  )
  const hopeless = yield* sql.all<Pick<TaskRow, 'id' | 'stage'>>(
    'SELECT id, stage FROM research_tasks WHERE completed_at IS NULL AND unclean_ends >= ?',
    [mostEnds],
  )
  const error = 'the daemon died again and again while it worked on this task'
  for (const { id, stage } of hopeless) yield* moveTask(id, { from: stage, to: 'failed', now, error })
}

/** The oldest task that is due, of the next space behind one, around to the first. */
export function* taskDue(after: number, now: number): Read<{ id: string; space_key: number } | undefined> {
  return (yield* firstDue(after, now)) ?? (yield* firstDue(0, now))
}

function* firstDue(after: number, now: number): Read<{ id: string; space_key: number } | undefined> {
  return yield* sql.get<{ id: string; space_key: number }>(
    `SELECT t.id, t.space_key FROM research_tasks t INDEXED BY research_tasks_open
     JOIN spaces s ON s.key = t.space_key AND s.deleted_at IS NULL
     WHERE t.completed_at IS NULL AND t.claimed_by IS NULL AND t.space_key > ?
       AND (t.run_after <= ? OR t.run_after > ?)
     ORDER BY t.space_key, t.run_after, t.id LIMIT 1`,
    [after, now, now + MAX_RETRY_MS],
  )
}

/** Claims a task, inside the caller's transaction. */
export function* claimTask(id: string, instance: string): Write<TaskRow | undefined> {
  yield* sql.run('UPDATE research_tasks SET claimed_by = ? WHERE id = ?', [instance, id])
  return yield* taskById(id)
}

/** Gives a claim back; the next holder goes on behind its last step. */
export function* giveBack(id: string, instance: string): Write<void> {
  yield* sql.run('UPDATE research_tasks SET claimed_by = NULL WHERE id = ? AND claimed_by = ?', [id, instance])
}

/** Gives a claim back until a time. @param attempts that it counts as */
export function* putOff(id: string, instance: string, attempts: number, until: number): Write<void> {
  yield* sql.run(
    'UPDATE research_tasks SET claimed_by = NULL, attempts = attempts + ?, run_after = ? WHERE id = ? AND claimed_by = ?',
    [attempts, until, id, instance],
  )
}
