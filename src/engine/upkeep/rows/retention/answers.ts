import { sqlHoldsTime } from '../../../store/formats.js'
import { type Read, sql, type Write } from '../../../store/program.js'
import type { ResearchTaskKey } from '../../../store/rows/research/task-key.js'

/** Answer traces from before a time, oldest first. */
export function* listExpiredTraces(
  spaceKey: number,
  before: number,
  limit: number,
): Read<{ tenant: string; id: string }[]> {
  return yield* sql.all<{ tenant: string; id: string }>(
    `SELECT tenant, id FROM traces WHERE space_key = ? AND created_at < ? AND ${sqlHoldsTime('created_at')}
     ORDER BY created_at LIMIT ?`,
    [spaceKey, before, limit],
  )
}

/** Research tasks that ended before a time, oldest first. */
export function* listTasksEndedBefore(spaceKey: number, before: number, limit: number): Read<ResearchTaskKey[]> {
  return yield* sql.all<ResearchTaskKey>(
    `SELECT tenant, id FROM research_tasks WHERE space_key = ? AND completed_at < ? AND ${sqlHoldsTime('completed_at')}
     ORDER BY completed_at LIMIT ?`,
    [spaceKey, before, limit],
  )
}

export function* removeResearchTask({ tenant, id }: ResearchTaskKey): Write<void> {
  yield* sql.run('DELETE FROM research_tasks WHERE tenant = ? AND id = ?', [tenant, id])
}

interface StepEvidence {
  tenant: string
  task_id: string
  sequence: number
}

/**
 * Evidence of the steps of research tasks that ended before a time, without the last piece: it belongs to the report.
 */
export function* listStepEvidenceBefore(spaceKey: number, before: number, limit: number): Read<StepEvidence[]> {
  return yield* sql.all<StepEvidence>(
    `SELECT p.tenant, p.task_id, p.sequence FROM research_tasks t
     CROSS JOIN research_partials p ON p.tenant = t.tenant AND p.task_id = t.id
     WHERE t.space_key = ? AND t.completed_at < ? AND ${sqlHoldsTime('t.completed_at')}
       AND p.sequence < (SELECT max(sequence) FROM research_partials last
                         WHERE last.tenant = t.tenant AND last.task_id = t.id) LIMIT ?`,
    [spaceKey, before, limit],
  )
}

export function* removeStepEvidence({ tenant, task_id, sequence }: StepEvidence): Write<void> {
  yield* sql.run('DELETE FROM research_partials WHERE tenant = ? AND task_id = ? AND sequence = ?', [
    tenant,
    task_id,
    sequence,
  ])
}
