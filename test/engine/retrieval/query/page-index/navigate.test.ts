import { describe, expect, it } from 'vitest'
import type { IndexedRange } from '../../../../../src/engine/knowledge/derived/page-index/build.js'
import { toQueryTerms } from '../../../../../src/engine/knowledge/derived/page-index/terms.js'
import { termHash } from '../../../../../src/engine/knowledge/derived/passage.js'
import { scoreRanges } from '../../../../../src/engine/retrieval/query/page-index/navigate.js'

const TERMS = ['lamp', 'iron'].map((term) => ({ term, hash: termHash(term), weight: 1 }))
const [LAMP = 0, IRON = 0] = TERMS.map(({ hash }) => hash)
const OTHER = termHash('glass')

const range = (first: number, more: Partial<IndexedRange> = {}): IndexedRange => ({
  ...{ first, count: 1, page: null, section: 's', title: [], lead: [], terms: [], counts: [], length: 100, figures: 0 },
  ...more,
})
const document = (score = 1, named: number[] = []) => ({ versionKey: 1, docKey: 1, score, named: new Set(named) })
const rangeWith = (first: number, lamp: number, iron = 0, more: Partial<IndexedRange> = {}) =>
  range(first, { terms: [LAMP, IRON, OTHER], counts: [lamp, iron, 5], ...more })

interface Changes {
  weights?: number[]
  figures?: boolean
  of?: ReturnType<typeof document>
  terms?: typeof TERMS
}
const walk = (
  ranges: IndexedRange[],
  { weights = [2, 1], figures = false, of = document(), terms = TERMS }: Changes = {},
) => scoreRanges([{ document: of, ranges }], { terms, weights, figures })
const scores = (ranges: IndexedRange[], changes?: Changes) =>
  new Map(walk(ranges, changes).scored.map(({ range: { first }, score }) => [first, score]))
const score = (one: IndexedRange, changes?: Changes) => scores([one], changes).get(one.first) ?? Number.NaN

/** BM25 factor of a term with this count in a range of average length. */
const density = (count: number, damping = 1.2) => (count * 2.2) / (count + damping)

describe('the scores of page ranges', () => {
  it('cover the ranges with a term of the question, sorted by score, then by position', () => {
    const { scored, scanned } = walk([rangeWith(7, 1), range(5), rangeWith(3, 1), rangeWith(9, 4), rangeWith(1, 0, 0)])
    expect(scored.map(({ range: { first } }) => first)).toEqual([9, 3, 7])
    expect(scanned).toBe(5)
    expect(scored[0]?.document).toMatchObject({ docKey: 1 })
    expect(walk([])).toEqual({ scored: [], scanned: 0 })
  })

  it("rise with the document's score, the counts of the terms and the number of terms", () => {
    expect(score(rangeWith(1, 1))).toBeCloseTo(0.8 + (0.6 * 2 * density(1)) / 3 + (0.3 * 2) / 3, 10)
    expect(score(rangeWith(1, 3, 1))).toBeCloseTo(0.8 + (0.6 * (2 * density(3) + density(1))) / 3 + 0.3, 10)
    expect(score(rangeWith(1, 1), { of: document(0.5) })).toBeCloseTo(score(rangeWith(1, 1)) - 0.4, 10)
  })

  it('rise with terms in the first line and in the titles of a range', () => {
    const led = score(range(1, { lead: [LAMP, OTHER] }))
    expect(led).toBeCloseTo(0.8 + (0.6 * 2 * density(1)) / 3 + (0.3 * 2) / 3 + (0.6 * 2) / 3, 10)
    const titled = score(range(1, { title: [IRON] }))
    expect(titled).toBeCloseTo(0.8 + (0.6 * density(1)) / 3 + 0.3 / 3 + 0.8 / 3, 10)
    // A term in title and text counts as often as it occurs in the text.
    const both = score(rangeWith(1, 0, 3, { title: [IRON] }))
    expect(both).toBeCloseTo(0.8 + (0.6 * density(3)) / 3 + 0.3 / 3 + 0.8 / 3, 10)
  })

  it('fall for ranges that are longer than the others of the document', () => {
    const found = scores([rangeWith(1, 2), rangeWith(2, 2, 0, { length: 300 }), range(3, { length: 200 })])
    const at = (length: number) => 0.8 + (0.6 * 2 * density(2, 1.2 * (0.4 + (0.6 * length) / 200))) / 3 + 0.2
    expect(found.get(1)).toBeCloseTo(at(100), 10)
    expect(found.get(2)).toBeCloseTo(at(300), 10)
  })

  it('rise with the count of numbers in a range if the question requests numbers', () => {
    const figures = (count: number, length = 100) => {
      const one = rangeWith(1, 1, 0, { figures: count, length })
      return score(one, { figures: true }) - score(one)
    }
    expect(figures(0)).toBe(0)
    expect(figures(40)).toBeCloseTo(0.75 * 0.5 * 0.8, 10)
    expect(figures(80)).toBeCloseTo(0.75, 10)
    expect(figures(200)).toBeCloseTo(0.75, 10)
    expect(figures(80, 320)).toBeCloseTo(0.75 * 0.5, 10)
    expect(figures(80, 0)).toBeCloseTo(0.75, 10)
  })

  it('give little weight to terms that the document is named after', () => {
    const of = document(1, [LAMP])
    const total = 0.1 + 1
    expect(score(rangeWith(1, 1), { of })).toBeCloseTo(0.8 + (0.6 * 0.1 * density(1)) / total + (0.3 * 0.1) / total, 10)
    const titled = range(1, { title: [LAMP, IRON] })
    const lone = 0.8 + (0.6 * (0.1 + 1) * density(1)) / total + 0.3 + 0.8 / total
    expect(score(titled, { of })).toBeCloseTo(lone, 10)
  })

  it('use the term weights of the space, or of the document if it has twenty ranges or more', () => {
    const few = Array.from({ length: 19 }, (_, place) => rangeWith(place + 1, 1, place === 0 ? 1 : 0))
    const many = [...few, rangeWith(20, 1)]
    const gain = (ranges: IndexedRange[]) => {
      const found = scores(ranges)
      return (found.get(1) ?? 0) - (found.get(2) ?? 0)
    }
    expect(gain(few)).toBeCloseTo((0.6 * density(1) + 0.3) / 3, 10)
    const weight = (holding: number) => Math.log(1 + (20 - holding + 0.5) / (holding + 0.5))
    const total = weight(20) + weight(1)
    expect(gain(many)).toBeCloseTo((weight(1) * (0.6 * density(1) + 0.3)) / total, 10)
  })

  it('follow the weights of the terms in the question', () => {
    const terms = TERMS.map((term, place) => ({ ...term, weight: place === 0 ? 0.5 : 1 }))
    expect(score(rangeWith(1, 1), { terms })).toBeCloseTo(0.8 + (0.6 * density(1)) / 2 + 0.3 / 2, 10)
    expect(score(rangeWith(1, 1), { weights: [] })).toBeCloseTo(0.8 + (0.6 * density(1)) / 2 + 0.3 / 2, 10)
    expect(score(rangeWith(1, 1), { weights: [0, 0] })).toBeCloseTo(0.8, 10)
  })

  it('order the ranges of several documents together', () => {
    const trees = [
      { document: { ...document(0.2), docKey: 1 }, ranges: [rangeWith(1, 3)] },
      { document: { ...document(1), docKey: 2 }, ranges: [rangeWith(2, 3), rangeWith(3, 1)] },
    ]
    const { scored, scanned } = scoreRanges(trees, { terms: TERMS, weights: [2, 1], figures: false })
    expect(scored.map(({ document: { docKey }, range: { first } }) => [docKey, first])).toEqual([
      [2, 2],
      [2, 3],
      [1, 1],
    ])
    expect(scanned).toBe(3)
  })

  it('cover the ranges with terms of a question in natural language', () => {
    const terms = toQueryTerms('How long does the lamp burn?')
    const { scored } = scoreRanges([{ document: document(), ranges: [rangeWith(1, 1), range(2)] }], {
      ...{ terms, weights: terms.map(() => 1), figures: false },
    })
    expect(scored.map(({ range: { first } }) => first)).toEqual([1])
  })
})
