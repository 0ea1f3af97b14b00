import { type Read, sql, type Write } from '../../../store/program.js'
import { appendEvent } from '../../../store/rows/research/events.js'
import type { ResearchTaskKey } from '../../../store/rows/research/task-key.js'

export type StepName = 'plan' | 'retrieve' | 'inspect' | 'analyze' | 'generate'

/** The usage and cost of a model call, as its provider counted it. */
export interface ModelCallCost {
  provider: string
  model: string
  inputTokens: number
  outputTokens: number
  costUsd: number
}

export interface CostRow {
  step: string
  provider: string
  cost_usd: number
  usage: string
  recorded_at: number
}

/** The costs of a task's model calls, in order. */
export function* listTaskCosts({ tenant, id }: ResearchTaskKey): Read<CostRow[]> {
  return yield* sql.all<CostRow>('SELECT * FROM research_costs WHERE tenant = ? AND task_id = ? ORDER BY sequence', [
    tenant,
    id,
  ])
}

export function* getTaskCostUsd({ tenant, id }: ResearchTaskKey): Read<number> {
  const row = yield* sql.get<{ usd: number | null }>(
    'SELECT sum(cost_usd) usd FROM research_costs WHERE tenant = ? AND task_id = ?',
    [tenant, id],
  )
  return roundUsd(row?.usd ?? 0)
}

/** Records the cost of a model call and reports the new total as an event, inside the caller's transaction. */
export function* insertTaskCost(task: ResearchTaskKey, step: StepName, call: ModelCallCost, now: number): Write<void> {
  const { provider, costUsd, ...usage } = call
  yield* sql.run(
    `INSERT INTO research_costs (tenant, task_id, sequence, step, provider, cost_usd, usage, recorded_at)
     VALUES (?, ?, (SELECT coalesce(max(sequence), 0) + 1 FROM research_costs WHERE tenant = ? AND task_id = ?), ?, ?, ?, ?, ?)`,
    [task.tenant, task.id, task.tenant, task.id, step, provider, costUsd, JSON.stringify(usage), now],
  )
  yield* appendEvent(task, 'research.cost', { totalUsd: yield* getTaskCostUsd(task), step })
}

/** Rounds to a ten-thousandth of a cent: sums of prices per token would show the digits of binary fractions. */
export function roundUsd(usd: number): number {
  return Math.round(usd * 1e6) / 1e6
}
