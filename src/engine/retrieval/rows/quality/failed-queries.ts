import type { FailedQuery, FailedQueryStatus, FailedQueryTrigger } from '../../../../contract/gateway/failed-queries.js'
import { isUuid } from '../../../../lib/ids.js'
import { omitUndefined } from '../../../../lib/omit-undefined.js'
import { type Read, readClock, sql, type Write } from '../../../store/program.js'
import { parseJsonCell } from '../../../store/readable.js'
import { type Reader, toReaderParameter } from '../../../store/rows/permissions.js'
import { sqlCanReadQuotes } from '../../../store/rows/quotes.js'
import type { SpaceRow } from '../../../store/rows/spaces.js'

/** A row of `failed_queries`. */
export interface FailedQueryRow {
  id: string
  query: string
  mode: FailedQuery['mode']
  trigger: FailedQueryTrigger
  status: FailedQueryStatus
  /** number of times it was asked while the row counted repeats */
  occurrences: number
  asked_at: number
  /** JSON */
  metadata: string
  answer_trace_id: string | null
  created_at: number
  updated_at: number
}

const COLUMNS =
  'id, query, mode, trigger, status, occurrences, asked_at, metadata, answer_trace_id, created_at, updated_at'

export function* lookupFailedQuery(reader: Reader, space: SpaceRow, id: string): Read<FailedQueryRow | undefined> {
  if (!isUuid(id)) return undefined
  return yield* sql.get<FailedQueryRow>(
    `SELECT ${COLUMNS} FROM failed_queries WHERE tenant = ? AND space_key = ? AND id = ?
       AND ${sqlCanReadQuotes('failed_queries')}`,
    [space.tenant, space.key, id, toReaderParameter(reader)],
  )
}

/** Rows before an id (or all), newest first. */
export function* listFailedQueriesBefore(
  reader: Reader,
  space: SpaceRow,
  filter: { before: string | undefined; status: FailedQueryStatus | undefined; limit: number },
): Read<FailedQueryRow[]> {
  const { before, status, limit } = filter
  return yield* sql.all<FailedQueryRow>(
    `SELECT ${COLUMNS} FROM failed_queries WHERE tenant = ? AND space_key = ? AND (? IS NULL OR id < ?) AND (? IS NULL OR status = ?)
       AND ${sqlCanReadQuotes('failed_queries')} ORDER BY id DESC LIMIT ?`,
    [
      space.tenant,
      space.key,
      before ?? null,
      before ?? null,
      status ?? null,
      status ?? null,
      toReaderParameter(reader),
      limit,
    ],
  )
}

/** Rows before triage, oldest first. */
export function* listFailedQueriesToTriage(reader: Reader, space: SpaceRow, limit: number): Read<FailedQueryRow[]> {
  return yield* sql.all<FailedQueryRow>(
    `SELECT ${COLUMNS} FROM failed_queries WHERE tenant = ? AND space_key = ? AND status = 'pending-triage'
       AND ${sqlCanReadQuotes('failed_queries')} ORDER BY id LIMIT ?`,
    [space.tenant, space.key, toReaderParameter(reader), limit],
  )
}

export function* countFailedQueriesByStatus(
  reader: Reader,
  space: SpaceRow,
): Read<{ status: FailedQueryStatus; n: number }[]> {
  return yield* sql.all<{ status: FailedQueryStatus; n: number }>(
    `SELECT status, count(*) n FROM failed_queries WHERE tenant = ? AND space_key = ?
       AND ${sqlCanReadQuotes('failed_queries')} GROUP BY status`,
    [space.tenant, space.key, toReaderParameter(reader)],
  )
}

/**
 * Moves a failed query by one of the allowed moves, as one conditional update, inside the caller's transaction; the
 * same statement sets `notes` in its metadata, so that a repeat that is counted meanwhile is not lost.
 *
 * @returns whether one of the moves applied
 */
export function* moveFailedQuery(
  space: SpaceRow,
  id: string,
  allowedMoves: readonly { from: FailedQueryStatus; to: FailedQueryStatus }[],
  notes: { key: 'triage' | 'verdict'; value: Record<string, unknown> },
): Write<boolean> {
  const moves = JSON.stringify(allowedMoves)
  return (
    (yield* sql.run(
      `UPDATE failed_queries SET updated_at = ?, metadata = json_set(metadata, '$.' || ?, json(?)),
         status = (SELECT value ->> '$.to' FROM json_each(?) WHERE value ->> '$.from' = status)
       WHERE tenant = ? AND space_key = ? AND id = ? AND status IN (SELECT value ->> '$.from' FROM json_each(?))`,
      [yield* readClock(), notes.key, JSON.stringify(notes.value), moves, space.tenant, space.key, id, moves],
    )).changes > 0
  )
}

export function toFailedQuery(space: SpaceRow, row: FailedQueryRow): FailedQuery {
  // `pointed` is internal to clustering
  const { pointed: _, ...metadata }: Record<string, unknown> = parseJsonCell(row.metadata)
  return {
    id: row.id,
    knowledgeSpaceId: space.id,
    query: row.query,
    mode: row.mode,
    trigger: row.trigger,
    status: row.status,
    metadata: { ...metadata, occurrences: row.occurrences, lastAskedAt: new Date(row.asked_at).toISOString() },
    ...omitUndefined({ answerTraceId: row.answer_trace_id ?? undefined }),
    createdAt: new Date(row.created_at).toISOString(),
    updatedAt: new Date(row.updated_at).toISOString(),
  }
}
