import type { ResearchEventData, ResearchEventName } from '../../../contract/gateway/research.js'
import { type Read, sql, type Write } from '../../storage/program.js'

/**
 * Adds an event behind the last one, inside the caller's transaction. Its number is taken from the task's row, which is held
 * until the commit: who reads the events after a number never meets an earlier one later.
 */
export function* appendEvent<N extends ResearchEventName>(
  taskId: string,
  event: N,
  data: ResearchEventData<N>,
): Write<void> {
  const [task] = yield* sql.returning<{ events: number }>(
    'UPDATE research_tasks SET events = events + 1 WHERE id = ? RETURNING events',
    [taskId],
  )
  if (task === undefined) return
  yield* sql.run('INSERT INTO research_events (task_id, sequence, event, data) VALUES (?, ?, ?, ?)', [
    taskId,
    task.events,
    event,
    JSON.stringify(data),
  ])
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
