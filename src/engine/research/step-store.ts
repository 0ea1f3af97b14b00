import type { EvidenceBundle } from '../../contract/gateway/queries.js'
import { newId } from '../../lib/ids.js'
import { type Read, sql, type Write } from '../storage/program.js'
import { appendEvent, roundUsd, type TaskRow } from './store.js'

export type StepName = 'plan' | 'retrieve' | 'inspect' | 'analyze' | 'generate'

/** What a call of a model took, as its provider counted it. */
export interface Spent {
  provider: string
  model: string
  inputTokens: number
  outputTokens: number
  costUsd: number
}

/** A step that is over. */
export interface DoneStep {
  /** unique in the task: `retrieve-3` */
  key: string
  name: StepName
  body: unknown
  /** retrievals and calls of models */
  toolCalls: number
  /** passages read */
  scanned: number
  latencyMs: number
  spent?: Spent
  /** evidence that the step found */
  partial?: EvidenceBundle
}

/** What the steps of a task have used up together. */
export interface Used {
  retrievalSteps: number
  scannedResources: number
  toolCalls: number
  costUsd: number
}

export function* stepBody(taskId: string, key: string): Read<string | undefined> {
  return (yield* sql.get<{ body: string }>('SELECT body FROM research_steps WHERE task_id = ? AND step = ?', [
    taskId,
    key,
  ]))?.body
}

/** Bodies of a task's steps of one name, in their order. */
export function* bodiesOf(taskId: string, name: StepName): Read<string[]> {
  const rows = yield* sql.all<{ body: string }>(
    'SELECT body FROM research_steps WHERE task_id = ? AND name = ? ORDER BY step',
    [taskId, name],
  )
  return rows.map(({ body }) => body)
}

export function* usedBy(taskId: string): Read<Used> {
  const steps = yield* sql.get<{ retrievals: number; scanned: number; calls: number }>(
    `SELECT coalesce(sum(name = 'retrieve'), 0) retrievals, coalesce(sum(scanned), 0) scanned,
       coalesce(sum(tool_calls), 0) calls FROM research_steps WHERE task_id = ?`,
    [taskId],
  )
  return {
    retrievalSteps: steps?.retrievals ?? 0,
    scannedResources: steps?.scanned ?? 0,
    toolCalls: steps?.calls ?? 0,
    costUsd: yield* costOf(taskId),
  }
}

export function* costOf(taskId: string): Read<number> {
  const row = yield* sql.get<{ usd: number | null }>('SELECT sum(cost_usd) usd FROM research_costs WHERE task_id = ?', [
    taskId,
  ])
  return roundUsd(row?.usd ?? 0)
}

/**
 * Writes a step with all that belongs to it, inside the caller's transaction: result, evidence, cost, their events.
 *
 * @param task as it was when the step began
 * @param activeMs time the task has been at work
 * @returns false, with nothing written, when the task was moved on, ended or taken over meanwhile
 */
export function* writeStep(
  task: TaskRow,
  step: DoneStep,
  at: { instance: string; now: number; activeMs: number },
): Write<boolean> {
  const { changes } = yield* sql.run(
    'UPDATE research_tasks SET updated_at = ?, active_ms = ?, attempts = 0 WHERE id = ? AND stage = ? AND claimed_by = ?',
    [at.now, at.activeMs, task.id, task.stage, at.instance],
  )
  if (changes !== 1) return false
  yield* sql.run(
    `INSERT INTO research_steps (task_id, step, name, space_key, body, tool_calls, scanned, input_tokens,
       output_tokens, latency_ms, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [
      task.id,
      step.key,
      step.name,
      task.space_key,
      JSON.stringify(step.body),
      step.toolCalls,
      step.scanned,
      step.spent?.inputTokens ?? 0,
      step.spent?.outputTokens ?? 0,
      step.latencyMs,
      at.now,
    ],
  )
  if (step.partial !== undefined) yield* writePartial(task, step.partial)
  if (step.spent !== undefined) yield* writeCost(task.id, step.name, step.spent, at.now)
  return true
}

function* writePartial(task: TaskRow, bundle: EvidenceBundle): Write<void> {
  const sequence =
    ((yield* sql.get<{ n: number | null }>('SELECT max(sequence) n FROM research_partials WHERE task_id = ?', [
      task.id,
    ]))?.n ?? 0) + 1
  yield* sql.run('INSERT INTO research_partials (task_id, sequence, space_key, body) VALUES (?, ?, ?, ?)', [
    task.id,
    sequence,
    task.space_key,
    JSON.stringify(bundle),
  ])
  yield* appendEvent(task.id, 'research.partial', {
    sequence,
    evidenceBundleId: bundle.id,
    state: bundle.state,
    itemCount: bundle.items.length,
  })
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

export interface PartialRow {
  sequence: number
  body: string
}

export function* partialsAfter(taskId: string, after: number, limit: number): Read<PartialRow[]> {
  return yield* sql.all<PartialRow>(
    'SELECT sequence, body FROM research_partials WHERE task_id = ? AND sequence > ? ORDER BY sequence LIMIT ?',
    [taskId, after, limit],
  )
}

/** A bundle of evidence that belongs to no trace. */
export function bundleOf(parts: Omit<EvidenceBundle, 'id' | 'createdAt'>): EvidenceBundle {
  const { query, state, items, missingEvidence } = parts
  return { id: newId(), query, createdAt: new Date().toISOString(), state, items, missingEvidence }
}
