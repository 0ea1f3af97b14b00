import { type Read, sql, type Write } from '../../storage/program.js'
import { appendEvent } from './events.js'

export type StepName = 'plan' | 'retrieve' | 'inspect' | 'analyze' | 'generate'

/** What a call of a model took, as its provider counted it. */
export interface Spent {
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

/** What the calls of a task's models cost, in their order. */
export function* costsOf(taskId: string): Read<CostRow[]> {
  return yield* sql.all<CostRow>('SELECT * FROM research_costs WHERE task_id = ? ORDER BY sequence', [taskId])
}

export function* costOf(taskId: string): Read<number> {
  const row = yield* sql.get<{ usd: number | null }>('SELECT sum(cost_usd) usd FROM research_costs WHERE task_id = ?', [
    taskId,
  ])
  return roundUsd(row?.usd ?? 0)
}

/** Records what a model call cost and tells the new total, inside the caller's transaction. */
export function* writeCost(taskId: string, step: StepName, spent: Spent, now: number): Write<void> {
  const { provider, costUsd, ...usage } = spent
  yield* sql.run(
    `INSERT INTO research_costs (task_id, sequence, step, provider, cost_usd, usage, recorded_at)
     VALUES (?, (SELECT coalesce(max(sequence), 0) + 1 FROM research_costs WHERE task_id = ?), ?, ?, ?, ?, ?)`,
    [taskId, taskId, step, provider, costUsd, JSON.stringify(usage), now],
  )
  yield* appendEvent(taskId, 'research.cost', { totalUsd: yield* costOf(taskId), step })
}

/** To a ten-thousandth of a cent: sums of prices a token would show the tails of binary fractions. */
export function roundUsd(usd: number): number {
  return Math.round(usd * 1e6) / 1e6
}
