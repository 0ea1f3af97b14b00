import { computeAnswerConfidence, type QuestionStatistics } from './confidence.js'
import type { FoundBy, InclusionReason, RankedPassage } from './evidence.js'

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
    const held = one.held ?? []
    const added = new Set(held.filter((term) => !seenTerms.has(term)))
    for (const term of held) seenTerms.add(term)
    const confidence = getOwnConfidence(one, statistics)
    return {
      by: getFoundBy(one),
      words: wordsOf(new Set(held)),
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

function getFoundBy({ navigation, byGraph, byMeaning = false, held = [] }: RankedPassage): FoundBy {
  if (navigation !== undefined) return 'sections'
  if (byGraph !== undefined) return byGraph
  if (held.length === 0) return 'meaning'
  return byMeaning ? 'words-and-meaning' : 'words'
}
