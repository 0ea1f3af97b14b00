import { computeAnswerConfidence, type QuestionStatistics, sumWeights } from './confidence.js'
import type { FoundBy, InclusionReason, RankedPassage } from './evidence.js'

/**
 * Minimum score of a relevant passage, as a fraction of the best one's. Chosen with the two values below so that
 * nDCG@10 of no set falls (November 2026).
 */
const MIN_SCORE_FRACTION = 0.25
/** A passage whose own confidence is at least this fraction of the highest one is also evidence. */
const MIN_CONFIDENCE_FRACTION = 0.05
/**
 * So is a passage that adds at least this fraction of the question's weight in new terms: it covers another part of the
 * question. A tenth lost the second half of two-hop questions (`npm run bench:multihop`).
 */
const MIN_ADDED_FRACTION = 0.02
/** Such a passage scores low against the complete question; its score was assigned for its rank. */
const SECOND_HOP = 'second-hop'
/** Usual number of passages of a profile. */
const USUAL_TOP_K = 10

/**
 * Selects the passages that are evidence: all up to the last one that scores near the best, answers itself, or covers
 * more of the question. Second-hop passages and the best passage are always evidence. Everything is evidence when
 * passages were not compared with the question (research mode, profiles without rerank), and when a profile asks for
 * more passages than usual.
 *
 * @param ranked in rank order
 * @param topK number of passages of the profile
 */
export function selectRelevantPassages<T extends Omit<RankedPassage, 'passage'>>(
  ranked: readonly T[],
  { idf, statistics, topK }: { idf: (term: string) => number; statistics: QuestionStatistics; topK: number },
): T[] {
  const confidences = ranked.map((one) =>
    one.navigation === undefined ? getOwnConfidence(one, statistics) : undefined,
  )
  if (topK > USUAL_TOP_K || confidences.includes(undefined)) return [...ranked]
  const best = Math.max(0, ...ranked.map(({ final }) => final))
  const maxConfidence = Math.max(0, ...confidences.map((confidence = 0) => confidence))
  const seenTerms = new Set<string>()
  let count = 1
  for (const [index, one] of ranked.entries()) {
    const { final, containedTerms = [], byGraph, byMeaning } = one
    const more = sumWeights(
      containedTerms.filter((term) => !seenTerms.has(term)),
      idf,
    )
    for (const term of containedTerms) seenTerms.add(term)
    const isNear = final >= MIN_SCORE_FRACTION * best && byGraph !== SECOND_HOP
    const answersToo = (confidences[index] ?? 0) >= MIN_CONFIDENCE_FRACTION * maxConfidence
    const coversMore = more >= MIN_ADDED_FRACTION * statistics.weight
    const matchesByVector = statistics.byVectors !== undefined && byMeaning === true
    if (isNear || answersToo || coversMore || matchesByVector) count = index + 1
  }
  return ranked.filter(({ byGraph }, index) => index < count || byGraph === SECOND_HOP)
}

/**
 * Explains why each passage is included.
 *
 * @param ranked in rank order
 * @param wordsOf gives the question's words for terms of it (`parseQuestionWords`)
 */
export function explainInclusion(
  ranked: readonly RankedPassage[],
  wordsOf: (terms: ReadonlySet<string>) => string[],
  statistics: QuestionStatistics,
): InclusionReason[] {
  const seenTerms = new Set<string>()
  return ranked.map((one): InclusionReason => {
    const { containedTerms = [] } = one
    const added = new Set(containedTerms.filter((term) => !seenTerms.has(term)))
    for (const term of containedTerms) seenTerms.add(term)
    const confidence = getOwnConfidence(one, statistics)
    return {
      by: getFoundBy(one),
      words: wordsOf(new Set(containedTerms)),
      adds: wordsOf(added),
      ...(confidence === undefined ? {} : { confidence: Math.round(confidence * 10_000) / 10_000 }),
    }
  })
}

/** Probability that a passage answers by itself, 0 to 1; undefined when its text was not compared with the question. */
export function getOwnConfidence(
  { alone, features }: Pick<RankedPassage, 'alone' | 'features'>,
  statistics: QuestionStatistics,
): number | undefined {
  return alone ?? (features === undefined ? undefined : computeAnswerConfidence(features, statistics))
}

function getFoundBy({ navigation, byGraph, byMeaning = false, containedTerms = [] }: RankedPassage): FoundBy {
  if (navigation !== undefined) return 'sections'
  if (byGraph !== undefined) return byGraph
  if (containedTerms.length === 0) return 'meaning'
  return byMeaning ? 'words-and-meaning' : 'words'
}
