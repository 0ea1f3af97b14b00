import { analyzeContent, analyzeQuery } from '../../../lib/text/analyze.js'
import { splitSentences } from '../../../lib/text/sentences.js'

/** A smaller space is treated as one of this size, so that a term of its only document still has weight. */
export const MIN_SPACE_NODES = 30

/**
 * Creates the weights of terms in a space, as in BM25: ln(1 + (N - n + 0.5) / (n + 0.5)), where n of N nodes contain
 * the term.
 *
 * @param frequencyOf number of nodes that contain a term
 */
export function createTermWeights(frequencyOf: (term: string) => number, nodes: number): (term: string) => number {
  const total = Math.max(MIN_SPACE_NODES, nodes)
  return (term) => {
    const found = Math.min(total, frequencyOf(term))
    return Math.log(1 + (total - found + 0.5) / (found + 0.5))
  }
}

/** Creates the weights of a question's terms in a space: lower for terms that occur only next to the question. */
export function createQuestionWeights(
  query: string,
  frequencies: ReadonlyMap<string, number>,
  nodes: number,
): (term: string) => number {
  const spaceWeight = createTermWeights((term) => frequencies.get(term) ?? 0, nodes)
  const instructionWeight = computeInstructionWeights(query)
  return (term) => spaceWeight(term) * instructionWeight(term)
}

/** Weight of a term that occurs only in sentences next to the question: `Give the answer in millions.` */
const INSTRUCTION_WEIGHT = 0.3
const PARAGRAPH = /\n[ \t]*\n/u
const QUESTION = /[?？؟]["'”’»)\]]*\s*$/u

/**
 * Computes the weights of a query's terms, 0 to 1. Terms that occur only in sentences next to a question of the same
 * paragraph weigh less: such sentences mostly state how to answer. A paragraph without a question is a previous
 * question or a list of search terms.
 */
export function computeInstructionWeights(query: string): (term: string) => number {
  const paragraphs = query
    .split(PARAGRAPH)
    .map((paragraph) => splitSentences(paragraph).map(({ start, end }) => paragraph.slice(start, end)))
  if (paragraphs.every((sentences) => sentences.length < 2)) return () => 1
  const [questionTerms, instructionTerms] = [new Set<string>(), new Set<string>()]
  for (const sentences of paragraphs) {
    // `What should we do?` has no content: the sentence before it is the subject.
    const hasContent = sentences.some((one) => QUESTION.test(one) && analyzeContent(one).length > 0)
    for (const sentence of sentences) {
      const terms = hasContent && !QUESTION.test(sentence) ? instructionTerms : questionTerms
      for (const term of analyzeQuery(sentence)) terms.add(term)
    }
  }
  return (term) => (instructionTerms.has(term) && !questionTerms.has(term) ? INSTRUCTION_WEIGHT : 1)
}
