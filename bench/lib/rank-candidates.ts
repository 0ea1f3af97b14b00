import { beginRanking, type Ranking, type RankRequest } from '../../src/engine/retrieval/query/rank.js'

/** Reads texts and vectors of nodes by key. */
export interface RankSource {
  load: (keys: number[]) => ReadonlyMap<number, { title: string; body: string }>
  vectors?: (keys: number[]) => ReadonlyMap<number, Float32Array>
}

/** Ranks candidates with texts and vectors in memory. */
export function rankCandidates({ load, vectors, ...request }: RankRequest & RankSource): Ranking {
  const { texts, compared } = beginRanking(request)
  const { open, finish } = compared(load(texts))
  return finish(open.length === 0 ? undefined : vectors?.(open))
}
