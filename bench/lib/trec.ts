/** Measures of ranked retrieval as trec_eval defines them. */

/** Relevance grades of one query: document id to grade; above 0 is relevant. */
export type Grades = ReadonlyMap<string, number>

/** Normalised discounted cumulative gain at `depth`, with linear gain (trec_eval's `ndcg_cut`). */
export function ndcg(ranked: readonly string[], grades: Grades, depth = 10): number {
  const gains = ranked.slice(0, depth).map((id) => Math.max(0, grades.get(id) ?? 0))
  const ideal = [...grades.values()]
    .filter((grade) => grade > 0)
    .sort((a, b) => b - a)
    .slice(0, depth)
  const best = discounted(ideal)
  return best === 0 ? 0 : discounted(gains) / best
}

function discounted(gains: readonly number[]): number {
  return gains.reduce((sum, gain, i) => sum + gain / Math.log2(i + 2), 0)
}

/** Share of all relevant documents among the first `depth`. */
export function recall(ranked: readonly string[], grades: Grades, depth = 100): number {
  const relevant = [...grades].filter(([, grade]) => grade > 0).map(([id]) => id)
  if (relevant.length === 0) return 0
  const found = new Set(ranked.slice(0, depth))
  return relevant.filter((id) => found.has(id)).length / relevant.length
}

/** One over the rank of the first relevant document, 0 when there is none among the first `depth`. */
export function reciprocalRank(ranked: readonly string[], grades: Grades, depth = 100): number {
  const at = ranked.slice(0, depth).findIndex((id) => (grades.get(id) ?? 0) > 0)
  return at < 0 ? 0 : 1 / (at + 1)
}
