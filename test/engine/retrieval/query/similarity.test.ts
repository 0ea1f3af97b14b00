import { describe, expect, it } from 'vitest'
import { rankCandidates } from '../../../../bench/lib/rank-candidates.js'
import { computeSimilarity } from '../../../../src/engine/retrieval/query/fuse.js'

const unit = (...numbers: number[]): Float32Array => {
  const length = Math.hypot(...numbers)
  return Float32Array.from(numbers, (number) => number / length)
}

const candidate = (score: number, vector?: Float32Array) => ({ score, vector })

describe('the likeness of a candidate to the best candidates', () => {
  it('reaches its maximum for the nearest vector and its minimum for the farthest', () => {
    const likeness = computeSimilarity([
      candidate(3, unit(1, 0, 0)),
      candidate(2.9, unit(1, 0.2, 0)),
      candidate(2.8, unit(1, 0, 0.2)),
      candidate(1, unit(0, 1, 0)),
      candidate(1, unit(1, 0.1, 0.1)),
    ])
    expect(Math.max(...likeness)).toBe(likeness[4])
    expect(likeness[3]).toBe(0)
  })

  it('stays 0 for an outlier that ranks first, since no candidate is compared with itself', () => {
    const likeness = computeSimilarity([
      candidate(3, unit(0, 1)),
      candidate(2.9, unit(1, 0)),
      candidate(2.8, unit(1, 0.1)),
      candidate(2, unit(1, 0.05)),
    ])
    expect(likeness[0]).toBe(0)
  })

  it('equals 0 for all candidates without vectors, and for a single candidate', () => {
    expect(computeSimilarity([candidate(2), candidate(1)])).toEqual([0, 0])
    expect(computeSimilarity([candidate(2, unit(1, 0))])).toEqual([0])
    expect(computeSimilarity([])).toEqual([])
  })
})

describe('the order of candidates', () => {
  const texts = new Map(
    ['the valve leaks', 'the valve leaks', 'a valve leaks', 'this valve leaks', 'that valve leaks'].map((body, key) => [
      key,
      { title: '', body },
    ]),
  )
  const request = {
    terms: ['valv', 'leak', 'pressur'],
    hits: [5, 4.9, 4.8, 4.701, 4.7].map((bm25, key) => ({ key, bm25 })),
    load: (keys: number[]) => new Map(keys.flatMap((key) => (texts.has(key) ? [[key, texts.get(key)!] as const] : []))),
    idf: () => 3,
    nodes: 100,
  }
  const vectors = new Map(
    [unit(1, 0), unit(1, 0.1), unit(1, 0.2), unit(0, 1), unit(1, 0.1)].map((one, key) => [key, one]),
  )

  it('prefers vectors near those of the best passages among passages with similar text scores', () => {
    const without = rankCandidates(request).ranked.map(({ key }) => key)
    const ranked = rankCandidates({ ...request, vectors: () => vectors }).ranked.map(({ key }) => key)
    expect(without.indexOf(3)).toBeLessThan(without.indexOf(4))
    expect(ranked.indexOf(4)).toBeLessThan(ranked.indexOf(3))
  })

  it('stays the same if a passage contains all terms of the question', () => {
    const covered = { ...request, terms: ['valv', 'leak'] }
    expect(rankCandidates({ ...covered, vectors: () => vectors }).ranked).toEqual(rankCandidates(covered).ranked)
  })

  it('requires vectors only if no passage contains all terms of the question', () => {
    let read = 0
    const counted = () => {
      read++
      return vectors
    }
    rankCandidates({ ...request, terms: ['valv', 'leak'], vectors: counted })
    expect(read).toBe(0)
    rankCandidates({ ...request, vectors: counted })
    expect(read).toBe(1)
  })

  it('changes neither the confidence of the best passage nor the order of a profile without reranking', () => {
    const [best] = rankCandidates(request).ranked
    expect(rankCandidates({ ...request, vectors: () => vectors }).ranked[0]!.final).toBe(best!.final)
    const fused = rankCandidates({ ...request, rerank: false, vectors: () => vectors })
    expect(fused.ranked).toEqual(rankCandidates({ ...request, rerank: false }).ranked)
  })
})
