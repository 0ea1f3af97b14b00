import { describe, expect, it } from 'vitest'
import type { RankedPassage } from '../../../../../src/engine/retrieval/query/evidence.js'
import type { RetrievalResult } from '../../../../../src/engine/retrieval/query/retrieval.js'
import { mergeRankings, mergeRetrievals } from '../../../../../src/engine/retrieval/query/spaces/merge.js'

let key = 0
/** A ranking whose passages are named after their space and rank. */
const ranking = (space: string, ...finals: number[]): RankedPassage[] =>
  finals.map((final, index) => {
    const id = `${space}${index + 1}`
    const row = { key: ++key, id, body: `${id} text`, section: '[]', filename: `${id}.md`, document_title: id }
    return { passage: { ...row, document_date: null, published_at: 0 }, final, retrieval: final } as RankedPassage
  })
const idsOf = (ranked: readonly RankedPassage[]) => ranked.map(({ passage }) => passage.id)
const result = (ranked: RankedPassage[], more: Partial<RetrievalResult> = {}): RetrievalResult => ({
  ...{
    ranked,
    terms: ['tower'],
    idf: () => 1,
    statistics: { weight: 1, nodes: 100, falloff: 0.1 },
    metrics: {},
    degraded: [],
  },
  ...more,
})
const merge = (...results: RetrievalResult[]) => mergeRetrievals(results, { size: 10, degraded: [] })

describe('merged rankings', () => {
  it('begin with the better space and keep the best passage of each near the front', () => {
    const merged = idsOf(mergeRankings([ranking('a', 0.5, 0.4, 0.3, 0.2), ranking('b', 0.9, 0.8, 0.7, 0.6)], []))
    expect(merged[0]).toBe('b1')
    expect(merged.indexOf('a1')).toBeLessThanOrEqual(3)
  })

  it('keep the order within each space, also of passages that were moved up', () => {
    const merged = idsOf(mergeRankings([ranking('a', 0.2, 0.9, 0.5), ranking('b', 0.6, 0.55)], []))
    expect(merged.filter((id) => id.startsWith('a'))).toEqual(['a1', 'a2', 'a3'])
    expect(merged.filter((id) => id.startsWith('b'))).toEqual(['b1', 'b2'])
    expect(merged[0]).toBe('a1')
  })

  it('end with the spaces in which nothing is near the question', () => {
    expect(idsOf(mergeRankings([ranking('a', 0.05, 0.04), ranking('b', 0.5, 0.2)], []))).toEqual([
      'b1',
      'b2',
      'a1',
      'a2',
    ])
  })

  it('equal the ranking of a single space', () => {
    expect(idsOf(mergeRankings([ranking('a', 0.5, 0.4)], []))).toEqual(['a1', 'a2'])
    expect(mergeRankings([], [])).toEqual([])
  })

  it('contain copies of a passage in two spaces once', () => {
    const [[one], [other]] = [ranking('a', 0.9), ranking('b', 0.8)]
    if (one === undefined || other === undefined) throw new Error('no passage')
    const copy = { ...other, passage: { ...other.passage, body: one.passage.body, filename: one.passage.filename } }
    expect(mergeRankings([[one], [copy]], [])).toHaveLength(1)
  })
})

describe('merged retrievals', () => {
  it('weigh a term by its frequency in all spaces together', () => {
    // in 1 of 100 passages, and in 1 of 10
    const [rare, common] = [-Math.log(0.01), -Math.log(0.1)]
    const { idf, statistics } = merge(result([], { idf: () => rare }), result([], { idf: () => common }))
    expect(idf('tower')).toBeCloseTo(-Math.log(0.055), 10)
    expect(statistics).toMatchObject({ nodes: 200, falloff: 0.1 })
    expect(statistics.weight).toBeCloseTo(-Math.log(0.055), 10)
  })

  it('have at most the requested number of passages', () => {
    const all = result(ranking('a', 0.9, 0.8, 0.7))
    expect(mergeRetrievals([all], { size: 2, degraded: [] }).ranked).toHaveLength(2)
  })

  it('report a correction only if no space contains the word', () => {
    const corrected = { searchedFor: [{ asked: 'towr', searched: 'tower' }] }
    expect(merge(result([], corrected), result([]))).not.toHaveProperty('searchedFor')
    expect(merge(result([], corrected), result([], corrected))).toMatchObject(corrected)
  })

  it('treat a withheld passage as decisive only if every space has one that holds more', () => {
    const withheld = { withheld: { holdsMore: true } }
    expect(merge(result([], withheld), result([])).withheld).toEqual({ holdsMore: false })
    expect(merge(result([], withheld), result([], withheld)).withheld).toEqual({ holdsMore: true })
    expect(merge(result([]))).not.toHaveProperty('withheld')
  })
})
