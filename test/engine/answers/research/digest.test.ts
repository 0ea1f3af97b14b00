import { describe, expect, it } from 'vitest'
import { formatComparisonTable } from '../../../../src/engine/answers/research/digest.js'
import { findFigure } from '../../../../src/engine/answers/research/figures.js'
import { isSupported } from '../../../../src/engine/knowledge/support/support.js'
import { mentionsName } from '../../../../src/lib/text/name-mentions.js'

const STATEMENT =
  'Years ended March 31, 2022\n\nMarch 31, 2021\n\nSales: Bread $ 120 $ 90 Total sales 310 280\n\nStaff 41 38'

describe('a value of a financial statement', () => {
  it('comes from the column of the requested year', () => {
    expect(findFigure(STATEMENT, 'total sales', '2021')).toMatchObject({ value: '280' })
    expect(findFigure(STATEMENT, 'staff', '2022')).toMatchObject({ value: '41', quote: 'Staff 41 38' })
  })

  it('stays undefined for a year without a column', () => {
    expect(findFigure(STATEMENT, 'total sales', '2019')).toBeUndefined()
  })

  it('comes from a sentence about the requested year if the text has no table', () => {
    const text = 'In 2020 the turnover was 12 million. In 2021 the turnover was 15 million.'
    expect(findFigure(text, 'turnover', '2021')?.value).toContain('15')
  })
})

describe('a statement of a research report', () => {
  const source = { text: 'Norwick sold 1,250 loaves in May.', names: 'norwick report.md' }

  it('counts as supported when its numbers and names occur in the passage', () => {
    expect(isSupported('In May 1250 loaves were sold by Norwick.', [source])).toBe(true)
    expect(isSupported('Norwick sold 1,300 loaves.', [source])).toBe(false)
    expect(isSupported('The loaves of Tellmar sold well, and 1,250 is many.', [source])).toBe(false)
  })
})

describe('the comparison table of a research report', () => {
  it('shows a row for each name, with "not found" for missing values', () => {
    const fields = [
      { entity: 'Norwick', measure: 'sales', year: '2021', value: '280 [1]' },
      { entity: 'Tellmar', measure: 'sales', year: '2021' },
    ]
    expect(formatComparisonTable(fields)).toBe(
      '|  | sales, 2021 |\n| --- | --- |\n| Norwick | 280 [1] |\n| Tellmar | not found |',
    )
  })
})

describe('the search for a name in a text or filename', () => {
  it.each([
    ['OLDQUAY_2023_10K.pdf', 'Old Quay', true],
    ['The Old Quay Company plc', 'Old Quay', true],
    ['Oldenburg', 'Old', false],
    ['the quay of old', 'Old Quay', false],
  ])('%s contains the name %s: %s', (text, name, borne) => {
    expect(mentionsName(text, name)).toBe(borne)
  })
})
