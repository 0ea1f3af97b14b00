import { analyzeQuery } from '../../../lib/text/analyze.js'
import { splitSentences } from '../../../lib/text/sentences.js'

/** Weight of a term that only sentences around the question contain: `Give the answer in millions.` */
const INSTRUCTION_WEIGHT = 0.3

/**
 * Returns the weights of a query's terms, 0 to 1. Terms of its questions have 1; terms that only its other sentences
 * contain have less, because these mostly state how to answer. A query without a question has 1 for all.
 */
export function instructionWeights(query: string): (term: string) => number {
  const sentences = splitSentences(query).map(({ start, end }) => query.slice(start, end))
  const questions = sentences.filter((sentence) => /[?？؟]\s*$/u.test(sentence))
  if (questions.length === 0 || questions.length === sentences.length) return () => 1
  const asked = new Set(questions.flatMap((question) => analyzeQuery(question)))
  return (term) => (asked.has(term) ? 1 : INSTRUCTION_WEIGHT)
}
