import type { QualityTraceSummary } from '../../../../contract/gateway/quality.js'
import type { EvidenceState, TraceStep } from '../../../../contract/gateway/queries.js'
import type { Caller } from '../../../base/caller.js'
import { type Read, sql } from '../../../store/program.js'
import { parseJsonCell } from '../../../store/readable.js'
import type { SpaceRow } from '../../../store/rows/spaces.js'

/** A row of `traces` without the large columns. */
export interface TraceSummaryRow {
  id: string
  query: string
  mode: QualityTraceSummary['mode']
  completed: number
  bundle_id: string | null
  evidence_state: EvidenceState | null
  created_at: number
}

/** A filter of traces; times in milliseconds, the end exclusive. */
export interface TraceFilter {
  from: number
  to: number
  mode: string | undefined
  /** `completed`: it ended with an answer; `failed`: any step has status `error` */
  status: 'completed' | 'failed' | undefined
}

/** The caller's own traces of a space before a position, newest first. */
export function* listTracesBefore(
  caller: Caller,
  space: SpaceRow,
  { from, to, mode, status }: TraceFilter,
  { before, limit }: { before: { createdAt: number; id: string }; limit: number },
): Read<TraceSummaryRow[]> {
  // most steps contain no error; testing the text is faster than parsing the JSON
  return yield* sql.all<TraceSummaryRow>(
    `SELECT id, query, mode, completed, bundle_id, evidence_state, created_at FROM traces
     WHERE tenant = ? AND space_key = ? AND subject = ? AND created_at >= ? AND created_at < ? AND (created_at, id) < (?, ?)
       AND (? IS NULL OR mode = ?)
       AND CASE ? WHEN 'completed' THEN completed = 1
         WHEN 'failed' THEN CASE WHEN instr(steps, '"status":"error"') = 0 OR NOT json_valid(steps) THEN FALSE
           ELSE EXISTS (SELECT 1 FROM json_each(steps) step WHERE step.value ->> '$.status' = 'error') END
         ELSE TRUE END
     ORDER BY created_at DESC, id DESC LIMIT ?`,
    [
      caller.tenant,
      space.key,
      caller.subject,
      from,
      to,
      before.createdAt,
      before.id,
      mode ?? null,
      mode ?? null,
      status ?? null,
      limit,
    ],
  )
}

/** The steps of a trace of the caller; none if it is removed. */
export function* findOwnTraceSteps(caller: Caller, space: SpaceRow, id: string): Read<TraceStep[]> {
  const row = yield* sql.get<{ steps: string }>(
    'SELECT steps FROM traces WHERE tenant = ? AND space_key = ? AND subject = ? AND id = ?',
    [caller.tenant, space.key, caller.subject, id],
  )
  return row === undefined ? [] : parseJsonCell(row.steps)
}

/** The steps of a trace of the tenant; none if it is removed. */
export function* findTraceSteps(tenant: string, id: string): Read<TraceStep[]> {
  const row = yield* sql.get<{ steps: string }>('SELECT steps FROM traces WHERE id = ? AND tenant = ?', [id, tenant])
  return row === undefined ? [] : parseJsonCell(row.steps)
}
