import type { TermCorrection } from '../../../../contract/gateway/queries.js'
import { omitUndefined } from '../../../../lib/omit-undefined.js'
import type { Degradation } from '../../../base/degraded.js'
import { REFUSAL_THRESHOLD } from '../answerability.js'
import { type QuestionStatistics, sumWeights } from '../confidence.js'
import { removeCopiedRows } from '../copies.js'
import type { RankedPassage } from '../evidence.js'
import { getOwnConfidence } from '../relevance.js'
import type { RetrievalResult } from '../retrieval.js'
import { MIN_SPACE_NODES } from '../term-weights.js'

/** The usual constant of reciprocal rank fusion (Cormack, Clarke and Büttcher, 2009). */
const RANK_CONSTANT = 60

/**
 * Merges the rankings of several spaces by reciprocal rank fusion of two orders: by score, which is comparable between
 * spaces but not between all their models, and by rank within the space. The order within a space stays. Spaces whose
 * best score means that nothing is near the question come after all others.
 */
export function mergeRankings(
  rankings: readonly (readonly RankedPassage[])[],
  terms: readonly string[],
): RankedPassage[] {
  const isNear = (ranked: readonly RankedPassage[]) => ranked.some(({ final }) => final >= REFUSAL_THRESHOLD)
  const near = rankings.filter(isNear)
  const far = rankings.filter((ranked) => !isNear(ranked))
  return removeCopiedRows([...fuseRankings(near), ...fuseRankings(far)], terms)
}

function fuseRankings(rankings: readonly (readonly RankedPassage[])[]): RankedPassage[] {
  const entries = rankings.flatMap((ranked) =>
    ranked.map((one, rank) => ({
      one,
      rank,
      // A passage that was moved up counts as much as the best one after it.
      score: Math.max(...ranked.slice(rank).map(({ final }) => final)),
      fused: 0,
    })),
  )
  const byScore = [...entries].sort((a, b) => b.score - a.score || a.rank - b.rank)
  const byRank = [...entries].sort((a, b) => a.rank - b.rank || b.score - a.score)
  for (const order of [byScore, byRank])
    for (const [index, entry] of order.entries()) entry.fused += 1 / (RANK_CONSTANT + index + 1)
  return byScore.sort((a, b) => b.fused - a.fused).map(({ one }) => one)
}

/**
 * Merges retrievals of one question in several spaces, as if they were one space: the weight of a term follows from its
 * frequency in all of them. Each passage keeps the confidence that it has in its own space.
 *
 * @param results at least one
 * @param size maximum number of passages
 */
export function mergeRetrievals(
  results: readonly RetrievalResult[],
  { size, degraded }: { size: number; degraded: Degradation[] },
): RetrievalResult {
  const terms = results.find((one) => one.terms.length > 0)?.terms ?? []
  const idf = mergeTermWeights(results)
  const ranked = mergeRankings(
    results.map((result) =>
      result.ranked.map((one) => ({ ...one, ...omitUndefined({ alone: getOwnConfidence(one, result.statistics) }) })),
    ),
    terms,
  )
  const searchedFor = mergeCorrections(results)
  const withheld = results.flatMap((one) => one.withheld ?? [])
  return {
    ranked: ranked.slice(0, size),
    terms,
    idf,
    statistics: mergeStatistics(results, sumWeights(terms, idf)),
    rewordings: results.flatMap(({ rewordings = [] }) => rewordings),
    ...(searchedFor.length === 0 ? {} : { searchedFor }),
    hasFigures: results.some(({ hasFigures }) => hasFigures === true),
    // What one space lacks may be in a permitted passage of another.
    ...(withheld.length === 0
      ? {}
      : {
          withheld: { holdsMore: withheld.length === results.length && withheld.every(({ holdsMore }) => holdsMore) },
        }),
    degraded,
    metrics: { spaceCount: results.length, finalCandidateCount: Math.min(size, ranked.length) },
  }
}

function countNodes({ statistics }: Pick<RetrievalResult, 'statistics'>): number {
  return Math.max(MIN_SPACE_NODES, statistics.nodes)
}

/** A weight is minus the logarithm of the fraction of passages with the term; the fractions are averaged. */
function mergeTermWeights(results: readonly RetrievalResult[]): (term: string) => number {
  const [only, second] = results
  if (only !== undefined && second === undefined) return only.idf
  const total = results.reduce((sum, one) => sum + countNodes(one), 0)
  const known = new Map<string, number>()
  return (term) => {
    const weight =
      known.get(term) ??
      -Math.log(results.reduce((sum, one) => sum + countNodes(one) * Math.exp(-one.idf(term)), 0) / total)
    known.set(term, weight)
    return weight
  }
}

function mergeStatistics(results: readonly RetrievalResult[], weight: number): QuestionStatistics {
  const max = (values: readonly number[]): number | undefined => (values.length === 0 ? undefined : Math.max(...values))
  const statistics = results.map((one) => one.statistics)
  return {
    weight,
    nodes: statistics.reduce((sum, { nodes }) => sum + nodes, 0),
    falloff: max(statistics.map(({ falloff }) => falloff)) ?? 0,
    ...omitUndefined({
      byVectors: max(statistics.flatMap(({ byVectors }) => byVectors ?? [])),
      byRerank: max(statistics.flatMap(({ byRerank }) => byRerank ?? [])),
    }),
  }
}

/** The corrections of words that no space contains. */
export function mergeCorrections(results: readonly Pick<RetrievalResult, 'searchedFor'>[]): TermCorrection[] {
  const all = results.map(({ searchedFor = [] }) => searchedFor)
  const common = (all[0] ?? []).filter(({ asked }) => all.every((list) => list.some((one) => one.asked === asked)))
  const commonWords = new Set(common.map(({ asked }) => asked))
  const distinct = new Map(
    all
      .flat()
      .filter(({ asked }) => commonWords.has(asked))
      .map((one) => [`${one.asked}\n${one.searched}`, one]),
  )
  return [...distinct.values()]
}
