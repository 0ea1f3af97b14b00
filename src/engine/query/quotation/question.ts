import { type AnswerType, answerType } from '../answer-type.js'
import { wantsList } from '../extractive/lists.js'
import { namesIn, type QuestionName } from '../extractive/question-names.js'
import { sentenceTerms } from '../sentence-terms.js'
import { analyzeQuery } from '../../../lib/text/analyze.js'
import { type Rewording, withReworded } from '../../../lib/text/compounds.js'

/** A question, prepared for comparison with the units of passages. */
export interface Question {
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

const NUMBER = /\d+(?:[.,]\d+)*/gu
const YEAR = /^(?:19|20)\d\d$/u

/** @param idf inverse document frequency of a term in the space */
export function prepareQuestion(
  query: string,
  idf: (term: string) => number,
  rewordings: readonly Rewording[] = [],
): Question {
  const terms = analyzeQuery(query)
  const weights = new Map(terms.map((term) => [term, Math.max(0, idf(term))]))
  const numbers = [...new Set(query.match(NUMBER))]
  return {
    text: query.toLowerCase(),
    type: answerType(query),
    weights,
    totalWeight: sumOf(weights.values()),
    pairs: new Set(terms.slice(1).map((term, index) => `${terms[index]} ${term}`)),
    rewordings,
    names: namesIn(query),
    years: numbers.filter((number) => YEAR.test(number)),
    numbers: numbers.filter((number) => !YEAR.test(number)),
    wantsList: wantsList(query),
  }
}

/** Returns the terms of the question that a text contains. */
export function matchedTerms(question: Question, text: string): ReadonlySet<string> {
  return text === '' ? NONE : matchedAmong(question, sentenceTerms(text))
}

/** Returns the terms of the question that are among the terms of a text. */
export function matchedAmong({ weights, rewordings }: Question, terms: readonly string[]): ReadonlySet<string> {
  const found = new Set(terms)
  if (rewordings.length > 0) withReworded(found, rewordings)
  for (const term of found) if (!weights.has(term)) found.delete(term)
  return found
}

/** Returns the share of the question's weight that some of its terms carry, 0 to 1. */
export function shareOf({ weights, totalWeight }: Question, terms: Iterable<string>): number {
  if (totalWeight === 0) return 0
  let sum = 0
  for (const term of terms) sum += weights.get(term) ?? 0
  return sum / totalWeight
}

function sumOf(values: Iterable<number>): number {
  let sum = 0
  for (const value of values) sum += value
  return sum
}

const NONE: ReadonlySet<string> = new Set()
