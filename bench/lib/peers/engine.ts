import { type BenchDocument, type BenchQuery, nearest } from './workload.js'

/** Hits a query shows. */
export const TOP = 10
/** Candidates of each leg where an engine lets us choose. */
export const CANDIDATES = 50
/** Reciprocal rank fusion's constant (Cormack et al. 2009). */
const RRF_K = 60

/** One engine, holding everything: texts, vectors and both indexes. */
export interface PeerEngine {
  /** Stores a batch. It may be on its way when this resolves. */
  add(documents: BenchDocument[]): Promise<void>
  /** Resolves when everything is stored and searched in full. */
  searchable(): Promise<void>
  /** Resolves when no index work is left. */
  settled(): Promise<void>
  /** Keys of the hybrid query's hits, `TOP` unless told otherwise, with the texts read as an application needs them. */
  hybrid(query: BenchQuery, top?: number): Promise<number[]>
  /** Keys of the vector query's hits alone. */
  nearest(vector: Float32Array): Promise<number[]>
  /** Process of the engine beside this one, where it has one. */
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

/** The share of the truly nearest `TOP` that an engine's vector search finds, and its times. */
export async function recallOf(
  engine: PeerEngine,
  documents: readonly BenchDocument[],
  queries: readonly BenchQuery[],
) {
  const ms: number[] = []
  let found = 0
  for (const { vector } of queries) {
    const began = performance.now()
    const keys = await engine.nearest(vector)
    ms.push(performance.now() - began)
    const expected = new Set(nearest(documents, vector, TOP))
    found += keys.slice(0, TOP).filter((key) => expected.has(key)).length
  }
  return { recall: found / (queries.length * TOP), ms }
}
