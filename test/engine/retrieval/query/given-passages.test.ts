import { describe, expect, it } from 'vitest'
import type { EvidenceItem } from '../../../../src/contract/gateway/queries.js'
import { estimateMaxTokens } from '../../../../src/engine/models/tokens.js'
import {
  fitPassages as fitInWindow,
  fitTurns,
  type PromptPassage,
  renderPassage,
} from '../../../../src/engine/retrieval/query/generate.js'

const SENTENCE = 'The tide gauge of Brest has been read every hour since the year 1711. '
const itemOf = (text: string, metadata: Record<string, unknown> = {}): EvidenceItem => ({
  nodeId: 'node',
  text,
  score: 1,
  scores: { retrieval: 1, final: 1 },
  freshness: 'fresh',
  citations: [],
  conflicts: [],
  metadata: { title: 'Gauge', ...metadata },
})
const size = (given: PromptPassage) => estimateMaxTokens(renderPassage(given))
const fitPassages = (items: EvidenceItem[], room: number) => fitInWindow(items, room, 131_072)
const numbered = (count: number) =>
  Array.from({ length: count }, (_, index) => itemOf(`${index} ${SENTENCE.repeat(20)}`))

describe('the passages of a prompt', () => {
  it('have numbers by rank, headers without repeated names, and no two equal texts', () => {
    const header = (metadata: object) => fitPassages([itemOf('Text.', { ...metadata })], 1000)[0]?.header
    expect(header({})).toBe('Section: Gauge')
    expect(header({ documentTitle: 'Tides', filename: 'tides.md' })).toBe(
      'File: tides.md\nDocument: Tides\nSection: Gauge',
    )
    expect(header({ documentTitle: 'Gauge', filename: 'Gauge' })).toBe('File: Gauge')
    expect(header({ documentTitle: 7, filename: undefined })).toBe('Section: Gauge')
    expect(fitPassages([itemOf('A.'), itemOf('B.'), itemOf('C.')], 1000).map(({ number }) => number)).toEqual([1, 2, 3])
    expect(fitPassages([itemOf('A b.'), itemOf('a\nB.'), itemOf('C.')], 1000).map(({ number }) => number)).toEqual([
      1, 3,
    ])
  })

  it('fit into the token budget, complete except for the last passage', () => {
    const items = numbered(9)
    const one = size({ number: 1, header: 'Section: Gauge', text: `1 ${SENTENCE.repeat(20)}` })
    for (const room of [one, 2 * one - 1, 2 * one, 3 * one + 60, 5 * one + 200]) {
      const given = fitPassages(items, room)
      const whole = given.filter(({ isCut }) => isCut !== true)
      expect(whole).toHaveLength(Math.floor(room / one))
      for (const { text } of whole) expect(text).toMatch(/1711\. $/)
      expect(given.length - whole.length).toBeLessThanOrEqual(1)
      // Each count is rounded up.
      const used = given.reduce((sum, { isCut: _, ...passage }) => sum + size(passage), 0)
      expect(used).toBeLessThanOrEqual(room + given.length)
    }
  })

  it('end with at most one truncated passage, cut after a sentence, if a minimum of space is left', () => {
    const items = [...numbered(2), itemOf('Short.')]
    const one = size({ number: 1, header: 'Section: Gauge', text: `1 ${SENTENCE.repeat(20)}` })
    const given = fitPassages(items, one + Math.floor(one / 2))
    expect(given).toHaveLength(2)
    expect(given[1]).toMatchObject({ number: 2, isCut: true })
    expect(given[1]?.text).toMatch(/^1 The tide .* 1711\.$/)
    expect(fitPassages(items, one + 10)).toHaveLength(1)
  })

  it('include some text of the best passage for any budget', () => {
    for (const room of [0, -500, 50]) {
      const [first, second] = fitPassages([itemOf(SENTENCE.repeat(90)), itemOf('B.')], room)
      expect(first?.isCut).toBe(true)
      expect(first?.text.startsWith('The tide gauge')).toBe(true)
      expect(second).toBeUndefined()
    }
    expect(fitPassages([itemOf('word'.repeat(3000))], 0)[0]?.text).toMatch(/^wordword/)
    expect(fitPassages([itemOf('A.'), itemOf('B.')], 0)).toHaveLength(2)
    expect(fitPassages([], 1000)).toEqual([])
  })
})

describe('the earlier turns of a prompt', () => {
  const turns = Array.from({ length: 8 }, (_, place) => ({ query: `Question ${place}?`, answer: SENTENCE.trim() }))
  const cost = ({ query, answer }: { query: string; answer: string }) =>
    estimateMaxTokens(query) + estimateMaxTokens(answer)

  it('include the latest turns that fit into a quarter of the budget, oldest first', () => {
    const [turn = { query: '', answer: '' }] = turns
    for (const many of [4, 5, 7]) {
      const room = 4 * many * cost(turn)
      expect(fitTurns(turns, room)).toEqual(turns.slice(-many))
      expect(fitTurns(turns, room - 4)).toEqual(turns.slice(-many + 1))
    }
    expect(fitTurns(turns, 1e6)).toEqual(turns)
    expect(fitTurns([], 1000)).toEqual([])
  })

  it('have their long answers truncated, so that one turn leaves space for another', () => {
    const long = [0, 1, 2].map((place) => ({ query: `Question ${place}?`, answer: SENTENCE.repeat(200) }))
    const fitting = fitTurns(long, 2000)
    expect(fitting.length).toBeGreaterThan(1)
    expect(fitting.at(-1)?.query).toBe('Question 2?')
    for (const { answer } of fitting) {
      expect(estimateMaxTokens(answer)).toBeLessThanOrEqual(125)
      expect(SENTENCE.repeat(200).startsWith(answer)).toBe(true)
      expect(answer).not.toBe('')
    }
    expect(fitting.reduce((sum, turn) => sum + cost(turn), 0)).toBeLessThanOrEqual(500)
  })
})
