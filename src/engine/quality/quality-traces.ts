import { setImmediate } from 'node:timers/promises'
import type { QualityTraceSummary, QualityTracesQuery } from '../../contract/gateway/quality.js'
import type { TraceStep } from '../../contract/gateway/queries.js'
import { LIMITS } from '../../contract/limits.js'
import type { Caller } from '../base/caller.js'
import { decodeCursor, encodeCursor, filterHash } from '../base/cursor.js'
import type { Page } from '../base/page.js'
import { findSpace, type SpaceRow } from '../rows/spaces.js'
import { documentsVisible, readBundle } from '../rows/traces.js'
import type { Database } from '../storage/database.js'
import { type Read, sql } from '../storage/program.js'
import { fromCell, unlessDamaged } from '../storage/readable.js'
import { type SummarisedRow, summarise } from './trace-summary.js'

/** rows looked at before other work gets its turn */
const SLICE = 200

interface Place {
  createdAt: number
  id: string
}

/**
 * The caller's own traces in a space, newest first; those that refer to a deleted document are left out, as everywhere.
 *
 * - `from` <= createdAt < `to`
 * - `query`: the text occurs in the query, whatever the case
 * - `completed`: the run ended with an answer; `failed`: any step has status `error`. A run that recovered from a
 *   failed attempt is both.
 */
export async function listQualityTraces(
  db: Database,
  caller: Caller,
  spaceId: string,
  query: QualityTracesQuery,
): Promise<Page<QualityTraceSummary>> {
  const space = db.now(findSpace(caller.tenant, spaceId))
  const { from, to, mode, status } = query
  const filter = filterHash(
    'quality-traces',
    caller.tenant,
    caller.subject,
    space.id,
    from,
    to,
    mode,
    query.query,
    status,
  )
  const limit = Math.min(query.limit, LIMITS.qualityTracesPage.max)
  let place = query.cursor === undefined ? undefined : placeOf(decodeCursor(query.cursor, filter).after)
  const wanted = query.query === undefined ? undefined : folded(query.query)
  const items: QualityTraceSummary[] = []
  let last: Place | undefined
  for (;;) {
    const rows = db.now(tracesBefore(caller, space, query, place))
    for (const row of rows) {
      const at = unlessDamaged(() => ({ createdAt: row.created_at, id: row.id }))
      if (at === undefined) continue
      place = at
      if (wanted !== undefined && !folded(row.query).includes(wanted)) continue
      const summary = unlessDamaged(() => db.now(visibleSummary(caller, space, row)))
      if (summary === undefined) continue
      if (items.length === limit && last !== undefined)
        return { items, nextCursor: encodeCursor({ after: [last.createdAt, last.id] }, filter) }
      items.push(summary)
      last = place
    }
    if (rows.length < SLICE) return { items }
    await setImmediate()
  }
}

function* tracesBefore(
  caller: Caller,
  space: SpaceRow,
  { from, to, mode, status }: QualityTracesQuery,
  before: Place | undefined,
): Read<SummarisedRow[]> {
  const earliest = from === undefined ? 0 : Date.parse(from)
  const end = to === undefined ? Number.MAX_SAFE_INTEGER : Date.parse(to)
  const { createdAt, id } = before ?? { createdAt: Number.MAX_SAFE_INTEGER, id: '' }
  // most steps hold no error, which the text of their column tells faster than its JSON
  return yield* sql.all<SummarisedRow>(
    `SELECT id, query, mode, completed, bundle_id, evidence_state, created_at FROM traces
     WHERE tenant = ? AND space_key = ? AND subject = ? AND created_at >= ? AND created_at < ? AND (created_at, id) < (?, ?)
       AND (? IS NULL OR mode = ?)
       AND CASE ? WHEN 'completed' THEN completed = 1
         WHEN 'failed' THEN CASE WHEN instr(steps, '"status":"error"') = 0 OR NOT json_valid(steps) THEN 0
           ELSE EXISTS (SELECT 1 FROM json_each(steps) step WHERE step.value ->> '$.status' = 'error') END
         ELSE 1 END
     ORDER BY created_at DESC, id DESC LIMIT ?`,
    [
      caller.tenant,
      space.key,
      caller.subject,
      earliest,
      end,
      createdAt,
      id,
      mode ?? null,
      mode ?? null,
      status ?? null,
      SLICE,
    ],
  )
}

function* visibleSummary(caller: Caller, space: SpaceRow, row: SummarisedRow): Read<QualityTraceSummary | undefined> {
  const bundle = row.bundle_id === null ? undefined : yield* readBundle(caller.tenant, row.bundle_id)
  if (bundle !== undefined && !(yield* documentsVisible(caller, space.key, bundle))) return undefined
  const stored = yield* sql.get<{ steps: string }>(
    'SELECT steps FROM traces WHERE tenant = ? AND space_key = ? AND subject = ? AND id = ?',
    [caller.tenant, space.key, caller.subject, row.id],
  )
  const steps: TraceStep[] = stored === undefined ? [] : fromCell(stored.steps)
  return summarise(row, steps, bundle)
}

function placeOf(after: (string | number)[]): Place {
  return { createdAt: Number(after[0] ?? 0), id: String(after[1] ?? '') }
}

function folded(text: string): string {
  return text.normalize('NFKC').toLowerCase()
}
