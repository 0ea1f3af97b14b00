import { describe, expect, it } from 'vitest'
import type { QuotationCandidate } from '../../../../../src/engine/retrieval/query/quotation/candidates.js'
import { buildCandidates } from '../../../../../src/engine/retrieval/query/quotation/candidates.js'
import {
  type ScoredCandidate,
  scoreCandidates,
  selectUnits,
} from '../../../../../src/engine/retrieval/query/quotation/choose.js'
import { prepareQuestion } from '../../../../../src/engine/retrieval/query/quotation/question.js'
import type { QuotationUnit } from '../../../../../src/engine/retrieval/query/quotation/units.js'

const [TEMPLATE] = buildCandidates(
  prepareQuestion('tower', () => 1),
  [{ text: 'The tower.', title: '', source: '', score: 1 }],
)
let block = 0

/** A candidate of its own passage and block, unless a test states them. */
function scored(
  logit: number,
  text: string,
  { passage = block, ...unit }: Partial<QuotationUnit> & { passage?: number } = {},
) {
  if (TEMPLATE === undefined) throw new Error('the template has no unit')
  block++
  const candidate: QuotationCandidate = {
    ...TEMPLATE,
    passage,
    unit: { ...TEMPLATE.unit, block, start: 0, end: text.length, text, ...unit },
  }
  return { candidate, logit }
}
const selected = (...candidates: ScoredCandidate[]): string[] => selectUnits(candidates).map(({ unit }) => unit.text)

describe('the selection of units for a quotation', () => {
  it('returns nothing without candidates', () => {
    expect(selectUnits([])).toEqual([])
  })

  it('takes at most three units, in the order of their scores', () => {
    expect(selected(scored(3, 'a'), scored(2.9, 'b'), scored(2.8, 'c'), scored(2.7, 'd'))).toEqual(['a', 'b', 'c'])
  })

  it('takes no unit that is 3.5 logits or more below the best one', () => {
    expect(selected(scored(3, 'best'), scored(-0.4, 'near'), scored(-0.6, 'far'))).toEqual(['best', 'near'])
    expect(selected(scored(-4, 'best'), scored(-7, 'near'))).toEqual(['best', 'near'])
  })

  it('takes units of 420 characters in total with headings and leads, and the best unit at any length', () => {
    const long = 'l'.repeat(500)
    expect(selected(scored(3, long), scored(2, 'short'))).toEqual([long])
    const half = 'h'.repeat(210)
    expect(selected(scored(3, half), scored(2, 'i'.repeat(210)))).toHaveLength(2)
    expect(selected(scored(3, half), scored(2, 'i'.repeat(211)), scored(1, 'fits'))).toEqual([half, 'fits'])
    expect(selected(scored(3, half), scored(2, 'i'.repeat(210), { heading: 'H' }))).toEqual([half])
    expect(selected(scored(3, half), scored(2, 'i'.repeat(210), { lead: 'L' }))).toEqual([half])
  })

  it('counts the header of a table once for all of its rows', () => {
    const table = { passage: 0, block: 0, lead: 'l'.repeat(200) }
    const row = (logit: number, text: string, start: number) => scored(logit, text, { ...table, start, end: start + 1 })
    expect(selected(row(3, 'r'.repeat(100), 0), row(2, 's'.repeat(100), 1))).toHaveLength(2)
  })

  it('takes only one of two units that differ in white space alone', () => {
    expect(selected(scored(3, 'The tower is high.'), scored(2, 'The tower\n is  high.'), scored(1, 'other'))).toEqual([
      'The tower is high.',
      'other',
    ])
  })

  it('takes no unit that overlaps a unit with a higher score', () => {
    const window = (logit: number, text: string, start: number, end: number, passage = 0) =>
      scored(logit, text, { passage, block: 0, start, end })
    expect(
      selected(
        window(3, 'second', 10, 30),
        window(2, 'first', 0, 11),
        window(1.9, 'third', 29, 40),
        window(1.8, 'last', 30, 40),
      ),
    ).toEqual(['second', 'last'])
    expect(selected(window(3, 'one', 10, 30), window(2, 'other passage', 10, 30, 1))).toHaveLength(2)
  })
})

describe('the scoring of candidates for a quotation', () => {
  it('sorts candidates by the weighted sum of their features', () => {
    const question = prepareQuestion('How high is the tower of Brest?', () => 3)
    const passage = { title: '', source: 'a.md', score: 0.9, text: 'A boat.\n\nThe tower of Brest is 40 metres high.' }
    const candidates = buildCandidates(question, [passage])
    const weights = candidates.flatMap(({ features }) => Object.keys(features).map((name) => Number(name === 'inUnit')))
    const found = scoreCandidates(
      { bias: 2, weights: weights.slice(0, weights.length / candidates.length) },
      candidates,
    )
    expect(found.map(({ candidate }) => candidate.unit.text)).toEqual([
      'The tower of Brest is 40 metres high.',
      'A boat.',
    ])
    expect(found.map(({ logit }) => logit)).toEqual([3, 2])
  })
})
