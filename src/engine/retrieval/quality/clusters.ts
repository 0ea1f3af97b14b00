import type { ClustersQuery, FailedQuery, FailedQueryClusters } from '../../../contract/gateway/failed-queries.js'
import { LIMITS } from '../../../contract/limits.js'
import type { Caller } from '../../base/caller.js'
import type { Read } from '../../store/program.js'
import { unlessDamaged } from '../../store/readable.js'
import { findSpace, type SpaceRow } from '../../store/rows/spaces.js'
import { listClusterMembers, listLargestClusters } from '../rows/quality/clusters.js'
import { lookupFailedQuery, toFailedQuery } from '../rows/quality/failed-queries.js'

/**
 * Lists clusters of failed queries that ask the same, as decided when each was captured, the most frequent first. Each
 * is represented by its most frequent query, the oldest of equals. `count` is the number of queries; equal counts are
 * ordered by the repeats within them.
 */
export function* clusterFailedQueries(
  caller: Caller,
  spaceId: string,
  query: ClustersQuery,
): Read<FailedQueryClusters> {
  const space = yield* findSpace(caller.tenant, spaceId)
  const limit = Math.min(query.limit, LIMITS.failedClusters.max)
  const clusters = yield* listLargestClusters(caller, space, query.status, limit)
  const members = yield* listClusterMembers(
    caller,
    space,
    query.status,
    clusters.map(({ cluster_key }) => cluster_key),
  )
  const shown: FailedQueryClusters['clusters'] = []
  for (const { cluster_key, n } of clusters) {
    const failedQueryIds = members.get(cluster_key) ?? []
    const representative = yield* findFirstReadable(caller, space, failedQueryIds)
    if (representative !== undefined) shown.push({ clusterKey: cluster_key, count: n, failedQueryIds, representative })
  }
  return { clusters: shown }
}

function* findFirstReadable(caller: Caller, space: SpaceRow, ids: readonly string[]): Read<FailedQuery | undefined> {
  for (const id of ids) {
    const row = yield* lookupFailedQuery(caller, space, id)
    const found = row === undefined ? undefined : unlessDamaged(() => toFailedQuery(space, row))
    if (found !== undefined) return found
  }
  return undefined
}
