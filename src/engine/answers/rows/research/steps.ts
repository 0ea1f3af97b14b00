import type { EvidenceBundle } from '../../../../contract/gateway/queries.js'
import { type Read, sql, type Write } from '../../../store/program.js'
import { appendEvent } from '../../../store/rows/research/events.js'
import type { ResearchTaskKey } from '../../../store/rows/research/task-key.js'
import type { ResearchTaskRow } from '../../../store/rows/research/tasks.js'
import { getTaskCostUsd, insertTaskCost, type ModelCallCost, type StepName } from './costs.js'

/** A finished step of a research task. */
export interface FinishedStep {
  /** unique in the task: `retrieve-3` */
  key: string
  name: StepName
  body: unknown
  /** number of retrievals and model calls */
  toolCalls: number
  /** number of passages read */
  scanned: number
  latencyMs: number
  cost?: ModelCallCost
  /** evidence that the step found */
  partial?: EvidenceBundle
}

/** Total usage of the steps of a task. */
export interface TaskUsage {
  retrievalSteps: number
  scannedResources: number
  toolCalls: number
  costUsd: number
}

export function* findStepBody({ tenant, id }: ResearchTaskKey, key: string): Read<string | undefined> {
  return (yield* sql.get<{ body: string }>(
    'SELECT body FROM research_steps WHERE tenant = ? AND task_id = ? AND step = ?',
    [tenant, id, key],
  ))?.body
}

/** Bodies of a task's steps with one name, in order. */
export function* listStepBodies({ tenant, id }: ResearchTaskKey, name: StepName): Read<string[]> {
  const rows = yield* sql.all<{ body: string }>(
    'SELECT body FROM research_steps WHERE tenant = ? AND task_id = ? AND name = ? ORDER BY step',
    [tenant, id, name],
  )
  return rows.map(({ body }) => body)
}

export function* getTaskUsage(task: ResearchTaskKey): Read<TaskUsage> {
  const steps = yield* sql.get<{ retrievals: number; scanned: number; calls: number }>(
    `SELECT count(*) FILTER (WHERE name = 'retrieve') retrievals, coalesce(sum(scanned), 0) scanned,
       coalesce(sum(tool_calls), 0) calls FROM research_steps WHERE tenant = ? AND task_id = ?`,
    [task.tenant, task.id],
  )
  return {
    retrievalSteps: steps?.retrievals ?? 0,
    scannedResources: steps?.scanned ?? 0,
    toolCalls: steps?.calls ?? 0,
    costUsd: yield* getTaskCostUsd(task),
  }
}

/**
 * Stores a step with its result, evidence, cost and events, inside the caller's transaction.
 *
 * @param task as it was when the step began, with the claim of the gateway
 * @param timing the time, and how long the task has been active
 * @returns false, with nothing written, when the task was moved, ended or taken over meanwhile
 */
export function* insertStep(
  task: ResearchTaskRow,
  step: FinishedStep,
  timing: { now: number; activeMs: number },
): Write<boolean> {
  const { changes } = yield* sql.run(
    'UPDATE research_tasks SET updated_at = ?, active_ms = ?, attempts = 0 WHERE tenant = ? AND id = ? AND stage = ? AND claimed_by = ? AND fence = ?',
    [timing.now, timing.activeMs, task.tenant, task.id, task.stage, task.claimed_by, task.fence],
  )
  if (changes !== 1) return false
  yield* sql.run(
    `INSERT INTO research_steps (tenant, task_id, step, name, space_key, body, tool_calls, scanned, input_tokens,
       output_tokens, latency_ms, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [
      task.tenant,
      task.id,
      step.key,
      step.name,
      task.space_key,
      JSON.stringify(step.body),
      step.toolCalls,
      step.scanned,
      step.cost?.inputTokens ?? 0,
      step.cost?.outputTokens ?? 0,
      step.latencyMs,
      timing.now,
    ],
  )
  if (step.partial !== undefined) yield* insertPartial(task, step.partial)
  if (step.cost !== undefined) yield* insertTaskCost(task, step.name, step.cost, timing.now)
  return true
}

function* insertPartial(task: ResearchTaskRow, bundle: EvidenceBundle): Write<void> {
  const sequence =
    ((yield* sql.get<{ n: number | null }>(
      'SELECT max(sequence) n FROM research_partials WHERE tenant = ? AND task_id = ?',
      [task.tenant, task.id],
    ))?.n ?? 0) + 1
  yield* sql.run('INSERT INTO research_partials (tenant, task_id, sequence, space_key, body) VALUES (?, ?, ?, ?, ?)', [
    task.tenant,
    task.id,
    sequence,
    task.space_key,
    JSON.stringify(bundle),
  ])
  yield* appendEvent(task, 'research.partial', {
    sequence,
    evidenceBundleId: bundle.id,
    state: bundle.state,
    itemCount: bundle.items.length,
  })
}

export interface PartialRow {
  sequence: number
  body: string
}

export function* listPartialsAfter({ tenant, id }: ResearchTaskKey, after: number, limit: number): Read<PartialRow[]> {
  return yield* sql.all<PartialRow>(
    'SELECT sequence, body FROM research_partials WHERE tenant = ? AND task_id = ? AND sequence > ? ORDER BY sequence LIMIT ?',
    [tenant, id, after, limit],
  )
}

/** All evidence that a task has found, latest first. */
export function* listPartialBodies({ tenant, id }: ResearchTaskKey): Read<string[]> {
  const rows = yield* sql.all<{ body: string }>(
    'SELECT body FROM research_partials WHERE tenant = ? AND task_id = ? ORDER BY sequence DESC',
    [tenant, id],
  )
  return rows.map(({ body }) => body)
}
