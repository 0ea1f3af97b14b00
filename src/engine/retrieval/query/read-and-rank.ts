import { addReworded, type Rewording } from '../../../lib/text/compounds.js'
import { type AnalysedPassage, findContainedTerms } from '../../knowledge/index.js'
import type { Driver } from '../../store/driver.js'
import { loadPassages, loadVectors, type PassageRow } from '../../store/rows/queries.js'
import { beginRanking, type Ranking, type RankRequest } from './rank.js'

/**
 * Ranks candidates by their texts and, when texts leave the order open, by their vectors.
 *
 * @param likeIn the vector space of these vectors
 */
export async function readAndRank(
  db: Driver,
  spaceKey: number,
  request: RankRequest,
  likeIn: string | undefined,
): Promise<Ranking & { loaded: Map<number, PassageRow> }> {
  const ranking = beginRanking(request)
  const loaded = await db.read(loadPassages(spaceKey, ranking.texts))
  const { open, finish } = ranking.compared(loaded)
  const hasVectors = likeIn !== undefined && open.length > 0
  return { ...finish(hasVectors ? await db.read(loadVectors(likeIn, open)) : undefined), loaded }
}

/** Terms of the question that a passage contains, itself or reworded. */
export function heldBy(
  passage: AnalysedPassage,
  terms: readonly string[],
  rewordings: readonly Rewording[] = [],
): string[] {
  const found = new Set(
    findContainedTerms(passage, [...terms, ...rewordings.flatMap(({ documentTerms }) => documentTerms)]),
  )
  addReworded(found, rewordings)
  return [...new Set(terms)].filter((term) => found.has(term))
}
