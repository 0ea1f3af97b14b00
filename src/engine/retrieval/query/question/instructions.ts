import { analyzeContent, analyzeQuery } from '../../../../lib/text/analyze.js'
import { splitSentences } from '../../../../lib/text/sentences.js'

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
