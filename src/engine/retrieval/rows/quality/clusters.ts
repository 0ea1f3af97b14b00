import type { FailedQueryStatus } from '../../../../contract/gateway/failed-queries.js'
import { type Read, sql, type Write } from '../../../store/program.js'
import { jsonPathSql, mapReadable } from '../../../store/readable.js'
import { type Reader, toReaderParameter } from '../../../store/rows/permissions.js'
import { sqlCanReadQuotes } from '../../../store/rows/quotes.js'
import type { SpaceRow } from '../../../store/rows/spaces.js'

/** A failed query that is not clustered yet. */
export interface UnclusteredRow {
  id: string
  query: string
  tenant: string
  answer_trace_id: string | null
}

/** A failed query of a cluster. */
export interface MemberRow {
  cluster_key: string
  query: string
  /** JSON of the sentences that it refers to */
  pointed: string | null
}

/** The cluster scope of a failed query. */
export interface FailedQueryScope {
  tenant: string
  spaceKey: number
  /**
   * ids of the restricted sources that it quotes, sorted: all queries of a cluster have the same ones, so that a reader
   * sees all or none
   */
  quotes: readonly string[]
}

/** Clusters of a space, the largest first. */
export function* listLargestClusters(
  reader: Reader,
  space: SpaceRow,
  status: FailedQueryStatus | undefined,
  limit: number,
): Read<{ cluster_key: string; n: number }[]> {
  return yield* sql.all<{ cluster_key: string; n: number }>(
    `SELECT cluster_key, count(*) n FROM failed_queries WHERE tenant = ? AND space_key = ? AND (? IS NULL OR status = ?)
       AND ${sqlCanReadQuotes('failed_queries')}
     GROUP BY cluster_key ORDER BY n DESC, sum(occurrences) DESC, max(asked_at) DESC, cluster_key LIMIT ?`,
    [space.tenant, space.key, status ?? null, status ?? null, toReaderParameter(reader), limit],
  )
}

/** Ids of each cluster's queries, the most frequent first. */
export function* listClusterMembers(
  reader: Reader,
  space: SpaceRow,
  status: FailedQueryStatus | undefined,
  keys: readonly string[],
): Read<Map<string, string[]>> {
  const rows = yield* sql.all<{ id: string; cluster_key: string }>(
    `SELECT id, cluster_key FROM failed_queries WHERE tenant = ? AND space_key = ? AND (? IS NULL OR status = ?)
       AND ${sqlCanReadQuotes('failed_queries')} AND cluster_key IN (SELECT value FROM json_each(?)) ORDER BY occurrences DESC, id`,
    [space.tenant, space.key, status ?? null, status ?? null, toReaderParameter(reader), JSON.stringify(keys)],
  )
  const members = new Map<string, string[]>()
  for (const { id, cluster_key } of mapReadable(rows, (row) => ({ id: row.id, cluster_key: row.cluster_key }))) {
    const ids = members.get(cluster_key)
    if (ids === undefined) members.set(cluster_key, [id])
    else ids.push(id)
  }
  return members
}

/**
 * SQL: whether a row quotes no restricted source, or exactly the given ones; most rows quote none, and comparing lists
 * costs more
 */
const QUOTES_NONE = `NOT EXISTS (SELECT 1 FROM quoted_sources q
         WHERE q.tenant = failed_queries.tenant AND q.owner = failed_queries.id)`
const QUOTES_THESE = `coalesce((SELECT json_group_array(source_id) FROM (SELECT source_id FROM quoted_sources q
         WHERE q.tenant = failed_queries.tenant AND q.owner = failed_queries.id ORDER BY source_id)), '[]') = ?`

/** Clustered failed queries that quote the same restricted sources, newest first. */
export function* listClusteredQueries(
  { tenant, spaceKey, quotes }: FailedQueryScope,
  limit: number,
): Read<MemberRow[]> {
  return yield* sql.all<MemberRow>(
    `SELECT cluster_key, query, ${jsonPathSql('metadata', '$.pointed')} pointed FROM failed_queries WHERE tenant = ? AND space_key = ?
       AND unclustered = 0 AND ${quotes.length === 0 ? QUOTES_NONE : QUOTES_THESE} ORDER BY id DESC LIMIT ?`,
    [tenant, spaceKey, ...(quotes.length === 0 ? [] : [JSON.stringify(quotes)]), limit],
  )
}

/** Keys of the spaces with failed queries that are not clustered yet. */
export function* listUnclusteredSpaces(): Read<number[]> {
  const rows = yield* sql.all<{ space_key: number }>(
    'SELECT DISTINCT space_key FROM failed_queries WHERE unclustered = 1',
  )
  return rows.map(({ space_key }) => space_key)
}

/** Failed queries of a space that are not clustered yet, oldest first. */
export function* listUnclusteredQueries(spaceKey: number, limit: number): Read<UnclusteredRow[]> {
  return yield* sql.all<UnclusteredRow>(
    `SELECT id, query, tenant, answer_trace_id FROM failed_queries INDEXED BY failed_queries_unclustered
     WHERE space_key = ? AND unclustered = 1 ORDER BY id LIMIT ?`,
    [spaceKey, limit],
  )
}

export function* hasUnclustered(spaceKey: number): Read<boolean> {
  const row = yield* sql.get<{ one: number }>(
    'SELECT 1 one FROM failed_queries WHERE space_key = ? AND unclustered = 1 LIMIT 1',
    [spaceKey],
  )
  return row !== undefined
}

/**
 * Assigns a failed query to a cluster, inside the caller's transaction.
 *
 * @param cluster the key of the cluster that it joins; if absent, it stays in its own
 * @param pointed JSON of the sentences that it refers to, if any
 */
export function* assignCluster(
  { id, tenant }: UnclusteredRow,
  { cluster, pointed }: { cluster?: string | undefined; pointed?: string | undefined } = {},
): Write<void> {
  yield* sql.run(
    'UPDATE failed_queries SET unclustered = 0, cluster_key = coalesce(?, cluster_key) WHERE id = ? AND tenant = ?',
    [cluster ?? null, id, tenant],
  )
  if (pointed === undefined) return
  yield* sql.run(
    "UPDATE failed_queries SET metadata = json_set(metadata, '$.pointed', json(?)) WHERE id = ? AND tenant = ?",
    [pointed, id, tenant],
  )
}
