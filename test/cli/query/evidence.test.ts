import { describe, expect, it } from 'vitest'
import { parseEvidence, parseMarkedRanges, selectCitedEvidence } from '../../../src/cli/query/evidence.js'

const evidence = parseEvidence({ items: ['a', 'b', 'c'].map((text) => ({ text })) })
const numbersOf = (answer: string, metadata: Record<string, unknown>) =>
  selectCitedEvidence({ answer, metadata, evidence }).map(({ number }) => number)

describe('citedEvidence', () => {
  it("returns the items that the metadata list, and ignores numbers in square brackets in the answer's text", () => {
    expect(numbersOf('[1] a.md\n\nSee [3] and [2].', { cited: [1] })).toEqual([1])
    expect(numbersOf('Nothing answers this [1].', { cited: [] })).toEqual([])
  })

  it("returns the items marked in the answer's text, without thoughts, if the metadata have no list", () => {
    expect(numbersOf('<think>[2]</think>\nSo [1], and so [3].', {})).toEqual([1, 3])
  })
})

describe('markedRanges', () => {
  it('returns the marked ranges of all blocks of a quotation, except invalid ranges', () => {
    const blocks = [{ marks: [{ start: 3, end: 5 }, { start: '1' }] }, {}, { marks: [{ start: 9, end: 12 }] }]
    expect(parseMarkedRanges({ quotation: { blocks } })).toEqual([
      { start: 3, end: 5 },
      { start: 9, end: 12 },
    ])
    expect([parseMarkedRanges({}), parseMarkedRanges({ quotation: { blocks: 'x' } })]).toEqual([[], []])
  })
})
