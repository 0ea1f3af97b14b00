import { omitUndefined } from '../../../lib/omit-undefined.js'
import type { SearchHit } from '../../search/index.js'

/**
 * Weight of the vector list in the fused score. Equal weights, or ranks only (RRF), are worse than text search alone.
 */
const DENSE_WEIGHT = 0.25

export interface FusedHit {
  key: number
  /** weighted sum of the scores of both lists, each 0 to 1 within this query */
  fused: number
  bm25?: number
  cosine?: number
}

/** Scales scores to 0 to 1 over the candidates; a missing score counts as the lowest. */
export function scaleMinMax(values: readonly (number | undefined)[]): number[] {
  let low = Number.POSITIVE_INFINITY
  let high = Number.NEGATIVE_INFINITY
  for (const value of values) {
    if (value === undefined) continue
    low = Math.min(low, value)
    high = Math.max(high, value)
  }
  if (high <= low) return values.map((value) => (value === undefined ? 0 : 1))
  return values.map((value) => (value === undefined ? 0 : (value - low) / (high - low)))
}

/**
 * Scales text scores to 0 to 1. When some candidates come only from the vector list, the lowest text score is 0, not
 * the score of the last hit.
 */
function scaleTextScores(hits: readonly SearchHit[]): number[] {
  const partial = hits.some((hit) => hit.bm25 === undefined)
  return scaleMinMax(hits.map((hit) => hit.bm25 ?? (partial ? 0 : undefined)))
}

/**
 * Merges the two ranked lists of a search: min-max scaling of each list over the union, weighted sum, ties by key. When
 * one list is empty, the other gets the full weight.
 *
 * @param denseWeight weight of the vector list, 0 to 1
 */
export function fuse(hits: readonly SearchHit[], denseWeight = DENSE_WEIGHT): FusedHit[] {
  const hasText = hits.some((hit) => hit.bm25 !== undefined)
  const hasDense = hits.some((hit) => hit.cosine !== undefined)
  const weight = hasText ? (hasDense ? denseWeight : 0) : 1
  const text = hasText ? scaleTextScores(hits) : []
  const dense = hasDense ? scaleMinMax(hits.map((hit) => hit.cosine)) : []
  const fused = hits.map((hit, i) => toFused(hit, (1 - weight) * (text[i] ?? 0) + weight * (dense[i] ?? 0)))
  return fused.sort((a, b) => b.fused - a.fused || a.key - b.key)
}

/** Written out: spreading hundreds of hits of three shapes takes four times as long. */
function toFused({ key, bm25, cosine }: SearchHit, fused: number): FusedHit {
  if (bm25 === undefined) return cosine === undefined ? { key, fused } : { key, fused, cosine }
  return cosine === undefined ? { key, fused, bm25 } : { key, fused, bm25, cosine }
}

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
        sum += score * computeDotProduct(vector, other)
        weights += score
      }
      return weights > 0 ? sum / weights : undefined
    }),
  )
}

function computeDotProduct(one: Float32Array, other: Float32Array): number {
  let sum = 0
  for (let i = 0; i < one.length; i++) sum += (one[i] ?? 0) * (other[i] ?? 0)
  return sum
}

/**
 * Adds nodes to the rerank that hybrid recall did not find or ranked too low. Each gets at least the scores of the last
 * candidate before them; the comparison of texts decides from there.
 */
export function injectCandidates(
  hits: SearchHit[],
  keys: ReadonlySet<number>,
  last: SearchHit | undefined,
): SearchHit[] {
  const floor = last?.bm25 ?? Math.min(...hits.flatMap(({ bm25 }) => bm25 ?? []), Number.MAX_VALUE)
  const text = hits.some(({ bm25 }) => bm25 !== undefined) ? floor : undefined
  const known = new Map(hits.map((hit) => [hit.key, hit]))
  const raised = [...keys].map((key): SearchHit => {
    const hit = known.get(key)
    const bm25 = text === undefined ? undefined : Math.max(text, hit?.bm25 ?? 0)
    const cosine = hit?.cosine ?? last?.cosine
    return { key, ...omitUndefined({ bm25, cosine }) }
  })
  return [...hits.filter(({ key }) => !keys.has(key)), ...raised]
}
