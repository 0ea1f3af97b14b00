import type { ClustersQuery, FailedQueryClusters, FailedQueryStatus } from '../../contract/gateway/failed-queries.js'
import { LIMITS } from '../../contract/limits.js'
import type { Caller } from '../base/caller.js'
import { askerOf } from '../rows/permissions.js'
import { lookupFailed, toFailedQuery } from '../rows/quality/failed-queries.js'
import { quotesKnown } from '../rows/quotes.js'
import { findSpace, type SpaceRow } from '../rows/spaces.js'
import type { Database } from '../storage/database.js'
import { type Read, sql } from '../storage/program.js'
import { readable, unlessDamaged } from '../storage/readable.js'

/**
 * Failed queries that ask the same, as it was decided when each was captured, the most frequent first; each is represented by its most often asked
 * query, of several the oldest. `count` is how many there are; where that is equal, repeats counted within them decide.
 */
export function* clusterFailedQueries(
  db: Database,
  caller: Caller,
  spaceId: string,
  query: ClustersQuery,
): Read<FailedQueryClusters> {
  const space = yield* findSpace(caller.tenant, spaceId)
  const limit = Math.min(query.limit, LIMITS.failedClusters.max)
  const clusters = yield* largest(caller, space, query.status, limit)
  const members = yield* membersOf(
    caller,
    space,
    query.status,
    clusters.map(({ cluster_key }) => cluster_key),
  )
  return {
    clusters: clusters.flatMap(({ cluster_key, n }) => {
      const failedQueryIds = members.get(cluster_key) ?? []
      for (const id of failedQueryIds) {
        const row = db.now(lookupFailed(caller, space, id))
        const representative = row === undefined ? undefined : unlessDamaged(() => toFailedQuery(space, row))
        if (representative !== undefined) return [{ clusterKey: cluster_key, count: n, failedQueryIds, representative }]
      }
      return []
    }),
  }
}

function* largest(caller: Caller, space: SpaceRow, status: FailedQueryStatus | undefined, limit: number) {
  return yield* sql.all<{ cluster_key: string; n: number }>(
    `SELECT cluster_key, count(*) n FROM failed_queries WHERE tenant = ? AND space_key = ? AND (? IS NULL OR status = ?)
       AND ${quotesKnown('failed_queries.id')}
     GROUP BY cluster_key ORDER BY n DESC, sum(occurrences) DESC, max(asked_at) DESC, cluster_key LIMIT ?`,
    [space.tenant, space.key, status ?? null, status ?? null, askerOf(caller), limit],
  )
}

/** Ids of each cluster's queries, the most often asked first. */
function* membersOf(
  caller: Caller,
  space: SpaceRow,
  status: FailedQueryStatus | undefined,
  keys: string[],
): Read<Map<string, string[]>> {
  const rows = yield* sql.all<{ id: string; cluster_key: string }>(
    `SELECT id, cluster_key FROM failed_queries WHERE tenant = ? AND space_key = ? AND (? IS NULL OR status = ?)
       AND ${quotesKnown('failed_queries.id')} AND cluster_key IN (SELECT value FROM json_each(?)) ORDER BY occurrences DESC, id`,
    [space.tenant, space.key, status ?? null, status ?? null, askerOf(caller), JSON.stringify(keys)],
  )
  const members = new Map<string, string[]>()
  for (const { id, cluster_key } of readable(rows, (row) => ({ id: row.id, cluster_key: row.cluster_key }))) {
    const ids = members.get(cluster_key)
    if (ids === undefined) members.set(cluster_key, [id])
    else ids.push(id)
  }
  return members
}
