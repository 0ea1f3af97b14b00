import { type Read, sql } from '../../../store/program.js'
import type { StepName } from './costs.js'

export interface TaskTotals {
  questions: number
  retrievals: number
  scanned: number
  calls: number
  input: number
  output: number
  active_ms: number
}

const OWNER_CONDITIONS = { space: 't.space_key = ?', tenant: 't.tenant = ?' }

/** Totals of the last completed tasks of a space or a tenant in a mode, and the mean duration of their steps. */
export function* getRecentTotals(
  count: number,
  ownerKind: keyof typeof OWNER_CONDITIONS,
  owner: number | string,
  mode: string,
): Read<{ tasks: TaskTotals[]; steps: { name: StepName; ms: number }[] }> {
  const recentTasks = `SELECT t.tenant, t.id, t.active_ms FROM research_tasks t
    WHERE ${OWNER_CONDITIONS[ownerKind]} AND t.mode = ? AND t.stage = 'completed' AND t.stopped_by IS NULL ORDER BY t.id DESC LIMIT ${count}`
  const tasks = yield* sql.all<TaskTotals>(
    `SELECT t.active_ms, count(*) FILTER (WHERE s.name = 'retrieve') retrievals, sum(s.scanned) scanned, sum(s.tool_calls) calls,
       sum(s.input_tokens) input, sum(s.output_tokens) output,
       max(CASE WHEN s.name = 'plan' AND json_valid(s.body) THEN json_array_length(s.body, '$.questions') ELSE 1 END) questions
     FROM (${recentTasks}) t CROSS JOIN research_steps s ON s.tenant = t.tenant AND s.task_id = t.id GROUP BY t.id, t.active_ms
     HAVING count(*) FILTER (WHERE s.name = 'retrieve') > 0`,
    [owner, mode],
  )
  if (tasks.length === 0) return { tasks, steps: [] }
  const steps = yield* sql.all<{ name: StepName; ms: number }>(
    `SELECT s.name, avg(s.latency_ms) ms FROM (${recentTasks}) t CROSS JOIN research_steps s ON s.tenant = t.tenant AND s.task_id = t.id GROUP BY s.name`,
    [owner, mode],
  )
  return { tasks, steps }
}
