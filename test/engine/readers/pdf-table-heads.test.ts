import { describe, expect, it } from 'vitest'
import { type TableCells, toTableCells } from '../../../src/engine/readers/tables/cells.js'
import { read } from './read.js'
import { line, type OnPage, pdfOfPages, row } from './table-pdf.js'

async function tablesOf(page: OnPage[]): Promise<TableCells[]> {
  const { elements } = await read('a.pdf', pdfOfPages([page]))
  return elements.flatMap(({ type, text, metadata }) => (type === 'table' ? [toTableCells(text ?? '', metadata)] : []))
}

/** The heads of each column, outermost first; a head over several columns counts for each of them. */
function headsOf(table: TableCells | undefined): string[] {
  const { rows = [], headerRows = 0, spans = [] } = table ?? {}
  return (rows[0] ?? []).map((_, column) =>
    rows
      .slice(0, headerRows)
      .map((cells, index) => {
        const span = spans.find((one) => one.row === index && one.column <= column && column < one.column + one.columns)
        return cells[span?.column ?? column] ?? ''
      })
      .filter((text) => text !== '')
      .join(' / '),
  )
}

/** Text centred at x. */
const over = (x: number, text: string): [number, string] => [x - text.length * 3, text]
/** Rows of figures that end at the given positions. */
const figures = (y: number, ends: number[], count = 4): OnPage[] =>
  Array.from({ length: count }, (_, n) =>
    row(
      y - 12 * n,
      [60, `Row ${'abcdefgh'.charAt(n)} of it`],
      ...ends.map((end, place): [number, string] => [-end, String(1000 + 100 * n + place)]),
    ),
  ).flat()

describe('column heads of a PDF table without drawn lines', () => {
  const THREE = [300, 400, 500]

  it('may wrap in one column, even if their first line has text in no other column', async () => {
    const page = [
      ...row(700, over(388, 'Gross area of')),
      ...row(689, over(288, 'Area'), over(388, 'stores closed'), over(488, 'Area')),
      ...figures(677, THREE),
    ]
    expect(headsOf((await tablesOf(page))[0])).toEqual(['', 'Area', 'Gross area of stores closed', 'Area'])
  })

  it('span all columns if they are an open date ("As of December 31,") with the years below', async () => {
    const page = [
      ...row(700, over(300, 'As of December 31,')),
      ...row(689, [60, '(MILLIONS)'], [-300, '2021'], [-400, '2020'], [-500, '2019']),
      ...figures(677, THREE),
    ]
    const date = 'As of December 31,'
    expect(headsOf((await tablesOf(page))[0])).toEqual([
      '(MILLIONS)',
      `${date} / 2021`,
      `${date} / 2020`,
      `${date} / 2019`,
    ])
  })

  it('span the columns of repeated sub-heads below them, even if they are not centred', async () => {
    const page = [
      ...row(700, over(260, 'Claims'), over(428, 'Debts')),
      ...row(684, [-250, '2022'], [-340, '2021'], [-420, '2022'], [-510, '2021']),
      ...figures(672, [250, 340, 420, 510]),
    ]
    expect(headsOf((await tablesOf(page))[0])).toEqual([
      '',
      'Claims / 2022',
      'Claims / 2021',
      'Debts / 2022',
      'Debts / 2021',
    ])
  })

  it('span the columns around their centre if groups differ in width; a column may have no group head', async () => {
    const page = [
      ...row(700, over(308, 'Worldwide'), over(458, 'Change')),
      ...row(684, [-220, 'Notes'], [-280, 'new'], [-330, 'mid'], [-380, 'old'], [-450, 'one'], [-500, 'two']),
      ...figures(672, [220, 280, 330, 380, 450, 500]),
    ]
    const heads = headsOf((await tablesOf(page))[0])
    expect(heads).toEqual([
      '',
      'Notes',
      ...['new', 'mid', 'old'].map((one) => `Worldwide / ${one}`),
      'Change / one',
      'Change / two',
    ])
  })

  it('may be a year above names of several lines, with a note on units at the left', async () => {
    const page = [
      ...row(700, over(385, '2021')),
      ...row(688, [60, '(rounded)']),
      ...row(676, over(288, 'Cost of'), over(388, 'Costs of'), over(488, 'Taxes')),
      ...row(665, over(288, 'sales'), over(388, 'research'), over(488, 'paid')),
      ...figures(653, THREE),
    ]
    expect(headsOf((await tablesOf(page))[0]).slice(1)).toEqual([
      '2021 / Cost of sales',
      '2021 / Costs of research',
      '2021 / Taxes paid',
    ])
  })

  it('may be periods, ranges of years, and names with a footnote mark', async () => {
    const periods = [
      ...row(700, [60, 'Item'], [-300, '2021'], [-400, '21/20'], [-500, '20/19']),
      ...figures(688, THREE),
    ]
    expect((await tablesOf(periods))[0]?.headerRows).toBe(1)
    const ranges = [
      ...row(700, [-300, 'Total'], [-400, '1-3'], [-500, 'After 3']),
      ...row(689, [60, 'Item'], [-300, '(1)'], [-400, 'years'], [-500, 'years']),
      ...figures(677, THREE),
    ]
    expect(headsOf((await tablesOf(ranges))[0])).toEqual(['Item', 'Total / (1)', '1-3 / years', 'After 3 / years'])
  })

  it('exclude a title that is further above than the row distance', async () => {
    const page = [
      ...row(722, over(400, 'sheet')),
      ...row(700, [60, 'Item'], [-300, 'one'], [-400, 'two'], [-500, 'six']),
      ...figures(688, THREE),
    ]
    expect(headsOf((await tablesOf(page))[0])).toEqual(['Item', 'one', 'two', 'six'])
  })

  it('include the name of the row heads that is set halfway between two head rows', async () => {
    const page = [
      ...row(700, over(338, 'Error rate')),
      line(270, 696, 410, 696),
      ...row(693, [60, 'Model']),
      ...row(686, [-300, 'dev'], [-400, 'test']),
      ...figures(674, [300, 400]),
    ]
    expect(headsOf((await tablesOf(page))[0])).toEqual(['Model', 'Error rate / dev', 'Error rate / test'])
  })
})

describe('row heads of a PDF table without drawn lines', () => {
  it('may be years, without any column heads', async () => {
    const page = ['2024', '2025 (1)', '2026', '2027-2030'].flatMap((year, n) =>
      row(700 - 12 * n, [60, year], [-400, `1,2${n}4`]),
    )
    const [table] = await tablesOf(page)
    expect(table).toMatchObject({ headerRows: 0, headColumns: 1 })
    expect(table?.rows[1]).toEqual(['2025 (1)', '1,214'])
  })

  it('include a year alone above a group of rows; years within rows are no column heads', async () => {
    const page = [
      ...row(700, [-300, '737'], [-400, '747'], [-500, 'Total']),
      ...row(688, [60, '2022']),
      ...figures(676, [300, 400, 500], 2),
      ...row(652, [60, '2021']),
      ...figures(640, [300, 400, 500], 2),
    ]
    const [table] = await tablesOf(page)
    expect(headsOf(table)).toEqual(['', '737', '747', 'Total'])
    expect(table?.rows.map(([head]) => head)).toEqual([
      '',
      '2022',
      'Row a of it',
      'Row b of it',
      '2021',
      'Row a of it',
      'Row b of it',
    ])
    const patents = [
      ...row(700, [60, 'Drug'], [-300, 'Basic year'], [-420, 'Last year']),
      ...['Aa', 'Bb', 'Cc'].flatMap((name, n) => row(688 - 12 * n, [60, name], [-300, `203${n}`], [-420, `204${n}`])),
      ...row(652, [60, 'Dd'], [-300, '11'], [-420, '12']),
    ]
    expect((await tablesOf(patents))[0]?.headerRows).toBe(1)
  })
})

describe('adjacent tables of a PDF', () => {
  it('stay two tables side by side, each with its row heads', async () => {
    const days = ['Day', 'Monday', 'Tuesday', 'Friday']
    const lines = ['Line', 'Red line', 'Blue line', 'Grey line']
    const page = days.flatMap((day, n) =>
      row(
        700 - 12 * n,
        [60, day],
        [-180, n === 0 ? 'Opens' : `0${n}.15`],
        [-240, n === 0 ? 'Closes' : `1${n}.40`],
        [340, lines[n] ?? ''],
        [-470, n === 0 ? 'Stops' : `1${n}`],
        [-530, n === 0 ? 'Riders' : `20${n}`],
      ),
    )
    const tables = await tablesOf(page)
    expect(tables.map(({ rows }) => rows[2])).toEqual([
      ['Tuesday', '02.15', '12.40'],
      ['Blue line', '12', '202'],
    ])
  })

  it('stay two tables, one below the other, if a sentence announces the second table', async () => {
    const page = [
      ...row(700, [60, 'Item'], [-300, 'Tons'], [-400, 'Tons']),
      ...figures(688, [300, 400], 3),
      ...row(640, [60, 'What was sold is shown in the following table:']),
      ...row(622, [60, 'Item'], [-300, 'Sums'], [-400, 'Sums']),
      ...figures(610, [300, 400], 3),
    ]
    expect((await tablesOf(page)).map(headsOf)).toEqual([
      ['Item', 'Tons', 'Tons'],
      ['Item', 'Sums', 'Sums'],
    ])
  })
})

describe('a PDF text run across a drawn vertical line of a table', () => {
  it('splits at the line into two cells', async () => {
    const grid = [
      ...[50, 170, 290].map((x) => line(x, 640, x, 712)),
      ...[712, 688, 664, 640].map((y) => line(50, y, 290, y)),
    ]
    const texts = [
      ...row(696, [60, 'Visits of all     Share']),
      ...row(672, [60, 'one'], [180, '2']),
      ...row(648, [60, 'two'], [180, '3']),
    ]
    const joined = [...row(696, [104, 'Visits all Share']), ...texts.slice(1)]
    expect((await tablesOf([...grid, ...joined]))[0]?.rows[0]).toEqual(['Visits all', 'Share'])
  })
})

describe('sentences in columns of a PDF', () => {
  it('form no table, even near the caption of a table', async () => {
    const lines = ['We asked each', 'of the people who', 'came to the gate', 'in the evening,', 'and of the rest']
    const page = [
      ...row(712, [60, 'Table 3 shows it']),
      ...lines.flatMap((text, n) =>
        row(
          700 - 12 * n,
          [60, text],
          [240, ['When they', 'had gone we', 'went to the', 'town and met', 'the others'][n] ?? ''],
        ),
      ),
    ]
    expect(await tablesOf(page)).toEqual([])
  })
})
