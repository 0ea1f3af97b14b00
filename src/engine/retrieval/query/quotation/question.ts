import { analyzeQuery } from '../../../../lib/text/analyze.js'
import { addReworded, type Rewording } from '../../../../lib/text/compounds.js'
import { sentenceTerms } from '../../../../lib/text/sentence-terms.js'
import { findNames, type QuestionName } from '../names/question-names.js'
import { type AnswerType, answerType } from '../question/answer-type.js'

/** A question, prepared for comparison with the units of passages. */
export interface PreparedQuestion {
  /** lower case */
  text: string
  type: AnswerType
  /** distinct terms with their inverse document frequencies in the space */
  weights: ReadonlyMap<string, number>
  totalWeight: number
  /** neighbouring terms, separated by a space */
  pairs: ReadonlySet<string>
  /** words of the space that can replace terms of the question */
  rewordings: readonly Rewording[]
  names: readonly QuestionName[]
  years: readonly string[]
  /** numbers that are not years */
  numbers: readonly string[]
  wantsList: boolean
}

/** A question that several things or steps answer: a plural after its question word, or a request for a list. */
const LIST_QUESTION = new RegExp(
  [
    String.raw`^\s*(?:please )?(?:list|name|enumerate|give)\b|\b(?:what|which|who) (?:\p{L}+ ){0,3}?(?:are|were)\b`,
    String.raw`\b(?:what|which) (?:\p{L}+ ){0,2}?\p{L}{3,}(?<![su])s\b|\bhow (?:do|can|should|to)\b|\bsteps\b`,
    String.raw`\bwelche\b|\bwas sind\b|\bwer sind\b|\bnenne\b|\bwie (?:kann|mache|geht|muss)\b|\bschritte\b`,
    String.raw`\bquel(?:le)?s\b|\bqui sont\b|\bcomment\b|\bétapes\b`,
    String.raw`\bcuáles\b|\bquiénes\b|\bqué \p{L}+s\b|\bcómo\b|\bpasos\b`,
    '哪些|哪几|哪幾|有什么|列出|列举|分别是|如何|怎么|怎样|步骤',
  ].join('|'),
  'iu',
)
const NUMBER = /\d+(?:[.,]\d+)*/gu
const YEAR = /^(?:19|20)\d\d$/u

/** Parses a question. @param idf inverse document frequency of a term in the space */
export function prepareQuestion(
  query: string,
  idf: (term: string) => number,
  rewordings: readonly Rewording[] = [],
): PreparedQuestion {
  const terms = analyzeQuery(query)
  const weights = new Map(terms.map((term) => [term, Math.max(0, idf(term))]))
  const numbers = [...new Set(query.match(NUMBER))]
  return {
    text: query.toLowerCase(),
    type: answerType(query),
    weights,
    totalWeight: sumValues(weights.values()),
    pairs: new Set(terms.slice(1).map((term, index) => `${terms[index]} ${term}`)),
    rewordings,
    names: findNames(query),
    years: numbers.filter((number) => YEAR.test(number)),
    numbers: numbers.filter((number) => !YEAR.test(number)),
    wantsList: LIST_QUESTION.test(query),
  }
}

/** Returns the terms of the question that a text contains. */
export function findMatchedTerms(question: PreparedQuestion, text: string): ReadonlySet<string> {
  return text === '' ? NO_TERMS : selectMatchedTerms(question, sentenceTerms(text))
}

/** Returns the terms of the question that are among the terms of a text. */
export function selectMatchedTerms(
  { weights, rewordings }: PreparedQuestion,
  terms: readonly string[],
): ReadonlySet<string> {
  if (rewordings.length === 0) return new Set(terms.filter((term) => weights.has(term)))
  const found = new Set(terms)
  addReworded(found, rewordings)
  for (const term of found) if (!weights.has(term)) found.delete(term)
  return found
}

/** Fraction of the question's weight that some of its terms have, 0 to 1. */
export function computeWeightFraction({ weights, totalWeight }: PreparedQuestion, terms: Iterable<string>): number {
  if (totalWeight === 0) return 0
  let sum = 0
  for (const term of terms) sum += weights.get(term) ?? 0
  return sum / totalWeight
}

function sumValues(values: Iterable<number>): number {
  let sum = 0
  for (const value of values) sum += value
  return sum
}

const NO_TERMS: ReadonlySet<string> = new Set()
