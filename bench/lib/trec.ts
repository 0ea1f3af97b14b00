/** Measures of ranked retrieval as trec_eval defines them. */

/** Relevance grades of one query: document id to grade; above 0 is relevant. */
export type Grades = ReadonlyMap<string, number>

/** Computes the normalised discounted cumulative gain at `depth`, with linear gain (trec_eval's `ndcg_cut`). */
export function computeNdcg(ranked: readonly string[], grades: Grades, depth = 10): number {
  const gains = ranked.slice(0, depth).map((id) => Math.max(0, grades.get(id) ?? 0))
  const ideal = [...grades.values()]
    .filter((grade) => grade > 0)
    .sort((a, b) => b - a)
    .slice(0, depth)
  const best = computeDiscountedGain(ideal)
  return best === 0 ? 0 : computeDiscountedGain(gains) / best
}

function computeDiscountedGain(gains: readonly number[]): number {
  return gains.reduce((sum, gain, i) => sum + gain / Math.log2(i + 2), 0)
}

/** Computes the fraction of relevant documents that are among the first `depth`. */
export function computeRecall(ranked: readonly string[], grades: Grades, depth = 100): number {
  const relevant = [...grades].filter(([, grade]) => grade > 0).map(([id]) => id)
  if (relevant.length === 0) return 0
  const found = new Set(ranked.slice(0, depth))
  return relevant.filter((id) => found.has(id)).length / relevant.length
}

/** Computes one over the rank of the first relevant document; 0 if none is among the first `depth`. */
export function computeReciprocalRank(ranked: readonly string[], grades: Grades, depth = 100): number {
  const index = ranked.slice(0, depth).findIndex((id) => (grades.get(id) ?? 0) > 0)
  return index < 0 ? 0 : 1 / (index + 1)
}
