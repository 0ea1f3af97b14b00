import { minMax } from './fuse.js'

/** So many of the best candidates are what the others are compared with. */
const LEADERS = 3

/** What is known of a candidate: how it ranks so far, and its vector where it has one. */
export interface Placed {
  score: number
  /** of unit length */
  vector: Float32Array | undefined
}

/**
 * How much each candidate is like those that rank first, 0 to 1 over the candidates: passages that answer the same
 * question are mostly like each other (van Rijsbergen's cluster hypothesis). It finds the second right document, whose
 * words differ from the question's but not from the first one's. None is compared with itself, and what has no vector
 * counts as least alike.
 *
 * @param candidates best first
 */
export function likenessOf(candidates: readonly Placed[]): number[] {
  const leaders = candidates.slice(0, LEADERS)
  return minMax(
    candidates.map(({ vector }, place) => {
      if (vector === undefined) return undefined
      let sum = 0
      let weights = 0
      for (const [leader, { score, vector: other }] of leaders.entries()) {
        if (leader === place || other === undefined) continue
        sum += score * cosine(vector, other)
        weights += score
      }
      return weights > 0 ? sum / weights : undefined
    }),
  )
}

function cosine(one: Float32Array, other: Float32Array): number {
  let sum = 0
  for (let i = 0; i < one.length; i++) sum += (one[i] ?? 0) * (other[i] ?? 0)
  return sum
}
