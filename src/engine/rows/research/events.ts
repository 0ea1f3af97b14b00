import type { ResearchEventData, ResearchEventName } from '../../../contract/gateway/research.js'
import { type Read, sql, type Write } from '../../storage/program.js'

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
