import { setTimeout as sleep } from 'node:timers/promises'
import { KsError } from '../../contract/errors.js'
import type { EngineContext } from '../context.js'
import { isOpen } from '../rows/permissions.js'
import { visibleKeys } from '../rows/queries.js'
import type { SpaceRow } from '../rows/spaces.js'
import type { SearchHit, SearchHits, SearchRequest } from '../search/ports.js'
import { type Read, sql } from '../storage/program.js'

/** How long the vectors of a space may take that was just opened, or has just published its first model. */
const LOADED_WITHIN_MS = 20_000
const POLL_MS = 250

/**
 * Where a failed query is looked up: among what everybody of the tenant may know of, and what comes from the sources that
 * the query quotes. Whoever may see the query may see what triage says of it.
 */
export interface Searched {
  space: SpaceRow
  /** ids of sources */
  audience: readonly string[]
}

/**
 * Published hits, of those that the query's readers may know of. An index that is still loading is waited for.
 *
 * @throws KsError `unavailable` when the indexes cannot be asked
 */
export async function visibleHits(
  context: EngineContext,
  { space, audience }: Searched,
  request: SearchRequest,
): Promise<SearchHit[]> {
  if (request.terms.length === 0 && request.vector === undefined) return []
  const { hits, degraded } = await searchWhole(context, space.id, request)
  if (degraded.length > 0)
    throw new KsError('unavailable', `the search indexes cannot be asked now: ${degraded.join('; ')}`)
  const snapshot = {
    publicationId: space.publication_id,
    fingerprint: space.fingerprint,
    headRevision: space.head_revision,
    projectionVersion: space.head_revision,
  }
  const visible = context.db.now(
    visibleKeys(
      space.key,
      snapshot,
      hits.map(({ key }) => key),
    ),
  )
  const open = new Set(context.db.now(openKeys([...visible], audience)))
  return hits.filter(({ key }) => open.has(key))
}

async function searchWhole(context: EngineContext, spaceId: string, request: SearchRequest): Promise<SearchHits> {
  const deadline = performance.now() + LOADED_WITHIN_MS
  for (;;) {
    const found = await context.indexes.search(spaceId, request)
    if (found.degraded.length === 0 || request.vector === undefined || performance.now() > deadline) return found
    await sleep(POLL_MS, undefined, { ref: false })
  }
}

function* openKeys(keys: readonly number[], audience: readonly string[]): Read<number[]> {
  return (yield* sql.all<{ key: number }>(
    `SELECT n.key FROM json_each(?) wanted CROSS JOIN nodes n ON n.key = wanted.value
       CROSS JOIN documents d ON d.key = n.doc_key
       WHERE ${isOpen('d.source_id')} OR d.source_id IN (SELECT value FROM json_each(?)) ORDER BY wanted.key`,
    [JSON.stringify(keys), JSON.stringify(audience)],
  )).map(({ key }) => key)
}
