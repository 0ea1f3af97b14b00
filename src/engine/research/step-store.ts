import type { EvidenceBundle } from '../../contract/gateway/queries.js'
import { newId } from '../../lib/ids.js'
import type { Database } from '../storage/database.js'
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

export function stepBody(db: Database, taskId: string, key: string): string | undefined {
  return db.get<{ body: string }>('SELECT body FROM research_steps WHERE task_id = ? AND step = ?', [taskId, key])?.body
}

/** Bodies of a task's steps of one name, in their order. */
export function bodiesOf(db: Database, taskId: string, name: StepName): string[] {
  const rows = db.all<{ body: string }>(
    'SELECT body FROM research_steps WHERE task_id = ? AND name = ? ORDER BY step',
    [taskId, name],
  )
  return rows.map(({ body }) => body)
}

export function usedBy(db: Database, taskId: string): Used {
  const steps = db.get<{ retrievals: number; scanned: number; calls: number }>(
    `SELECT coalesce(sum(name = 'retrieve'), 0) retrievals, coalesce(sum(scanned), 0) scanned,
       coalesce(sum(tool_calls), 0) calls FROM research_steps WHERE task_id = ?`,
    [taskId],
  )
  return {
    retrievalSteps: steps?.retrievals ?? 0,
    scannedResources: steps?.scanned ?? 0,
    toolCalls: steps?.calls ?? 0,
    costUsd: costOf(db, taskId),
  }
}

export function costOf(db: Database, taskId: string): number {
  const row = db.get<{ usd: number | null }>('SELECT sum(cost_usd) usd FROM research_costs WHERE task_id = ?', [taskId])
  return roundUsd(row?.usd ?? 0)
}

/**
 * Writes a step with all that belongs to it, inside the caller's transaction: result, evidence, cost, their events.
 *
 * @param task as it was when the step began
 * @param activeMs time the task has been at work
 * @returns false, with nothing written, when the task was moved on, ended or taken over meanwhile
 */
export function writeStep(
  db: Database,
  task: TaskRow,
  step: DoneStep,
  at: { instance: string; now: number; activeMs: number },
): boolean {
  const { changes } = db.run(
    'UPDATE research_tasks SET updated_at = ?, active_ms = ?, attempts = 0 WHERE id = ? AND stage = ? AND claimed_by = ?',
    [at.now, at.activeMs, task.id, task.stage, at.instance],
  )
  if (changes !== 1) return false
  db.run(
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
  if (step.partial !== undefined) writePartial(db, task, step.partial)
  if (step.spent !== undefined) writeCost(db, task.id, step.name, step.spent, at.now)
  return true
}

function writePartial(db: Database, task: TaskRow, bundle: EvidenceBundle): void {
  const sequence =
    (db.get<{ n: number | null }>('SELECT max(sequence) n FROM research_partials WHERE task_id = ?', [task.id])?.n ??
      0) + 1
  db.run('INSERT INTO research_partials (task_id, sequence, space_key, body) VALUES (?, ?, ?, ?)', [
    task.id,
    sequence,
    task.space_key,
    JSON.stringify(bundle),
  ])
  appendEvent(db, task.id, 'research.partial', {
    sequence,
    evidenceBundleId: bundle.id,
    state: bundle.state,
    itemCount: bundle.items.length,
  })
}

/** Records what a model call cost and tells the new total, inside the caller's transaction. */
export function writeCost(db: Database, taskId: string, step: StepName, spent: Spent, now: number): void {
  const { provider, costUsd, ...usage } = spent
  db.run(
    `INSERT INTO research_costs (task_id, sequence, step, provider, cost_usd, usage, recorded_at)
     VALUES (?, (SELECT coalesce(max(sequence), 0) + 1 FROM research_costs WHERE task_id = ?), ?, ?, ?, ?, ?)`,
    [taskId, taskId, step, provider, costUsd, JSON.stringify(usage), now],
  )
  appendEvent(db, taskId, 'research.cost', { totalUsd: costOf(db, taskId), step })
}

export interface PartialRow {
  sequence: number
  body: string
}

export function partialsAfter(db: Database, taskId: string, after: number, limit: number): PartialRow[] {
  return db.all<PartialRow>(
    'SELECT sequence, body FROM research_partials WHERE task_id = ? AND sequence > ? ORDER BY sequence LIMIT ?',
    [taskId, after, limit],
  )
}

/** A bundle of evidence that belongs to no trace. */
export function bundleOf(parts: Omit<EvidenceBundle, 'id' | 'createdAt'>): EvidenceBundle {
  const { query, state, items, missingEvidence } = parts
  return { id: newId(), query, createdAt: new Date().toISOString(), state, items, missingEvidence }
}
