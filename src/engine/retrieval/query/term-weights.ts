import { computeInstructionWeights } from './question/instructions.js'

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
