import { scaleMinMax } from './fuse.js'

/** Number of best candidates that the others are compared with. */
const LEADER_COUNT = 3

/** Score of a candidate so far, and its vector if it has one. */
export interface SimilarityCandidate {
  score: number
  /** of unit length */
  vector: Float32Array | undefined
}

/**
 * Computes how similar each candidate is to the first ones, 0 to 1 over the candidates: passages that answer the same
 * question tend to be similar (van Rijsbergen's cluster hypothesis). This finds the second right document, whose words
 * differ from the question's but not from those of the first one. No candidate is compared with itself, and one without
 * a vector counts as least similar.
 *
 * @param candidates best first
 */
export function computeSimilarity(candidates: readonly SimilarityCandidate[]): number[] {
  const leaders = candidates.slice(0, LEADER_COUNT)
  return scaleMinMax(
    candidates.map(({ vector }, index) => {
      if (vector === undefined) return undefined
      let sum = 0
      let weights = 0
      for (const [leaderIndex, { score, vector: other }] of leaders.entries()) {
        if (leaderIndex === index || other === undefined) continue
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
