import type { MissingEvidence } from '../../../contract/gateway/queries.js'
import type { Rewording } from '../../../lib/text/compounds.js'
import { ANSWER_THRESHOLD, dropMeasureTerms, judgeEvidence } from './answerability.js'
import { type QuestionStatistics, sumWeights } from './confidence.js'
import type { RankedPassage } from './evidence.js'
import { isQuestionText } from './names/question-names.js'
import { chooseQuotation } from './quotation/quote.js'

// A reader learns only one thing about passages that they may not read: that one of them answers a complete question.
// It is judged like evidence; the limits below keep readers from testing it word by word.

/** A passage that answers the question but that the reader may not read. */
export interface WithheldPassage {
  /**
   * it contains a part of the question that no permitted passage contains; otherwise the permitted ones may answer as
   * well
   */
  holdsMore: boolean
}

/** Entry of the evidence for a withheld passage; it must not depend on the passage. */
export const WITHHELD_ENTRY: MissingEvidence = {
  reason: 'permission-filtered',
  text: 'a passage that answers was omitted: you may not read its source',
  metadata: {},
}

/** Minimum terms of the question in a withheld passage: with fewer, a reader could test single words. */
const MIN_CONTAINED_TERMS = 3
/** Minimum fraction of the question's weight in a withheld passage. */
const MIN_COVERAGE = 0.5
/** Minimum fraction of the question's weight by which a passage exceeds the permitted ones. */
const MIN_EXTRA_FRACTION = 0.1
/** Number of permitted passages that a withheld one is compared with. */
export const MAX_COMPARED_PERMITTED = 5
const UNSPACED = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]+$/u
const NUMERAL = /\S*\p{N}\S*/gu

/**
 * Returns the question for judging withheld passages, without its numerals, so that no value can be tested.
 *
 * @returns undefined when the query is not a complete question: then withheld passages are not judged
 */
export function toJudgedQuestion(query: string): string | undefined {
  return isQuestionText(query) ? query.replace(NUMERAL, ' ').replace(/\s+/g, ' ').trim() : undefined
}

/** A passage with the terms of the question that it contains. */
export type JudgedPassage = Pick<RankedPassage, 'final' | 'features' | 'passage'> & {
  containedTerms: readonly string[]
}

/**
 * Judges the best of all passages, if the reader may not read it.
 *
 * @param question see `toJudgedQuestion`
 * @param ranked all passages of the space, best first
 * @param idf weights over all passages; `ownIdf` over those that the reader may read
 * @param permitted the best passages that the reader may read, with the terms of the question that they contain
 */
export function judgeWithheld(request: {
  question: string
  terms: readonly string[]
  rewordings?: readonly Rewording[]
  idf: (term: string) => number
  ownIdf: (term: string) => number
  statistics: QuestionStatistics
  ranked: readonly JudgedPassage[]
  permitted: readonly { text: string; containedTerms: readonly string[] }[]
  isWithheld: (one: JudgedPassage) => boolean
  scoreThreshold: number
}): WithheldPassage | undefined {
  const {
    question,
    terms,
    rewordings = [],
    idf,
    ownIdf,
    statistics,
    ranked,
    permitted,
    isWithheld,
    scoreThreshold,
  } = request
  const [best] = ranked
  if (best === undefined || !isWithheld(best) || best.final < Math.max(scoreThreshold, ANSWER_THRESHOLD))
    return undefined
  if (countWords(best.containedTerms) < MIN_CONTAINED_TERMS || (best.features?.coverage ?? 0) < MIN_COVERAGE)
    return undefined
  const { title, body: text, filename: source } = best.passage
  const { features, containedTerms } = best
  const item = { title, text, source, score: best.final, containedTerms, ...(features && { features }) }
  const probability = chooseQuotation({ query: question, passages: [item], idf, rewordings })?.probability
  const { state } = judgeEvidence({
    query: question,
    terms,
    rewordings,
    idf,
    statistics,
    items: [item],
    probability,
  })
  if (state !== 'answerable') return undefined
  const questionTerms = dropMeasureTerms(question, terms, [item, ...permitted])
  const weigh = (passageTerms: readonly string[]): number =>
    sumWeights(
      passageTerms.filter((term) => questionTerms.has(term)),
      ownIdf,
    )
  const extraWeight = weigh(best.containedTerms) - weigh(permitted.flatMap(({ containedTerms }) => containedTerms))
  return { holdsMore: extraWeight >= MIN_EXTRA_FRACTION * sumWeights(questionTerms, ownIdf) }
}

/** Counts words among terms; terms of scripts without spaces are overlapping pairs of characters. */
function countWords(terms: readonly string[]): number {
  return [...new Set(terms)].reduce((sum, term) => sum + (UNSPACED.test(term) ? 0.5 : 1), 0)
}
