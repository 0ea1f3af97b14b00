import { describe, expect, it } from 'vitest'
import { rankCandidates } from '../../../../bench/lib/rank-candidates.js'
import { PassageCache } from '../../../../src/engine/knowledge/derived/passage.js'
import { MAX_RERANK_CANDIDATES, RANK_WEIGHTS } from '../../../../src/engine/retrieval/query/rank.js'
import { createTermWeights } from '../../../../src/engine/retrieval/query/term-weights.js'
import type { SearchHit } from '../../../../src/engine/search/ports.js'
import { analyzeQuery } from '../../../../src/lib/text/analyze.js'

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

describe('the ranking of candidates', () => {
  it('puts the passage that answers the question first', () => {
    const ranked = rank('who improved the steam engine', BOTH)
    expect(ranked.map(({ key }) => key)).toEqual([0, 1, 3, 2])
    expect(ranked[0]!.rerank).toBe(1)
    expect(ranked[0]!.features?.coverage).toBe(1)
  })

  it('gives descending scores from 0 to 1, high only if the question is covered', () => {
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

  it('gives a high score to a match of a one-word query', () => {
    expect(rank('valley', [{ key: 2, bm25: 1.4 }])[0]!.final).toBeGreaterThan(0.8)
  })

  it('works with text hits alone and with vector hits alone', () => {
    const text = BOTH.filter((hit) => hit.bm25 !== undefined).map(({ key, bm25 }) => ({ key, bm25: bm25! }))
    expect(rank('who improved the steam engine', text)[0]!.key).toBe(0)
    const dense = rank('locomotive history', [
      { key: 0, cosine: 0.8 },
      { key: 2, cosine: 0.1 },
    ])
    expect(dense[0]).toMatchObject({ key: 0, final: 0.8 })
  })

  it('keeps the order of fusion if reranking is disabled', () => {
    const ranked = rank('who improved the steam engine', BOTH, false)
    expect(ranked.map(({ retrieval }) => retrieval)).toEqual(
      ranked.map(({ retrieval }) => retrieval).sort((a, b) => b - a),
    )
    expect(ranked.every(({ rerank }) => rerank === undefined)).toBe(true)
    expect(ranked[0]!.final).toBeGreaterThan(0.5)
  })

  it('drops deleted passages, and loads no more texts than it compares', () => {
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
    expect(asked).toHaveLength(MAX_RERANK_CANDIDATES)
    expect(ranked).toHaveLength(120 - MAX_RERANK_CANDIDATES / 2)
    expect(ranked.slice(0, MAX_RERANK_CANDIDATES / 2).every(({ rerank }) => rerank !== undefined)).toBe(true)
    expect(ranked.at(-1)!.final).toBeLessThanOrEqual(ranked[MAX_RERANK_CANDIDATES / 2 - 1]!.final)
  })

  it('returns an empty list without hits', () => {
    expect(rank('anything', [])).toEqual([])
  })

  it('uses cached passages, but returns only those that the caller loads', () => {
    const cache = new PassageCache()
    const request = { terms: ['steam'], hits: [{ key: 0, bm25: 1 }], idf: () => 1, nodes: 10, cache }
    expect(rankCandidates({ ...request, load }).ranked).toHaveLength(1)
    expect(rankCandidates({ ...request, load: () => new Map() }).ranked).toEqual([])
  })
})

describe('the weights of terms', () => {
  it('fall with the number of passages that contain a term, and stay positive in a space with one passage', () => {
    const held = new Map([
      ['steam', 900],
      ['valley', 3],
    ])
    const weight = createTermWeights((term) => held.get(term) ?? 0, 1_000)
    expect(weight('valley')).toBeGreaterThan(weight('steam'))
    expect(weight('unicorn')).toBeGreaterThan(weight('valley'))
    expect(createTermWeights(() => 1, 1)('only')).toBeGreaterThan(1)
  })
})

describe('the scores of a ranking', () => {
  const hitsOf = (count: number): SearchHit[] =>
    Array.from({ length: count }, (_, place) => ({ key: place + 1, bm25: 100 - place, cosine: 0.5 }))
  const words = (keys: number[]) =>
    new Map(keys.map((key) => [key, { title: '', body: `lamp ${'glass '.repeat(key % 7)}` }]))
  const request = { terms: ['lamp', 'iron'], hits: hitsOf(40), load: words, idf: () => 3, nodes: 40 }

  it('equal confidence times relative score, and continue after the compared passages by fusion score', () => {
    const { ranked } = rankCandidates(request)
    const [best] = ranked
    const head = ranked.slice(0, MAX_RERANK_CANDIDATES)
    const tail = ranked.slice(MAX_RERANK_CANDIDATES)
    for (const { final, rerank = 0 } of head) expect(final).toBeCloseTo(best!.final * rerank, 10)
    const last = head.at(-1)!.final
    expect(tail).toHaveLength(40 - MAX_RERANK_CANDIDATES)
    expect(tail[0]!.final).toBeCloseTo(last, 10)
    for (const { final, retrieval, rerank, features } of tail) {
      expect(final).toBeCloseTo((last * retrieval) / tail[0]!.retrieval, 10)
      expect([rerank, features]).toEqual([undefined, undefined])
    }
  })

  it('equal the weighted sum of text score, vector score and features', () => {
    const weights = { text: 2, dense: 3, titleCoverage: 5, pairs: 7, sentenceCoverage: 11, earliness: 13, likeness: 0 }
    const texts = new Map([
      [1, { title: 'Lamp', body: 'Glass and iron. A lamp iron.' }],
      [2, { title: 'Iron', body: 'Nothing here of it, but a lamp.' }],
      [3, { title: '', body: 'Glass.' }],
    ])
    const hits = [
      { key: 1, bm25: 2, cosine: 0.1 },
      { key: 2, bm25: 6, cosine: 0.3 },
      { key: 3, bm25: 4, cosine: 0.5 },
    ]
    const { compared } = rankCandidates({ ...request, hits, weights, load: () => texts })
    expect(compared).toHaveLength(3)
    for (const { score, indexScores, features } of compared)
      expect(score).toBeCloseTo(
        2 * indexScores.text +
          3 * indexScores.dense +
          5 * features.titleCoverage +
          7 * features.pairs +
          11 * features.sentenceCoverage +
          13 * features.earliness,
        10,
      )
    expect(new Map(compared.map(({ key, indexScores }) => [key, indexScores]))).toEqual(
      new Map([
        [1, { text: 0, dense: 0 }],
        [2, { text: 1, dense: expect.closeTo(0.5, 10) }],
        [3, { text: 0.5, dense: 1 }],
      ]),
    )
    expect(compared.map(({ score }) => score)).toEqual(compared.map(({ score }) => score).sort((a, b) => b - a))
  })

  it('put the older of two passages with equal scores first', () => {
    const hits = [7, 3, 5].map((key) => ({ key, bm25: 1 }))
    const alike = { ...request, hits, load: (keys: number[]) => new Map(keys.map((key) => [key, TEXTS.get(0)!])) }
    expect(rankCandidates(alike).ranked.map(({ key }) => key)).toEqual([3, 5, 7])
  })

  it('equal the confidence times the relative fusion score without reranking', () => {
    const loaded: number[] = []
    const load = (keys: number[]) => {
      loaded.push(...keys)
      return words(keys)
    }
    const { ranked } = rankCandidates({ ...request, load, rerank: false })
    expect(loaded).toEqual([1, 2, 3, 4, 5])
    const [best] = ranked
    for (const { final, retrieval } of ranked)
      expect(final).toBeCloseTo((best!.final * retrieval) / best!.retrieval, 10)
    expect(ranked.map(({ key }) => key)).toEqual(hitsOf(40).map(({ key }) => key))
    expect(ranked.map(({ features }) => features !== undefined)).toEqual(
      Array.from({ length: 40 }, (_, place) => place < 5),
    )
  })

  it('come with the weight of the question, the size of the space and the falloff of a full list of hits', () => {
    expect(rankCandidates(request).statistics).toEqual({ weight: 6, nodes: 40, falloff: 0 })
    const full = { ...request, hits: hitsOf(200).map((hit, place) => ({ ...hit, bm25: 10 - place / 40 })) }
    expect(rankCandidates(full).statistics.falloff).toBeCloseTo((10 - 199 / 40) / 10, 10)
  })
})

describe('vectors in a ranking', () => {
  const texts = new Map([1, 2, 3].map((key) => [key, { title: '', body: 'lamp glass' }]))
  const ask = (hits: SearchHit[], more: object = {}) =>
    rankCandidates({ terms: ['lamp'], hits, load: () => texts, idf: () => 3, nodes: 1000, ...more })
  const calibration = { background: { middle: 0.3, spread: 0.1, samples: 50 }, nodes: 1000 }

  it('give their best cosine as confidence, from 0 to 1, if only the built-in model found passages', () => {
    expect(
      ask([
        { key: 1, cosine: 0.4 },
        { key: 2, cosine: 0.7 },
      ]).ranked[0]!.final,
    ).toBeCloseTo(0.7, 10)
    expect(ask([{ key: 1, cosine: -0.4 }]).ranked[0]!.final).toBe(0)
    expect(ask([{ key: 1, cosine: 1.0000001 }]).ranked[0]!.final).toBe(1)
  })

  it('mark passages that are nearer to the best cosine than to the worst', () => {
    const hits = [
      { key: 1, bm25: 3, cosine: 0.9 },
      { key: 2, bm25: 2, cosine: 0.5 },
      { key: 3, bm25: 1, cosine: 0.1 },
    ]
    const speaks = (found: SearchHit[], more?: object) =>
      new Set(ask(found, more).ranked.flatMap(({ key, byMeaning }) => (byMeaning === true ? [key] : [])))
    expect(speaks(hits)).toEqual(new Set([1, 2]))
    expect(speaks(hits.map((hit) => (hit.key === 2 ? { ...hit, cosine: 0.48 } : hit)))).toEqual(new Set([1]))
    expect(
      speaks([
        { key: 1, bm25: 3 },
        { key: 2, bm25: 2, cosine: 0.5 },
      ]),
    ).toEqual(new Set([2]))
    // With another model: cosines above the level of chance.
    expect(speaks(hits, { calibration })).toEqual(new Set([1]))
  })

  it('raise the confidence if their model is calibrated, and never lower the confidence of the terms', () => {
    const near = [{ key: 1, bm25: 3, cosine: 0.95 }]
    const far = [{ key: 1, bm25: 3, cosine: 0.31 }]
    const byWords = ask([{ key: 1, bm25: 3 }], { nodes: 1e6 }).ranked[0]!.final
    const raised = ask(near, { nodes: 1e6, calibration })
    expect(raised.ranked[0]!.final).toBeGreaterThan(byWords)
    expect(raised.ranked[0]!.final).toBeCloseTo(raised.statistics.byVectors ?? 0, 10)
    expect(ask(far, { nodes: 1e6, calibration }).ranked[0]!.final).toBeCloseTo(byWords, 10)
    const alone = ask([{ key: 1, cosine: 0.95 }], { calibration })
    expect(alone.ranked[0]!.final).toBeCloseTo(alone.statistics.byVectors ?? 0, 10)
    expect(ask([{ key: 1, bm25: 3 }], { calibration }).statistics.byVectors).toBeUndefined()
  })

  it('raise scores of passages similar to the best ones, in proportion to the uncovered question part', () => {
    const vectors = new Map([1, 2, 3].map((key) => [key, Float32Array.from(key === 3 ? [0, 1] : [1, 0])]))
    const hits = [1, 2, 3].map((key) => ({ key, bm25: 10 - key }))
    const more = { terms: ['lamp', 'iron'], vectors: () => vectors }
    const before = new Map(ask(hits, { terms: more.terms }).compared.map(({ key, score }) => [key, score]))
    const { compared } = ask(hits, more)
    for (const { key, score, likeness } of compared)
      expect(score).toBeCloseTo((before.get(key) ?? 0) + RANK_WEIGHTS.likeness * likeness, 10)
    const likeness = compared.map((one) => one.likeness)
    // One of two terms of equal weight is found: half of the question is uncovered.
    expect([Math.max(...likeness), Math.min(...likeness)]).toEqual([0.5, 0])
    expect(compared.at(-1)).toMatchObject({ key: 3, likeness: 0 })
  })
})
