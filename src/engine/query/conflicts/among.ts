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
const COMPARABLE = 0.3
/** … or answer by itself with this confidence. */
const ANSWERS_FROM = 0.5
/** Share of the question that a sentence and the title hold at least, word by word: else no sentence is worth reading. */
const SPEAKS_OF_IT = 0.3

/**
 * Contradictions among items that are comparable with the best one. Scores are relative to the candidates: of two that
 * say nearly the same the second may have half of the first's. So the confidence in each by itself counts too.
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
  const places = considered.flatMap((item, place) =>
    (item.features === undefined || item.features.sentenceCoverage + item.features.titleCoverage >= SPEAKS_OF_IT) &&
    (item.score >= COMPARABLE * (best?.score ?? 0) || alone(item) >= Math.max(ANSWERS_FROM, COMPARABLE * alone(best)))
      ? [place]
      : [],
  )
  const found = contradictions(
    query,
    terms,
    idf,
    places.flatMap((place) => considered[place] ?? []),
  )
  const placed = <T extends { item: number; other: number }>(pair: T): T => ({
    ...pair,
    item: places[pair.item] ?? pair.item,
    other: places[pair.other] ?? pair.other,
  })
  return {
    conflicts: found.conflicts.filter(({ says: [one, other] }) => !agree(one, other)).map(placed),
    differences: found.differences.map(placed),
  }
}
