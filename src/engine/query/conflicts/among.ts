import { type AskedOf, answerConfidence } from '../confidence.js'
import type { Features } from '../rerank.js'
import { type Compared, contradictions, type Findings } from './contradictions.js'

/** An item of evidence that is compared for contradictions. */
export interface ComparedItem extends Compared {
  /** final score, 0 to 1 */
  score: number
  features?: Features
}

/** Minimum score of a contradicting item, as a fraction of the best score, … */
const COMPARABLE = 0.25
/** … or its minimum confidence on its own. */
const ANSWERS_FROM = 0.5
/** Minimum fraction of the question that a sentence and the title contain: otherwise no sentence is read. */
const CONCERNS = 0.3

/**
 * Finds contradictions among items that are comparable with the best one. Scores are relative to the candidates: of two
 * items that state nearly the same, the second may have half of the first's score. So each item's own confidence counts
 * too.
 *
 * @param request `terms` of the question, weighed by `idf`; `agree` excludes pairs of sentences
 * @param considered in rank order
 */
export function conflictsAmong(
  {
    query,
    terms,
    idf,
    asked,
    agree = () => false,
  }: {
    query: string
    terms: readonly string[]
    idf: (term: string) => number
    /** absent: items are compared by their scores only */
    asked?: AskedOf
    agree?: (one: string, other: string) => boolean
  },
  considered: readonly ComparedItem[],
): Findings {
  const alone = (item: ComparedItem | undefined): number =>
    item?.features === undefined || asked === undefined ? 0 : answerConfidence(item.features, asked)
  const [best] = considered
  const indexes = considered.flatMap((item, index) =>
    (item.features === undefined || item.features.sentenceCoverage + item.features.titleCoverage >= CONCERNS) &&
    (item.score >= COMPARABLE * (best?.score ?? 0) || alone(item) >= Math.max(ANSWERS_FROM, COMPARABLE * alone(best)))
      ? [index]
      : [],
  )
  const found = contradictions(
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
