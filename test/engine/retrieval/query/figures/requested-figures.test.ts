import { describe, expect, it } from 'vitest'
import { findRequestedFigures } from '../../../../../src/engine/retrieval/query/requested-figures.js'

describe('the detection of financial measures in a question', () => {
  it.each([
    [
      'What is the quick ratio of Lantern for FY2022?',
      ['currentAssets', 'currentLiabilities', 'inventories', 'cash', 'receivables'],
      ['balance'],
      ['2022'],
    ],
    [
      "Did Lantern's operating margins improve in FY22? If not, explain why.",
      ['operatingIncome', 'revenue'],
      ['income'],
      ['2022'],
    ],
    ['How high was free cashflow in 2021?', ['operatingCash', 'capitalExpenditure'], ['cash'], ['2021']],
    ['What were net sales?', ['revenue'], ['income'], []],
    ['Who audits the balance sheet?', [], ['balance'], []],
  ])(
    'finds the rows, years and kinds of financial statements that the question requires: %s',
    (question, lines, statements, years) => {
      expect(findRequestedFigures(question)).toEqual({ lines, statements, years })
    },
  )

  it('uses only the longest of overlapping names of measures', () => {
    expect(findRequestedFigures('What is the net profit margin?')?.lines).toEqual(['netIncome', 'revenue'])
    expect(findRequestedFigures('How large are the costs of goods sold?')?.lines).toEqual(['costOfSales'])
  })

  it.each([
    'How high is the lamp of Brest?',
    'What drove the change in revenue?',
    'Why did net income fall?',
    'Wie hoch ist der Turm?',
  ])('returns undefined for a question that requests no value of a statement: %s', (question) => {
    expect(findRequestedFigures(question)).toBeUndefined()
  })
})
