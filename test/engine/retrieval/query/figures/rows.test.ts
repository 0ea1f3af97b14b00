import { describe, expect, it } from 'vitest'
import { pickTables, type TablePassage } from '../../../../../src/engine/retrieval/query/figure-tables.js'
import { findNames } from '../../../../../src/engine/retrieval/query/names/question-names.js'
import { findRequestedFigures } from '../../../../../src/engine/retrieval/query/requested-figures.js'

const INCOME =
  'Year ended | 2022 | 2021\nNet sales | $900 | $800\nCost of sales | (500) | (450)\nGross profit | 400 | 350'
const BALANCE =
  'As of | 2022 | 2021\nInventories | 70 | 60\nAccounts payable | 25 | 34\nTotal current assets | 210 | 190'
const NOTE = 'Segment | 2022 | 2021\nNet sales of lamps | 300 | 250'

let key = 0
const passage = (title: string, body: string, document = 'Lantern Inc.'): TablePassage => ({
  ...{ key: ++key, title: `${document} › ${title}`, body, filename: 'report.pdf', document_title: document },
})
function picked(question: string, passages: TablePassage[], maxTables = 3): string[] {
  const asked = findRequestedFigures(question) ?? { lines: [], statements: [], years: [] }
  return pickTables(passages, asked, findNames(question), maxTables).flatMap(
    (one) => passages.find((passage) => passage.key === one)?.title ?? [],
  )
}

describe('the choice of financial statement tables', () => {
  it('prefers a statement to a note with a similar row', () => {
    const all = [passage('Note 4', NOTE), passage('Consolidated Statements of Income', INCOME)]
    expect(picked('What was the gross margin of Lantern in 2022?', all)[0]).toContain('Statements of Income')
  })

  it('picks two statements if a measure is computed from both', () => {
    const all = [
      passage('Consolidated Statements of Income', INCOME),
      passage('Selected data', INCOME),
      passage('Consolidated Balance Sheets', BALANCE),
    ]
    const titles = picked('What is the days payable outstanding of Lantern for FY2022?', all, 2)
    expect(titles.join()).toMatch(/Balance Sheets/)
    expect(titles.join()).toMatch(/Statements of Income/)
  })

  it('picks tables of the document that the question names, by title or filename', () => {
    const all = [
      passage('Consolidated Statements of Income', INCOME, 'Candle Co.'),
      passage('Selected data', INCOME, 'Lantern Inc.'),
    ]
    expect(picked("What is Lantern's gross margin?", all)).toEqual(['Lantern Inc. › Selected data'])
    expect(picked('What is the gross margin?', all)).toHaveLength(2)
  })

  it('picks neither prose with the names of measures nor rows without numbers', () => {
    const all = [
      passage('Risks', 'Gross margin and net sales may fall in 2022.'),
      passage('Index', 'Gross profit | see below\nNet sales | see below'),
    ]
    expect(picked('What was the gross margin in 2022?', all)).toEqual([])
  })
})
