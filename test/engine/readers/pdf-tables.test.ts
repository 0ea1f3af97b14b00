import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findTables, mayContainTables } from '../../../src/engine/readers/pdf/table-find.js'
import { NO_DRAWINGS } from '../../../src/engine/readers/pdf/table-rules.js'
import { joinTableParts, toTableCells } from '../../../src/engine/readers/tables/cells.js'
import type { CompiledDocument } from '../../../src/engine/store/compiled.js'
import { read } from './read.js'
import { line, type OnPage, pdfOfPages, row } from './table-pdf.js'

const prose = (x: number, from: number, count: number): OnPage[] =>
  Array.from({ length: count }, (_, n) => ({
    at: [x, from - 12 * n],
    text: `the quick brown fox jumps over a dog ${n}`.slice(0, 40),
    size: 10,
  }))

const statement = (y: number, rows: [string, string, string][]): OnPage[] => [
  ...row(y, [60, 'Statement of income']),
  ...row(y - 30, [395, 'Year ended May 31,']),
  ...row(y - 42, [-440, '2023'], [-540, '2022']),
  ...rows.flatMap(([name, a, b], n) =>
    row(
      y - 54 - 12 * n,
      [60, name],
      ...(a === ''
        ? []
        : ([
            [-440, a],
            [-540, b],
          ] as [number, string][])),
    ),
  ),
]
const INCOME: [string, string, string][] = [
  ['Revenue:', '', ''],
  ['  Products', '$ 1,200', '$ 1,100'],
  ['  Services', '300', '(20)'],
  ['Total', '1,500', '1,080'],
]

const tablesIn = ({ elements }: CompiledDocument) =>
  elements.flatMap(({ type, text, metadata }) => (type === 'table' ? [toTableCells(text ?? '', metadata)] : []))

describe('a PDF table without drawn lines', () => {
  it('gets column head rows, row heads, spans and a caption', async () => {
    const document = await read('a.pdf', pdfOfPages([statement(700, INCOME)]))
    const [table, ...others] = tablesIn(document)
    expect(others).toEqual([])
    expect(table?.rows).toEqual([
      ['', 'Year ended May 31,', ''],
      ['', '2023', '2022'],
      ['Revenue:', '', ''],
      ['Products', '$ 1,200', '$ 1,100'],
      ['Services', '300', '(20)'],
      ['Total', '1,500', '1,080'],
    ])
    expect(table).toMatchObject({ headerRows: 2, headColumns: 1, caption: 'Statement of income' })
    expect(table?.spans).toEqual([{ row: 0, column: 1, rows: 1, columns: 2 }])
  })

  it('becomes an item with page and box, and its text is in no paragraph', async () => {
    const document = await read('a.pdf', pdfOfPages([[...prose(60, 760, 2), ...statement(700, INCOME)]]))
    const [item] = document.items
    expect(item).toMatchObject({ modality: 'table', pageNumber: 1, caption: 'Statement of income' })
    const box = item?.boundingBox ?? { x: 0, y: 0, width: 0, height: 0 }
    expect(box.x).toBeCloseTo(60, 0)
    expect(box.x + box.width).toBeCloseTo(540, 0)
    expect(box.y).toBeGreaterThan(792 - 690)
    expect(box.y + box.height).toBeLessThan(792 - 590)
    expect(document.text.split('1,080')).toHaveLength(2)
    const types = document.elements.filter(({ text }) => text?.includes('1,080')).map(({ type }) => type)
    expect(types).toEqual(['table'])
  })

  it('keeps its position between the paragraphs around it', async () => {
    const page = [
      ...row(740, [60, 'This stands before it.']),
      ...statement(700, INCOME),
      ...row(500, [60, 'This stands behind it.']),
    ]
    const { text } = await read('a.pdf', pdfOfPages([page]))
    expect(text.indexOf('before it')).toBeLessThan(text.indexOf('1,500'))
    expect(text.indexOf('1,500')).toBeLessThan(text.indexOf('behind it'))
  })

  it('may be in one of two text columns of a page', async () => {
    const cells = ([a, b, c]: string[], y: number): OnPage[] => row(y, [330, a ?? ''], [-460, b ?? ''], [-540, c ?? ''])
    const page = [
      ...prose(40, 740, 20),
      ...prose(330, 740, 6),
      ...cells(['City', 'Area', 'People'], 640),
      ...cells(['Bergen', '465', '291'], 628),
      ...cells(['Oslo', '454', '709'], 616),
      ...cells(['Trondheim', '342', '212'], 604),
      ...prose(330, 570, 6),
    ]
    const [table] = tablesIn(await read('a.pdf', pdfOfPages([page])))
    expect(table?.rows).toEqual([
      ['City', 'Area', 'People'],
      ['Bergen', '465', '291'],
      ['Oslo', '454', '709'],
      ['Trondheim', '342', '212'],
    ])
  })

  it('continues across a page break: parts keep their pages, share their heads and form one table', async () => {
    const more = [
      ...row(700, [60, 'Interest'], [-440, '11'], [-540, '12']),
      ...row(688, [60, 'Tax'], [-440, '21'], [-540, '22']),
      ...row(676, [60, 'Other'], [-440, '31'], [-540, '32']),
    ]
    const document = await read('a.pdf', pdfOfPages([statement(700, INCOME), more]))
    const tables = document.items.filter(({ modality }) => modality === 'table')
    expect(tables.map(({ pageNumber }) => pageNumber)).toEqual([1, 2])
    const parts = tablesIn(document)
    expect(parts[1]?.rows.slice(0, 3)).toEqual([
      ['', 'Year ended May 31,', ''],
      ['', '2023', '2022'],
      ['Interest', '11', '12'],
    ])
    expect(joinTableParts(parts)?.rows.map(([name]) => name)).toEqual([
      '',
      '',
      'Revenue:',
      'Products',
      'Services',
      'Total',
      'Interest',
      'Tax',
      'Other',
    ])
  })
})

describe('a PDF table with drawn lines', () => {
  const xs = [60, 180, 360, 540]
  const grid = (ys: number[]): OnPage[] => [
    ...ys.map((y) => line(60, y, 540, y)),
    ...xs.map((x) => line(x, ys[0] ?? 0, x, ys.at(-1) ?? 0)),
  ]

  it('gets cells with several text lines, and separates adjacent words at a drawn line', async () => {
    const page = [
      ...grid([700, 680, 640, 600]),
      ...row(686, [64, 'Part'], [184, 'Use'], [364, 'Note']),
      ...row(668, [64, 'Bolt of steel here'], [184, 'holds the cover on']),
      ...row(656, [184, 'its frame'], [364, 'two of them']),
      ...row(620, [64, 'Nut'], [184, 'for the bolt'], [364, 'one']),
    ]
    const [table] = tablesIn(await read('a.pdf', pdfOfPages([page])))
    expect(table?.rows).toEqual([
      ['Part', 'Use', 'Note'],
      ['Bolt of steel here', 'holds the cover on its frame', 'two of them'],
      ['Nut', 'for the bolt', 'one'],
    ])
    expect(table?.headerRows).toBe(1)
  })

  it('gets a cell across several columns where no drawn line divides the cell', async () => {
    const page = [
      ...[700, 680, 660, 640, 620].map((y) => line(60, y, 540, y)),
      line(60, 700, 60, 620),
      line(180, 700, 180, 620),
      line(360, 680, 360, 620),
      line(540, 700, 540, 620),
      ...row(686, [64, 'Part'], [300, 'Size in mm']),
      ...row(666, [184, 'width'], [364, 'height']),
      ...row(646, [64, 'Bolt'], [184, '4'], [364, '20']),
      ...row(626, [64, 'Nut'], [184, '4'], [364, '3']),
    ]
    const [table] = tablesIn(await read('a.pdf', pdfOfPages([page])))
    expect(table?.rows[0]).toEqual(['Part', 'Size in mm', ''])
    expect(table?.spans).toContainEqual({ row: 0, column: 1, rows: 1, columns: 2 })
    expect(table?.headerRows).toBe(2)
  })
})

describe('the exclusion of PDF texts that only look like a table', () => {
  const none = async (page: OnPage[]): Promise<void> => {
    expect(tablesIn(await read('a.pdf', pdfOfPages([page])))).toEqual([])
  }

  it('finds no table in two columns of prose', () => none([...prose(40, 740, 30), ...prose(330, 740, 30)]))

  it('finds no table in a table of contents', () =>
    none(
      Array.from({ length: 12 }, (_, n) =>
        row(700 - 14 * n, [60, `Chapter of things ${n}`], [-540, String(3 + 7 * n)]),
      ).flat(),
    ))

  it('finds no table in a list of references', () =>
    none(
      Array.from({ length: 9 }, (_, n) =>
        row(700 - 14 * n, [60, `[${n + 1}]`], [100, 'A. Writer and B. Other. On the naming of things.']),
      ).flat(),
    ))

  it('finds no table in numbered equations', () =>
    none([
      ...row(700, [200, 'a = b + c'], [520, '(1)']),
      ...row(670, [200, 'd = e * f'], [520, '(2)']),
      ...row(640, [200, 'g = h'], [520, '(3)']),
    ]))

  it('finds no table in two addresses side by side', () =>
    none([
      ...row(700, [60, 'Ada Example'], [320, 'Bob Example']),
      ...row(688, [60, 'Long Street'], [320, 'Short Street']),
      ...row(676, [60, 'Bergen'], [320, 'Oslo']),
    ]))
})

describe('the search for tables in a PDF', () => {
  const run = (str: string, x: number, y: number) => ({
    str,
    transform: [10, 0, 0, 10, x, y],
    width: str.length * 5,
    height: 10,
  })

  it('assigns every number to its original column and row', () => {
    const count = fc.integer({ min: 2, max: 7 })
    fc.assert(
      fc.property(
        count,
        fc.integer({ min: 4, max: 20 }),
        fc.array(fc.integer({ min: 1, max: 99_999 }), { minLength: 140, maxLength: 140 }),
        (columns, rows, figures) => {
          const expected = Array.from({ length: rows }, (_, r) => [
            `item ${String.fromCharCode(97 + r)}`,
            ...Array.from({ length: columns }, (__, c) => (figures[r * 7 + c] ?? 1).toLocaleString('en-US')),
          ])
          const runs = expected.flatMap((cells, r) =>
            cells.map((text, c) => run(text, c === 0 ? 40 : 140 + c * 60 - text.length * 5, 700 - r * 12)),
          )
          expect(findTables(runs, NO_DRAWINGS).map((table) => table.rows)).toEqual([expected])
        },
      ),
      { numRuns: 60 },
    )
  })

  it('ends for 100,000 words on one page, far apart or at one position', () => {
    const many = (place: (n: number) => [number, number]) =>
      Array.from({ length: 100_000 }, (_, n) => run(`${n}`, ...place(n)))
    for (const place of [
      (n: number): [number, number] => [(n % 300) * 40, Math.floor(n / 300) * 12],
      (): [number, number] => [10, 10],
      (n: number): [number, number] => [n * 1e9, -n * 1e9],
      (n: number): [number, number] => [n, 5],
    ]) {
      const runs = many(place)
      expect(mayContainTables(runs)).toBe(false)
      expect(findTables(runs.slice(0, 20_000), NO_DRAWINGS).length).toBeLessThan(1000)
    }
  })

  it('ignores text at positions that are not numbers', () => {
    const broken = ['a', '1', '2'].map((str) => ({
      str,
      transform: [10, 0, 0, 10, Number.NaN, 5],
      width: 5,
      height: 5,
    }))
    expect(findTables(broken, NO_DRAWINGS)).toEqual([])
  })
})
