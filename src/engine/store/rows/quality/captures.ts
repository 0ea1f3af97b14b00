import { LIMITS } from '../../../../contract/limits.js'
import { type Read, readClock, sql, type Write } from '../../program.js'

/** Whether a trace is stored, of a space that exists. */
export function* isTraceStored(tenant: string, spaceKey: number, traceId: string): Read<boolean> {
  return yield* sql.exists(
    `SELECT 1 one FROM traces t CROSS JOIN spaces s ON s.key = t.space_key
     WHERE t.id = ? AND t.tenant = ? AND t.space_key = ? AND s.tenant = t.tenant AND s.deleted_at IS NULL`,
    [traceId, tenant, spaceKey],
  )
}

/** The fields of a new failed query. */
export interface NewFailedQuery {
  id: string
  tenant: string
  spaceKey: number
  query: string
  /** equal for equal queries */
  queryKey: string
  clusterKey: string
  mode: string
  trigger: string
  traceId: string
}

/** Rows that count repeats of a query and quote the same restricted sources, newest first. */
export function* listOpenRepeats(
  { tenant, spaceKey, queryKey }: Pick<NewFailedQuery, 'tenant' | 'spaceKey' | 'queryKey'>,
  quotes: readonly string[],
  limit: number,
): Read<{ id: string; status: string }[]> {
  return yield* sql.all<{ id: string; status: string }>(
    `SELECT id, status FROM failed_queries WHERE tenant = ? AND space_key = ? AND query_key = ?
       AND status NOT IN ('annotated', 'promoted')
       AND coalesce((SELECT json_group_array(source_id) FROM (SELECT source_id FROM quoted_sources q
         WHERE q.tenant = failed_queries.tenant AND q.owner = failed_queries.id ORDER BY source_id)), '[]') = ? ORDER BY id DESC LIMIT ?`,
    [tenant, spaceKey, queryKey, JSON.stringify(quotes), limit],
  )
}

/** Counts a repeat, inside the caller's transaction. */
export function* countRepeat({
  id,
  tenant,
  trigger,
  mode,
  traceId,
}: Pick<NewFailedQuery, 'id' | 'tenant' | 'trigger' | 'mode' | 'traceId'>): Write<void> {
  const now = yield* readClock()
  yield* sql.run(
    `UPDATE failed_queries SET occurrences = occurrences + 1, asked_at = ?, updated_at = ?, trigger = ?, mode = ?,
       answer_trace_id = ? WHERE tenant = ? AND id = ?`,
    [now, now, trigger, mode, traceId, tenant, id],
  )
}

/** Inserts a failed query before its triage and clustering, inside the caller's transaction. */
export function* insertFailedQuery(failedQuery: NewFailedQuery): Write<void> {
  const now = yield* readClock()
  const { id, tenant, spaceKey, query, queryKey, clusterKey, mode, trigger, traceId } = failedQuery
  yield* sql.run(
    `INSERT INTO failed_queries (id, tenant, space_key, query, query_key, cluster_key, unclustered, mode, trigger, status,
       occurrences, asked_at, metadata, answer_trace_id, created_at, updated_at)
     VALUES (?, ?, ?, ?, ?, ?, 1, ?, ?, 'pending-triage', 1, ?, '{}', ?, ?, ?)`,
    [id, tenant, spaceKey, query, queryKey, clusterKey, mode, trigger, now, traceId, now, now],
  )
}

/** Whether a cluster has this key. */
export function* isClusterKeyTaken(tenant: string, spaceKey: number, key: string): Read<boolean> {
  return yield* sql.exists(
    'SELECT 1 one FROM failed_queries WHERE tenant = ? AND space_key = ? AND cluster_key = ? LIMIT 1',
    [tenant, spaceKey, key],
  )
}

/**
 * In a full space, removes the row that was settled longest ago; open rows are never removed. @returns whether a row
 * can be inserted
 */
export function* evictSettledFailedQuery(tenant: string, spaceKey: number): Write<boolean> {
  const count = yield* sql.count('SELECT count(*) n FROM failed_queries WHERE tenant = ? AND space_key = ?', [
    tenant,
    spaceKey,
  ])
  if (count < LIMITS.failedQueriesPerSpace) return true
  const removed = yield* sql.run(
    `DELETE FROM failed_queries WHERE (tenant, id) = (SELECT tenant, id FROM failed_queries WHERE tenant = ? AND space_key = ?
       AND status IN ('dismissed', 'annotated', 'promoted') ORDER BY updated_at, id LIMIT 1)`,
    [tenant, spaceKey],
  )
  return removed.changes > 0
}
