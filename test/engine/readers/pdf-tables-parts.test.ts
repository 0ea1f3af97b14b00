import { describe, expect, it } from 'vitest'
import { type TableCells, toTableCells } from '../../../src/engine/readers/tables/cells.js'
import { read } from './read.js'
import { type OnPage, pdfOfPages, row } from './table-pdf.js'

async function tablesOf(page: OnPage[]): Promise<TableCells[]> {
  const { elements } = await read('a.pdf', pdfOfPages([page]))
  return elements.flatMap(({ type, text, metadata }) => (type === 'table' ? [toTableCells(text ?? '', metadata)] : []))
}

/** Rows of two figures, 12 points apart. */
const figures = (y: number, names: string[], ends: number[] = [400, 500]): OnPage[] =>
  names.flatMap((name, n) =>
    row(y - 12 * n, [60, name], ...ends.map((end, at): [number, string] => [-end, String(1000 + 10 * n + at)])),
  )
const HEADS = row(700, [60, 'As of June 30,'], [-400, '2023'], [-500, '2022'])
const SECTIONS = ['Commitments', 'Equity', 'Equity of owners:', 'Ordinary shares:', 'Authorized (900 shares)']

describe('an interrupted PDF table', () => {
  it('stays one table if section heads separate its parts and no new column heads follow', async () => {
    const page = [
      ...HEADS,
      ...figures(688, ['Cash', 'Stock', 'Debt']),
      ...SECTIONS.flatMap((text, n) => row(652 - 12 * n, [60, text])),
      ...figures(592, ['Issued', 'Paid in', 'Earned']),
    ]
    const tables = await tablesOf(page)
    expect(tables).toHaveLength(1)
    expect(tables[0]?.headerRows).toBe(1)
    expect(tables[0]?.rows.at(-1)).toEqual(['Earned', '1020', '1021'])
  })

  it('stays one table if a sentence at row distance introduces the rest of the rows, else becomes two', async () => {
    const page = (apart: number): OnPage[] => [
      ...HEADS,
      ...figures(688, ['Cash', 'Stock', 'Debt']),
      ...row(652 - apart, [60, 'More of it was written down in the statements as follows:']),
      ...figures(640 - 2 * apart, ['Issued', 'Paid in', 'Earned']),
    ]
    expect(await tablesOf(page(0))).toHaveLength(1)
    expect(await tablesOf(page(8))).toHaveLength(2)
  })

  it('becomes two tables if the second part has other columns', async () => {
    const page = [
      ...HEADS,
      ...figures(688, ['Cash', 'Stock', 'Debt']),
      ...SECTIONS.flatMap((text, n) => row(652 - 12 * n, [60, text])),
      ...figures(592, ['Issued', 'Paid in', 'Earned'], [350, 450]),
    ]
    expect(await tablesOf(page)).toHaveLength(2)
  })
})

describe('column heads of a PDF table', () => {
  it('begin a second table if they have two full lines below a lone word', async () => {
    const page = [
      ...HEADS,
      ...figures(688, ['Cash', 'Stock', 'What was there at the beginning of the year']),
      ...row(650, [270, 'Shops']),

      ...row(628, [200, 'Shops in'], [330, 'Shops'], [450, 'Shops left']),
      ...row(616, [60, 'Quarter'], [200, 'all'], [330, 'opened'], [450, 'at the end']),
      ...figures(604, ['First', 'Second', 'Third'], [230, 360, 480]),
    ]
    const tables = await tablesOf(page)
    expect(tables.map(({ rows }) => rows.length)).toEqual([4, 4])
    expect(tables[1]?.rows.slice(0, 2)).toEqual([
      ['Quarter', 'Shops in all', 'Shops opened', 'Shops left at the end'],
      ['First', '1000', '1001', '1002'],
    ])
  })

  it('belong to the next table, not to the last rows of the previous table', async () => {
    const names = (y: number, year: string): OnPage[] => [
      ...row(y, [440, year]),
      ...row(y - 10, [60, 'Rounded.']),
      ...row(y - 18, [60, 'All sums.'], [470, 'Gains']),
      ...row(y - 26, [370, 'Sales'], [470, 'of it']),
      ...row(y - 35, [60, 'MILLIONS'], [-400, 'of it'], [-500, 'each']),
    ]
    const page = [
      ...names(730, '2021'),
      ...figures(683, ['Told', 'Bought', 'Kept']),
      ...names(630, '2020'),
      ...figures(583, ['Told', 'Bought', 'Kept']),
    ]
    const tables = await tablesOf(page)
    expect(tables.map(({ rows }) => rows.at(-1)?.[0])).toEqual(['Kept', 'Kept'])
    expect(tables[1]?.rows[0]).toContain('2020')
  })

  it('may be dates far above the years that complete them', async () => {
    const page = [
      ...row(712, [348, 'January 28,'], [423, 'January 29,']),
      ...row(690, [-400, '2023'], [-475, '2022']),
      ...figures(678, ['Cash', 'Stock', 'Debt', 'Rest'], [400, 475]),
    ]
    expect((await tablesOf(page))[0]?.rows.slice(0, 2)).toEqual([
      ['', 'January 28,', 'January 29,'],
      ['', '2023', '2022'],
    ])
  })
})

describe('notes below a PDF table', () => {
  it('become no rows of the table if a mark such as (*) precedes their text', async () => {
    const page = [
      ...row(700, [60, 'Item'], [-300, 'one'], [-400, 'two']),
      ...figures(688, ['Cash', 'Stock', 'Debt'], [300, 400]),
      ...row(640, [60, '(*)'], [90, 'Less than one in a hundred.']),
      ...row(628, [60, '(**)'], [90, 'It says nothing.']),
    ]
    const [table] = await tablesOf(page)
    expect(table?.rows.map(([head]) => head)).toEqual(['Item', 'Cash', 'Stock', 'Debt'])
  })
})
