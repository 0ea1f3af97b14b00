import { describe, expect, it } from 'vitest'
import { scoreRanges } from '../../../../src/engine/retrieval/query/page-index/navigate.js'

type Trees = Parameters<typeof scoreRanges>[0]
type Range = Trees[number]['ranges'][number]

const range = (first: number, rest: Partial<Range> = {}): Range => ({
  ...{ first, count: 1, page: null, section: '1', title: [], lead: [], terms: [], counts: [], length: 100, figures: 0 },
  ...rest,
})
const holding = (first: number, hash: number, count = 1, rest: Partial<Range> = {}) =>
  range(first, { terms: [hash], counts: [count], ...rest })
const document = (score = 1, named: number[] = []) => ({ versionKey: 1, docKey: 1, score, named: new Set(named) })
const term = (hash: number, weight = 1) => ({ term: `t${hash}`, hash, weight })

/** The ranges of one document by their first node, best first, with their scores. */
function scored(
  ranges: Range[],
  { of = document(), terms = [term(1), term(2)], weights = [1, 1], figures = false } = {},
) {
  const { scored: found, scanned } = scoreRanges([{ document: of, ranges }], { terms, weights, figures })
  expect(scanned).toBe(ranges.length)
  return found.map(({ range: { first }, score }) => ({ first, score }))
}
const order = (...given: Parameters<typeof scored>) => scored(...given).map(({ first }) => first)

describe('the page ranges of selected documents', () => {
  it('need a term of the question', () => {
    expect(
      order([range(1), holding(2, 1), holding(3, 9), range(4, { title: [2] }), range(5, { lead: [1] })]).sort(),
    ).toEqual([...[2, 4, 5]])
  })

  it('rank by the number of their terms, then by the counts, then by their position', () => {
    const both = range(3, { terms: [1, 2], counts: [1, 1] })
    expect(order([holding(1, 1), holding(2, 1, 3), both])).toEqual([3, 2, 1])
    expect(order([holding(5, 1), holding(4, 1)])).toEqual([4, 5])
  })

  it('score lower for a term the longer they are', () => {
    expect(order([holding(1, 1, 1, { length: 300 }), holding(2, 1, 1, { length: 50 })])).toEqual([2, 1])
  })

  it('score highest for a term in the title, then in the first line, then in the text', () => {
    const ranges = [holding(1, 1), holding(2, 1, 1, { lead: [1] }), holding(3, 1, 1, { title: [1] })]
    expect(order(ranges)).toEqual([3, 2, 1])
  })

  it('score higher for a term rare in the space, or rare in the document if the document is long', () => {
    expect(order([holding(1, 1), holding(2, 2)], { weights: [1, 3] })).toEqual([2, 1])
    const many = Array.from({ length: 20 }, (_, n) => holding(n + 10, 1))
    expect(order([...many, holding(1, 2)], { weights: [3, 1] })[0]).toBe(1)
    expect(order([...many.slice(2), holding(1, 2)], { weights: [3, 1] }).at(-1)).toBe(1)
    expect(order([holding(1, 1), holding(2, 2)], { terms: [term(1, 1), term(2, 0.5)] })).toEqual([1, 2])
  })

  it('score almost nothing for a term that the document is named after, even in titles', () => {
    expect(order([holding(1, 1, 5), holding(2, 2)], { of: document(1, [1]) })).toEqual([2, 1])
    const [titled, plain] = [range(1, { title: [1] }), holding(2, 1)]
    const of = document(1, [1])
    expect(scored([titled], { of })[0]?.score).toBeCloseTo(scored([plain], { of })[0]?.score ?? 0, 5)
  })

  it('rank higher in a document with a higher score', () => {
    const trees = [0.4, 1].map((score, place) => ({ document: document(score), ranges: [holding(place, 1)] }))
    const { scored: found } = scoreRanges(trees, { terms: [term(1)], weights: [1], figures: false })
    expect(found.map(({ range: { first } }) => first)).toEqual([1, 0])
    expect((found[0]?.score ?? 0) - (found[1]?.score ?? 0)).toBeCloseTo(0.8 * 0.6)
  })

  it('score higher with more numbers if the question requests numbers, up to 80 numbers', () => {
    const ranges = [holding(1, 1), holding(2, 1, 1, { figures: 40 }), holding(3, 1, 1, { figures: 80 })]
    expect(order(ranges)).toEqual([1, 2, 3])
    expect(order(ranges, { figures: true })).toEqual([3, 2, 1])
    const gain = (one: Range) => (scored([one], { figures: true })[0]?.score ?? 0) - (scored([one])[0]?.score ?? 0)
    expect(gain(holding(1, 1, 1, { figures: 80 }))).toBeCloseTo(0.75)
    expect(gain(holding(1, 1, 1, { figures: 100 }))).toBeCloseTo(0.75)
    expect(gain(holding(1, 1, 1, { figures: 40 }))).toBeCloseTo(0.75 * 0.5 * 0.8)
    expect(gain(holding(1, 1, 1, { figures: 10, length: 0 }))).toBeCloseTo(0.75 / 8)
  })
})
