import { computeAnswerConfidence, type QuestionStatistics } from '../confidence.js'
import type { PassageFeatures } from '../rerank.js'
import { type ComparablePassage, type ConflictFindings, findContradictions } from './contradictions.js'

/** An item of evidence that is compared for contradictions. */
export interface ComparedItem extends ComparablePassage {
  /** final score, 0 to 1 */
  score: number
  features?: PassageFeatures
}

/** Minimum score of a contradicting item, as a fraction of the best score, … */
const MIN_SCORE_FRACTION = 0.25
/** … or its minimum confidence on its own. */
const MIN_OWN_CONFIDENCE = 0.5
/** Minimum fraction of the question that a sentence and the title contain: otherwise no sentence is read. */
const MIN_ITEM_COVERAGE = 0.3

/**
 * Finds contradictions among items that are comparable with the best one. Scores are relative to the candidates: of two
 * items that state nearly the same, the second may have half of the first's score. So each item's own confidence counts
 * too.
 *
 * @param request `terms` of the question, weighed by `idf`; `agree` excludes pairs of sentences
 * @param considered in rank order
 */
export function findItemConflicts(
  {
    query,
    terms,
    idf,
    asked: statistics,
    agree = () => false,
  }: {
    query: string
    terms: readonly string[]
    idf: (term: string) => number
    /** absent: items are compared by their scores only */
    asked?: QuestionStatistics
    agree?: (one: string, other: string) => boolean
  },
  considered: readonly ComparedItem[],
): ConflictFindings {
  const computeOwnConfidence = (item: ComparedItem | undefined): number =>
    item?.features === undefined || statistics === undefined ? 0 : computeAnswerConfidence(item.features, statistics)
  const [best] = considered
  const indexes = considered.flatMap((item, index) =>
    (item.features === undefined ||
      item.features.sentenceCoverage + item.features.titleCoverage >= MIN_ITEM_COVERAGE) &&
    (item.score >= MIN_SCORE_FRACTION * (best?.score ?? 0) ||
      computeOwnConfidence(item) >= Math.max(MIN_OWN_CONFIDENCE, MIN_SCORE_FRACTION * computeOwnConfidence(best)))
      ? [index]
      : [],
  )
  const found = findContradictions(
    query,
    terms,
    idf,
    indexes.flatMap((index) => considered[index] ?? []),
  )
  const at = (index: number): number => indexes[index] ?? index
  const indexed = <T extends { item: number; other: number }>(pair: T): T => ({
    ...pair,
    item: at(pair.item),
    other: at(pair.other),
  })
  return {
    conflicts: found.conflicts.filter(({ says: [one, other] }) => !agree(one, other)).map(indexed),
    differences: found.differences
      .map(indexed)
      .map((pair) => (pair.newer === undefined ? pair : { ...pair, newer: at(pair.newer) })),
  }
}
