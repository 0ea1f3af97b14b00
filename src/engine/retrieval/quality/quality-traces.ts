import { setImmediate } from 'node:timers/promises'
import type { QualityTraceSummary, QualityTracesQuery } from '../../../contract/gateway/quality.js'
import { LIMITS } from '../../../contract/limits.js'
import type { Caller } from '../../base/caller.js'
import { decodeCursor, encodeCursor, hashFilter } from '../../base/cursor.js'
import type { Page } from '../../base/page.js'
import type { Driver } from '../../store/driver.js'
import type { Read } from '../../store/program.js'
import { unlessDamaged, unlessDamagedIn } from '../../store/readable.js'
import { findSpace, type SpaceRow } from '../../store/rows/spaces.js'
import { areDocumentsReadable, readBundle } from '../../store/rows/traces.js'
import { findOwnTraceSteps, listTracesBefore, type TraceSummaryRow } from '../rows/quality/traces.js'
import { summarizeTrace } from './trace-summary.js'

/** Rows read before yielding to other work. */
const BATCH_SIZE = 200

interface TracePosition {
  createdAt: number
  id: string
}

const NEWEST: TracePosition = { createdAt: Number.MAX_SAFE_INTEGER, id: '' }

/**
 * Lists the caller's own traces in a space, newest first, without those that refer to a deleted document.
 *
 * - `from` <= createdAt < `to`
 * - `query`: the text occurs in the query, ignoring case
 * - `completed`: the run ended with an answer; `failed`: any step has status `error`. A run that recovered from a
 * failed attempt is both.
 */
export async function listQualityTraces(
  db: Driver,
  caller: Caller,
  spaceId: string,
  query: QualityTracesQuery,
): Promise<Page<QualityTraceSummary>> {
  const space = await db.read(findSpace(caller.tenant, spaceId))
  const { from, to, mode, status } = query
  const filter = hashFilter(
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
  let position = query.cursor === undefined ? undefined : toPosition(decodeCursor(query.cursor, filter).after)
  const searchText = query.query === undefined ? undefined : foldText(query.query)
  const traces = {
    from: from === undefined ? 0 : Date.parse(from),
    to: to === undefined ? Number.MAX_SAFE_INTEGER : Date.parse(to),
    mode,
    status,
  }
  const items: QualityTraceSummary[] = []
  let last: TracePosition | undefined
  for (;;) {
    const rows = await db.read(
      listTracesBefore(caller, space, traces, { before: position ?? NEWEST, limit: BATCH_SIZE }),
    )
    for (const row of rows) {
      const rowPosition = unlessDamaged(() => ({ createdAt: row.created_at, id: row.id }))
      if (rowPosition === undefined) continue
      position = rowPosition
      if (searchText !== undefined && !foldText(row.query).includes(searchText)) continue
      const summary = await db.read(unlessDamagedIn(() => readVisibleSummary(caller, space, row)))
      if (summary === undefined) continue
      if (items.length === limit && last !== undefined)
        return { items, nextCursor: encodeCursor({ after: [last.createdAt, last.id] }, filter) }
      items.push(summary)
      last = position
    }
    if (rows.length < BATCH_SIZE) return { items }
    await setImmediate()
  }
}

function* readVisibleSummary(
  caller: Caller,
  space: SpaceRow,
  row: TraceSummaryRow,
): Read<QualityTraceSummary | undefined> {
  const bundle = row.bundle_id === null ? undefined : yield* readBundle(caller.tenant, row.bundle_id)
  if (bundle !== undefined && !(yield* areDocumentsReadable(caller, space.key, bundle))) return undefined
  return summarizeTrace(row, yield* findOwnTraceSteps(caller, space, row.id), bundle)
}

function toPosition(after: (string | number)[]): TracePosition {
  return { createdAt: Number(after[0] ?? 0), id: String(after[1] ?? '') }
}

function foldText(text: string): string {
  return text.normalize('NFKC').toLowerCase()
}
