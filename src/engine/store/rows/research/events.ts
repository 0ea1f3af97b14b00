import type { ResearchEventData, ResearchEventName } from '../../../../contract/gateway/research.js'
import { type Read, sql, type Write } from '../../program.js'
import type { ResearchTaskKey } from './task-key.js'

/**
 * Appends an event, inside the caller's transaction. Its number is taken from the task's row, which is locked until the
 * commit: a reader of the events after a number never gets an earlier one later.
 */
export function* appendEvent<N extends ResearchEventName>(
  { tenant, id }: ResearchTaskKey,
  event: N,
  data: ResearchEventData<N>,
): Write<void> {
  const [task] = yield* sql.returning<{ events: number }>(
    'UPDATE research_tasks SET events = events + 1 WHERE tenant = ? AND id = ? RETURNING events',
    [tenant, id],
  )
  if (task === undefined) return
  yield* sql.run('INSERT INTO research_events (tenant, task_id, sequence, event, data) VALUES (?, ?, ?, ?, ?)', [
    tenant,
    id,
    task.events,
    event,
    JSON.stringify(data),
  ])
}

export interface ResearchEventRow {
  sequence: number
  event: ResearchEventName
  data: string
}

export function* listEventsAfter(
  { tenant, id }: ResearchTaskKey,
  after: number,
  limit: number,
): Read<ResearchEventRow[]> {
  return yield* sql.all<ResearchEventRow>(
    `SELECT sequence, event, data FROM research_events WHERE tenant = ? AND task_id = ? AND sequence > ?
     ORDER BY sequence LIMIT ?`,
    [tenant, id, after, limit],
  )
}
