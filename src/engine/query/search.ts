import { KsError } from '../../contract/errors.js'
import type { SearchBody, SearchResult } from '../../contract/gateway/search.js'
import { newId } from '../../lib/ids.js'
import { omitUndefined } from '../../lib/omit-undefined.js'
import type { Caller } from '../base/caller.js'
import type { EngineContext } from '../context.js'
import { TraceRecorder } from '../traces/recorder.js'
import { admit } from './admission.js'
import { toEvidenceItem } from './evidence.js'
import { computeFreshnessWithFiles } from './freshness.js'
import type { QueryGate } from './gate.js'
import { resolveMode } from './mode.js'
import { type QueryShared, retrieveInMode } from './stages.js'

const SEARCH_TIMEOUT_MS = 60_000

/**
 * Finds passages with the retrieval of queries, in the same order. Nothing is answered and nothing is stored: no trace,
 * no session, no failed query.
 *
 * @throws KsError as a query does
 */
export async function searchSpace(
  context: EngineContext,
  shared: QueryShared & { gate: QueryGate },
  caller: Caller,
  knowledgeSpaceId: string,
  { limit, ...fields }: SearchBody,
): Promise<SearchResult> {
  const body = { knowledgeSpaceId, ...fields }
  const admitted = await context.db.read(admit(context, caller, body))
  const { profile, space, snapshot } = admitted
  const deadline = new AbortController()
  const { signal } = deadline
  const timeoutError = new KsError('unavailable', `the search took longer than ${SEARCH_TIMEOUT_MS / 1000} s`)
  const timer = setTimeout(() => deadline.abort(timeoutError), SEARCH_TIMEOUT_MS)
  timer.unref()
  const leave = await shared.gate.enter(caller.tenant, signal)
  const lease = context.leases.acquire({
    spaceKey: space.key,
    sessionId: newId(),
    type: 'read',
    targetType: 'publication',
    targetId: snapshot.publicationId,
    virtualPath: '/evidence',
  })
  try {
    lease.keepAlive()
    const route = await resolveMode(context, space, profile, body, signal)
    // With a larger `topK` the first passages stay those of a query, also in modes that reserve some ranks.
    const wide = { ...admitted, profile: { ...profile, topK: Math.max(profile.topK, limit) } }
    const recorder = new TraceRecorder()
    const { retrieved } = await retrieveInMode(context, shared, {
      body,
      query: body.query,
      admitted: wide,
      route,
      recorder,
      signal,
    })
    const found = retrieved.ranked.slice(0, limit)
    const freshness = await computeFreshnessWithFiles(
      context,
      found.map(({ passage }) => passage),
    )
    const reasons = retrieved.metrics.degradedReasons
    return {
      query: body.query,
      mode: route.resolvedMode,
      publicationId: snapshot.publicationId,
      items: found.map((passage) => {
        const { conflicts: _, ...item } = toEvidenceItem(passage, freshness.get(passage.passage.doc_key))
        return item
      }),
      ...omitUndefined({ searchedFor: retrieved.searchedFor }),
      degradedReasons: Array.isArray(reasons) ? reasons.map(String) : [],
    }
  } finally {
    clearTimeout(timer)
    lease.release()
    leave()
  }
}
