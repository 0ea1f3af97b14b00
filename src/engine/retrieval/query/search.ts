import type { SearchBody, SearchResult } from '../../../contract/gateway/search.js'
import { omitUndefined } from '../../../lib/omit-undefined.js'
import type { Caller } from '../../base/caller.js'
import { admit } from './admission.js'
import { toEvidenceItem } from './evidence.js'
import { computeFreshnessWithFiles } from './freshness.js'
import type { QueryServices } from './retrieval.js'
import { runRetrieval, runWithLease } from './retrieval-run.js'

/** Limit of a search, also of one over several spaces. */
export const SEARCH_LIMIT = { timeoutMs: 60_000, message: 'the search took longer than 60 s' }

/**
 * Finds passages with the retrieval of queries, in the same order. Nothing is answered and nothing is stored: no trace,
 * no session, no failed query.
 *
 * @throws KsError as a query does
 */
export async function searchSpace(
  services: QueryServices,
  caller: Caller,
  knowledgeSpaceId: string,
  { limit, ...fields }: SearchBody,
): Promise<SearchResult> {
  const { context, gate } = services
  const body = { knowledgeSpaceId, ...fields }
  const found = await context.db.read(admit(context, caller, body))
  const { profile, snapshot } = found
  // With a larger `topK` the first passages stay those of a query, also in modes that reserve some ranks.
  const admitted = { ...found, profile: { ...profile, topK: Math.max(profile.topK, limit) } }
  const search = async (signal: AbortSignal): Promise<SearchResult> => {
    const { route, retrieved } = await runRetrieval(services, { admitted, body, signal })
    const ranked = retrieved.ranked.slice(0, limit)
    const freshness = await computeFreshnessWithFiles(
      context,
      ranked.map(({ passage }) => passage),
    )
    const reasons = retrieved.metrics.degradedReasons
    return {
      query: body.query,
      mode: route.resolvedMode,
      publicationId: snapshot.publicationId,
      items: ranked.map((passage) => {
        const { conflicts: _, ...item } = toEvidenceItem(passage, freshness.get(passage.passage.doc_key))
        return item
      }),
      ...omitUndefined({ searchedFor: retrieved.searchedFor }),
      degradedReasons: Array.isArray(reasons) ? reasons.map(String) : [],
    }
  }
  return gate.run(caller, SEARCH_LIMIT, (signal) => runWithLease(context, admitted, () => search(signal)))
}
