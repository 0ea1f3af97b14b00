import { describe, expect, it } from 'vitest'
import { rankCandidates } from '../../../bench/lib/rank-candidates.js'
import { PassageCache } from '../../../src/engine/derived/passage.js'
import { RERANK_LIMIT } from '../../../src/engine/query/rank.js'
import { countedWeights } from '../../../src/engine/query/term-weights.js'
import type { SearchHit } from '../../../src/engine/search/ports.js'
import { analyzeQuery } from '../../../src/lib/text/analyze.js'

const TEXTS = new Map(
  [
    ['Steam engines', 'The steam engine was improved by James Watt. It drove pumps in mines.'],
    ['Cooking', 'Steam the vegetables for ten minutes. Serve them warm.'],
    ['Rivers', 'The river flows to the sea through a wide valley.'],
    ['Engines', 'An engine of this kind needs oil.'],
  ].map(([title = '', body = ''], key) => [key, { title, body }]),
)

function load(keys: number[]): Map<number, { title: string; body: string }> {
  return new Map(keys.flatMap((key) => (TEXTS.has(key) ? [[key, TEXTS.get(key)!] as const] : [])))
}

function rank(query: string, hits: SearchHit[], rerank = true) {
  return rankCandidates({ terms: analyzeQuery(query), hits, load, idf: () => 3, nodes: 4, rerank }).ranked
}

const BOTH: SearchHit[] = [
  { key: 1, bm25: 3, cosine: 0.2 },
  { key: 0, bm25: 2.9, cosine: 0.7 },
  { key: 3, bm25: 2, cosine: 0.5 },
  { key: 2, cosine: 0.1 },
]

describe('rankCandidates', () => {
  it('lifts the passage whose text answers', () => {
    const ranked = rank('who improved the steam engine', BOTH)
    expect(ranked.map(({ key }) => key)).toEqual([0, 1, 3, 2])
    expect(ranked[0]!.rerank).toBe(1)
    expect(ranked[0]!.features?.coverage).toBe(1)
  })

  it('scores from 0 to 1, falling, and high only when the question is covered', () => {
    const good = rank('who improved the steam engine', BOTH)
    const poor = rank('annual revenue growth of the steam division in Brazil', BOTH)
    for (const ranked of [good, poor]) {
      for (const [i, { final }] of ranked.entries()) {
        expect(final).toBeGreaterThanOrEqual(0)
        expect(final).toBeLessThanOrEqual(i === 0 ? 1 : ranked[i - 1]!.final)
      }
    }
    expect(good[0]!.final).toBeGreaterThan(0.9)
    expect(poor[0]!.final).toBeLessThan(0.3)
  })

  it('is sure of a one-word query that is found', () => {
    expect(rank('valley', [{ key: 2, bm25: 1.4 }])[0]!.final).toBeGreaterThan(0.8)
  })

  it('takes one leg alone', () => {
    const text = BOTH.filter((hit) => hit.bm25 !== undefined).map(({ key, bm25 }) => ({ key, bm25: bm25! }))
    expect(rank('who improved the steam engine', text)[0]!.key).toBe(0)
    const dense = rank('locomotive history', [
      { key: 0, cosine: 0.8 },
      { key: 2, cosine: 0.1 },
    ])
    expect(dense[0]).toMatchObject({ key: 0, final: 0.8 })
  })

  it('keeps the order of fusion when reranking is off', () => {
    const ranked = rank('who improved the steam engine', BOTH, false)
    expect(ranked.map(({ retrieval }) => retrieval)).toEqual(
      ranked.map(({ retrieval }) => retrieval).sort((a, b) => b - a),
    )
    expect(ranked.every(({ rerank }) => rerank === undefined)).toBe(true)
    expect(ranked[0]!.final).toBeGreaterThan(0.5)
  })

  it('leaves out what is gone and loads no more texts than it compares', () => {
    const asked: number[] = []
    const hits = Array.from({ length: 120 }, (_, key) => ({ key: key + 1, bm25: 200 - key }))
    const { ranked } = rankCandidates({
      terms: ['word'],
      hits,
      idf: () => 1,
      nodes: 120,
      load: (keys) => {
        asked.push(...keys)
        return new Map(keys.filter((key) => key % 2 === 0).map((key) => [key, { title: '', body: 'word' }]))
      },
    })
    expect(asked).toHaveLength(RERANK_LIMIT)
    expect(ranked).toHaveLength(120 - RERANK_LIMIT / 2)
    expect(ranked.slice(0, RERANK_LIMIT / 2).every(({ rerank }) => rerank !== undefined)).toBe(true)
    expect(ranked.at(-1)!.final).toBeLessThanOrEqual(ranked[RERANK_LIMIT / 2 - 1]!.final)
  })

  it('gives nothing for nothing', () => {
    expect(rank('anything', [])).toEqual([])
  })

  it('uses remembered passages, but shows none that the caller does not load', () => {
    const cache = new PassageCache()
    const request = { terms: ['steam'], hits: [{ key: 0, bm25: 1 }], idf: () => 1, nodes: 10, cache }
    expect(rankCandidates({ ...request, load }).ranked).toHaveLength(1)
    expect(rankCandidates({ ...request, load: () => new Map() }).ranked).toEqual([])
  })
})

describe('the weights of terms', () => {
  it('fall with the number of passages that hold a term, and are of use in a space of one', () => {
    const held = new Map([
      ['steam', 900],
      ['valley', 3],
    ])
    const weight = countedWeights((term) => held.get(term) ?? 0, 1_000)
    expect(weight('valley')).toBeGreaterThan(weight('steam'))
    expect(weight('unicorn')).toBeGreaterThan(weight('valley'))
    expect(countedWeights(() => 1, 1)('only')).toBeGreaterThan(1)
  })
})
