import { instructionWeights } from './question/instructions.js'

/** A space of fewer nodes is weighed as one of this many, so that a term of its only document still weighs. */
export const SMALLEST_SPACE = 30

/**
 * How telling a term is in a space, as BM25 weighs it: ln(1 + (N - n + 0.5) / (n + 0.5)), n of N nodes holding it.
 *
 * @param frequencyOf how many nodes hold a term
 */
export function countedWeights(frequencyOf: (term: string) => number, nodes: number): (term: string) => number {
  const total = Math.max(SMALLEST_SPACE, nodes)
  return (term) => {
    const found = Math.min(total, frequencyOf(term))
    return Math.log(1 + (total - found + 0.5) / (found + 0.5))
  }
}

/** Returns the weights of a question's terms in a space: less for terms that occur only next to the question. */
export function questionWeights(
  query: string,
  frequencies: ReadonlyMap<string, number>,
  nodes: number,
): (term: string) => number {
  const spaceWeight = countedWeights((term) => frequencies.get(term) ?? 0, nodes)
  const instructionWeight = instructionWeights(query)
  return (term) => spaceWeight(term) * instructionWeight(term)
}
