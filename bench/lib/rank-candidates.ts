import { beginRanking, type Ranking, type RankRequest } from '../../src/engine/retrieval/query/rank.js'

/** Where ranking reads what it asks for: nodes by key. */
export interface RankSource {
  load: (keys: number[]) => ReadonlyMap<number, { title: string; body: string }>
  vectors?: (keys: number[]) => ReadonlyMap<number, Float32Array>
}

/** Ranks candidates whose texts and vectors are in memory, as a query does with those that it reads. */
export function rankCandidates({ load, vectors, ...request }: RankRequest & RankSource): Ranking {
  const { texts, compared } = beginRanking(request)
  const { open, finish } = compared(load(texts))
  return finish(open.length === 0 ? undefined : vectors?.(open))
}
