import { type BenchDocument, type BenchQuery, findNearestKeys } from './workload.js'

/** Hits a query shows. */
export const TOP = 10
/** Candidates of each leg where an engine lets us choose. */
export const CANDIDATES = 50
/** Reciprocal rank fusion's constant (Cormack et al. 2009). */
const RRF_K = 60

/** One engine, holding everything: texts, vectors and both indexes. */
export interface PeerEngine {
  /** Stores a batch, possibly after this resolves. */
  add(documents: BenchDocument[]): Promise<void>
  /** Resolves when everything is stored and searched in full. */
  waitUntilSearchable(): Promise<void>
  /** Resolves when no index work is left. */
  waitUntilSettled(): Promise<void>
  /** Returns the keys of a hybrid query's hits, and reads their texts like an application. */
  searchHybrid(query: BenchQuery, top?: number): Promise<number[]>
  /** Returns the keys of a vector query's hits. */
  searchNearest(vector: Float32Array): Promise<number[]>
  /** Returns the engine's other process, if it has one. */
  childPid(): number | undefined
  close(): Promise<void>
}

/** Fuses two rankings by reciprocal rank, best first. */
export function fuse(first: readonly number[], second: readonly number[]): number[] {
  const scores = new Map<number, number>()
  for (const ranking of [first, second]) {
    ranking.forEach((key, rank) => {
      scores.set(key, (scores.get(key) ?? 0) + 1 / (RRF_K + rank + 1))
    })
  }
  return [...scores]
    .sort((a, b) => b[1] - a[1])
    .slice(0, TOP)
    .map(([key]) => key)
}

/** Measures the fraction of the exact nearest `TOP` that an engine's vector search finds, and its times. */
export async function measureRecall(
  engine: PeerEngine,
  documents: readonly BenchDocument[],
  queries: readonly BenchQuery[],
) {
  const ms: number[] = []
  let found = 0
  for (const { vector } of queries) {
    const startedAt = performance.now()
    const keys = await engine.searchNearest(vector)
    ms.push(performance.now() - startedAt)
    const expected = new Set(findNearestKeys(documents, vector, TOP))
    found += keys.slice(0, TOP).filter((key) => expected.has(key)).length
  }
  return { recall: found / (queries.length * TOP), ms }
}
