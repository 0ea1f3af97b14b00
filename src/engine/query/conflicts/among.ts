import { type AskedOf, answerConfidence } from '../confidence.js'
import type { Features } from '../rerank.js'
import { type Compared, contradictions, type Findings } from './contradictions.js'

/** An item of evidence as contradictions are looked for in it. */
export interface ComparedItem extends Compared {
  /** final score, 0 to 1 */
  score: number
  features?: Features
}

/** A contradicting item must come this near to the best score, … */
const COMPARABLE = 0.25
/** … or answer by itself with this confidence. */
const ANSWERS_FROM = 0.5
/** Share of the question that a sentence and the title hold at least, word by word: else no sentence is worth reading. */
const CONCERNS = 0.3

/**
 * Contradictions among items that are comparable with the best one. Scores are relative to the candidates: of two that
 * state nearly the same the second may have half of the first's. So the confidence in each by itself counts too.
 *
 * @param request `terms` of the question, weighed by `idf`; `agree` leaves out pairs of sentences
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
    /** absent: items are compared by their scores alone */
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
