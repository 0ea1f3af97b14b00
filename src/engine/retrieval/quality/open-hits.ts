import { setTimeout as sleep } from 'node:timers/promises'
import { KsError } from '../../../contract/errors.js'
import type { EngineContext } from '../../library/index.js'
import type { SearchHit, SearchHits, SearchRequest } from '../../search/index.js'
import type { Read } from '../../store/program.js'
import { filterVisibleKeys } from '../../store/rows/queries.js'
import type { SpaceRow } from '../../store/rows/spaces.js'
import { filterOpenPassages } from '../rows/quality/evidence.js'

/** Maximum wait for the vectors of a space that was just opened, or has just published its first model. */
const MAX_LOAD_WAIT_MS = 20_000
const POLL_MS = 250

/**
 * Where a failed query is looked up: in what all users of the tenant may know of, and in the sources that the query
 * quotes. Its readers are those of the query.
 */
export interface TriageScope {
  space: SpaceRow
  /** ids of sources */
  audience: readonly string[]
}

/**
 * Finds published hits that the query's readers may know of. Waits for an index that is still loading.
 *
 * @throws KsError `unavailable` when the indexes cannot be queried
 */
export async function findVisibleHits(
  context: EngineContext,
  { space, audience }: TriageScope,
  request: SearchRequest,
): Promise<SearchHit[]> {
  if (request.terms.length === 0 && request.vector === undefined) return []
  const { hits, degraded } = await searchWhenLoaded(context, space.id, request)
  if (degraded.length > 0)
    throw new KsError('unavailable', `the search indexes cannot be used now: ${degraded.join('; ')}`)
  const open = await context.db.read(findOpenKeys({ space, audience }, hits))
  return hits.filter(({ key }) => open.has(key))
}

/** Selects the hits that are published and that the query's readers may know of. */
function* findOpenKeys({ space, audience }: TriageScope, hits: readonly SearchHit[]): Read<Set<number>> {
  const keys = hits.map(({ key }) => key)
  const visible = yield* filterVisibleKeys(space.key, { headRevision: space.head_revision }, keys)
  return new Set(yield* filterOpenPassages([...visible], audience))
}

async function searchWhenLoaded(context: EngineContext, spaceId: string, request: SearchRequest): Promise<SearchHits> {
  const deadline = performance.now() + MAX_LOAD_WAIT_MS
  for (;;) {
    const found = await context.indexes.search(spaceId, request)
    if (found.degraded.length === 0 || request.vector === undefined || performance.now() > deadline) return found
    await sleep(POLL_MS, undefined, { ref: false })
  }
}
