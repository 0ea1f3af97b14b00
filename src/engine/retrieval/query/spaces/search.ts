import type { SpacesSearchBody, SpacesSearchResult } from '../../../../contract/gateway/several-spaces.js'
import type { Caller } from '../../../base/caller.js'
import { toEvidenceItem } from '../evidence.js'
import { computeFreshnessWithFiles } from '../freshness.js'
import type { QueryServices } from '../retrieval.js'
import { runRetrieval, runWithLease } from '../retrieval-run.js'
import { SEARCH_LIMIT } from '../search.js'
import { admitSpaces } from './admit-spaces.js'
import { mergeCorrections, mergeRankings } from './merge.js'
import {
  citeSpaces,
  createSpaceRun,
  listDegradations,
  type SpaceRun,
  searchEach,
  toSearchedSpace,
} from './space-run.js'

type SpacePassages = Awaited<ReturnType<typeof runRetrieval>>

/**
 * Finds passages of several spaces, merged by rank. Nothing is answered and nothing is stored.
 *
 * @throws KsError as `admitSpaces`, and the error of the first space when none can be searched
 */
export async function searchSpaces(
  services: QueryServices,
  caller: Caller,
  { limit, ...body }: SpacesSearchBody,
): Promise<SpacesSearchResult> {
  const { context, gate } = services
  const { spaces, omitted } = await context.db.read(admitSpaces(context, caller, body))
  const runs = spaces.map((one): SpaceRun<SpacePassages> => createSpaceRun(context, one))
  const search = async (signal: AbortSignal): Promise<SpacesSearchResult> => {
    const searched = await searchEach(
      context,
      runs,
      (_, request) => {
        const { profile } = request.admitted
        const admitted = { ...request.admitted, profile: { ...profile, topK: Math.max(profile.topK, limit) } }
        return runWithLease(context, admitted, () => runRetrieval(services, { ...request, admitted, signal }))
      },
      signal,
    )
    const results = searched.map(({ found }) => found.retrieved)
    const ranked = mergeRankings(
      results.map((one) => one.ranked),
      results[0]?.terms ?? [],
    ).slice(0, limit)
    const freshness = await computeFreshnessWithFiles(
      context,
      ranked.map(({ passage }) => passage),
    )
    const found = ranked.map((passage) => {
      const { conflicts: _, ...item } = toEvidenceItem(passage, freshness.get(passage.passage.doc_key))
      return item
    })
    const items = citeSpaces(found, searched)
    const searchedFor = mergeCorrections(results)
    return {
      query: body.query,
      items,
      spaces: runs.map((run) => toSearchedSpace(run, items)),
      omittedSpaces: omitted,
      ...(searchedFor.length === 0 ? {} : { searchedFor }),
      degradedReasons: [...new Set(listDegradations(runs, omitted).map(({ reason }) => reason))],
    }
  }
  return gate.run(caller, SEARCH_LIMIT, search)
}
