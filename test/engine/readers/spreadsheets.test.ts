import { utils, write } from '@e965/xlsx'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { installCodePages } from '../../../src/engine/readers/office/spreadsheet-codepages.js'
import { makeXlsx, row } from './office.js'
import { failureOf, read, readFixture } from './read.js'

const seen = (document: Awaited<ReturnType<typeof read>>): unknown[] =>
  document.elements.map((element) => [element.type, element.text])

describe('workbooks', () => {
  it('give sheets as sections and rows as tables below their titles', async () => {
    const book = await read(
      'book of sales.xlsx',
      makeXlsx([
        {
          name: 'Sales',
          rows: [row(1, ['Sales of 2023']), row(2, ['Item', 'Count']), row(3, ['Nuts', 5]), row(5, ['A note'])].join(
            '',
          ),
        },
        { name: 'Sheet2', rows: row(3, [undefined, 'x', undefined, 'y']) + row(4, [undefined, 'z', undefined, 'w']) },
        { name: 'Empty', rows: '' },
      ]),
    )
    expect([book.title, book.contentType, book.parser, book.metadata.sheetCount]).toEqual([
      'book of sales',
      'structured',
      'native-structured',
      3,
    ])
    expect(seen(book)).toEqual([
      ['heading', 'Sales'],
      ['paragraph', 'Sales of 2023'],
      ['table', 'Item | Count\nNuts | 5'],
      ['paragraph', 'A note'],
      ['table', 'x | y\nz | w'],
    ])
    expect(book.elements[2]?.metadata).toMatchObject({ headerRows: 1, rowCount: 1, columnCount: 2, sheet: 'Sales' })
    expect(book.outline.map((node) => [node.title, node.tocSource])).toEqual([
      ['Sales', 'sheet'],
      ['Sheet2', 'sheet'],
    ])
  })

  it('keep column names with a table of numbers below an empty row, but separate two tables of text', async () => {
    const rows =
      row(1, ['Zone', 'Sales', 'Profit']) + row(3, ['North', 5, 2]) + row(6, ['a', 'b', 'c']) + row(8, ['d', 'e', 'f'])
    const book = await read('names.xlsx', makeXlsx([{ name: 'Sheet1', rows }]))
    expect(seen(book)).toEqual([
      ['table', 'Zone | Sales | Profit\nNorth | 5 | 2'],
      ['table', 'a | b | c'],
      ['table', 'd | e | f'],
    ])
  })

  it('show formatted values, with dates in ISO form', async () => {
    const cells = [
      ['yyyy\\-mm\\-dd', 45107, '2023-06-30'],
      ['d/m/yy h:mm', 45107.5, '2023-06-30T12:00:00'],
      ['h:mm', 0.75, '18:00:00'],
      ['[h]:mm', 1.5, '36:00'],
      ['0%', 0.125, '13%'],
      ['#,##0.00', 1234.5, '1,234.50'],
      ['General', 0.1 + 0.2, '0.3'],
    ] as const
    const rows = cells.map(([, value], index) => row(index + 1, ['value', value], index + 1)).join('')
    const formats = cells.map(([format]) => format)
    const book = await read('values.xlsx', makeXlsx([{ name: 'Sheet1', rows }], { formats }))
    expect(book.text.split('\n')).toEqual(cells.map(([, , text]) => `value | ${text}`))
    const old = makeXlsx([{ name: 'Sheet1', rows: row(1, ['day', 0], 1) + row(2, ['day', 366], 1) }], {
      formats: ['yyyy-mm-dd'],
      date1904: true,
    })
    expect((await read('mac.xlsx', old)).text).toContain('day | 1905-01-01')
  })

  it('give the last values of formulas, errors as shown, and vertically merged cells in each of their rows', async () => {
    const formula =
      '<row r="1"><c r="A1"><f>1+1</f><v>2</v></c><c r="B1" t="e"><f>1/0</f><v>#DIV/0!</v></c><c r="C1" t="b"><v>1</v></c></row>'
    expect((await read('f.xlsx', makeXlsx([{ name: 'Sheet1', rows: formula }]))).text).toBe('2 | #DIV/0! | TRUE')
    const rows =
      row(1, ['Zone', 'City']) + row(2, ['North', 'Oslo']) + row(3, [undefined, 'Bergen']) + row(4, ['South', 'Rome'])
    const merged = await read('m.xlsx', makeXlsx([{ name: 'Sheet1', rows, merges: ['A2:A3', 'A4:A1048576'] }]))
    expect(merged.text).toBe('Zone | City\nNorth | Oslo\nNorth | Bergen\nSouth | Rome')
  })

  it('may be written by Excel 95 or 97 or as XLSB, with the code page of the file', async () => {
    installCodePages()
    const workbook = utils.book_new()
    const sheet = utils.aoa_to_sheet([
      ['Gr__e', 'Tag'],
      [5, 45107],
    ])
    const day = sheet.B2
    if (day !== undefined) day.z = 'yyyy-mm-dd'
    utils.book_append_sheet(workbook, sheet, 'Zahlen')
    for (const bookType of ['biff8', 'biff5', 'xlsb'] as const) {
      const written: Buffer = write(workbook, { type: 'buffer', bookType })
      // Texts of Excel 95 are in the code page of the file.
      const bytes = Buffer.from(written.toString('latin1').replaceAll('Gr__e', 'Gr\xf6\xdfe'), 'latin1')
      const document = await read(bookType === 'xlsb' ? 'old.xlsb' : 'old.xls', bookType === 'biff5' ? bytes : written)
      const name = bookType === 'biff5' ? 'Größe' : 'Gr__e'
      expect(document.text).toBe(`Zahlen\n\n${name} | Tag\n5 | 2023-06-30`)
    }
  })

  it('give the sheet names and cells of a sample workbook', async () => {
    const cups = await readFixture('stanley-cups.xlsx')
    expect(cups.outline.map((node) => node.title)).toEqual(['Stanley Cups', 'Stanley Cups Since 67'])
    expect(cups.text).toContain('Maple Leafs | TOR | 13')
  })
})

describe('the reading of hostile workbooks', () => {
  it('gives less than 1,000 characters for huge dimensions with few cells', async () => {
    const far = '<row r="1048576"><c r="XFD1048576"><v>7</v></c></row>'
    const beyond = '<row r="4294967294"><c r="ZZZZZZ4294967294"><v>8</v></c></row>'
    const bytes = makeXlsx([
      {
        name: 'Sheet1',
        dimension: 'A1:XFD1048576',
        rows: row(1, ['first', 1]) + far + beyond,
        merges: ['A1:XFD1048576'],
      },
    ])
    const book = await read('sparse.xlsx', bytes)
    expect(book.text).toContain('first | 1')
    expect(book.text).toContain('7')
    expect(book.text.length).toBeLessThan(1000)
  })

  it('gives short lines for cells scattered over a wide sheet', async () => {
    const name = (column: number): string =>
      column < 26 ? String.fromCharCode(65 + column) : name(Math.floor(column / 26) - 1) + name(column % 26)
    const rows = Array.from(
      { length: 3000 },
      (_, index) =>
        `<row r="${index + 1}"><c r="${name(index)}${index + 1}"><v>1</v></c><c r="${name(index + 1)}${index + 1}"><v>2</v></c></row>`,
    )
    const book = await read('diagonal.xlsx', makeXlsx([{ name: 'Sheet1', rows: rows.join('') }]))
    expect(book.text.length).toBeLessThan(3000 * 10)
  })

  it('fails for too many cells, a repeated sheet, and one long text in many cells', async () => {
    const rows = Array.from({ length: 100 }, (_, index) => row(index + 1, [1, 2, 3])).join('')
    const book = makeXlsx([{ name: 'Sheet1', rows }])
    expect(await failureOf(read('many.xlsx', book, { limits: { maxCells: 299 } }))).toEqual({
      code: 'limit-exceeded',
      message: 'many.xlsx has more cells than the limit of 299',
    })
    expect((await read('fits.xlsx', book, { limits: { maxCells: 300 } })).metadata.sheetCount).toBe(1)
    const list = Array.from(
      { length: 50 },
      (_, index) => `<sheet name="s${index}" sheetId="${index}" r:id="rId1"/>`,
    ).join('')
    expect((await failureOf(read('often.xlsx', makeXlsx([{ name: 's', rows }], { list })))).message).toBe(
      'often.xlsx is not a readable workbook: it lists one sheet more than once',
    )
    const cell = '<c t="s"><v>0</v></c>'.repeat(30)
    const shared = Array.from({ length: 100 }, (_, index) => `<row r="${index + 1}">${cell}</row>`).join('')
    const long = makeXlsx([{ name: 'Sheet1', rows: shared }], { strings: ['x'.repeat(100_000)] })
    expect((await failureOf(read('long.xlsx', long))).code).toBe('limit-exceeded')
  })

  it('fails for a document type declaration, and ignores external links', async () => {
    const laughs = makeXlsx([{ name: 'Sheet1', rows: row(1, ['a', 'b']) }], {
      extra: [{ name: 'xl/metadata.xml', content: '<!DOCTYPE x [<!ENTITY a "aaaa">]><metadata/>' }],
    })
    expect((await failureOf(read('dtd.xlsx', laughs))).message).toContain('declares a document type')
    const linked = makeXlsx([{ name: 'Sheet1', rows: row(1, ['a', 'b']) }], {
      extra: [{ name: 'xl/externalLinks/externalLink1.xml', content: '<externalLink><!DOCTYPE never read' }],
    })
    expect((await read('linked.xlsx', linked)).text).toBe('a | b')
  })

  it('gives a document or a read error for random markup', async () => {
    const piece = fc.constantFrom(
      ...'<row r="1">|</row>|<c r="A1">|<c r="B" t="s">|<c t="inlineStr">|</c>|<v>|</v>|1|<is>|<t>|x|</t></is>|<f>|</f>|<row r="-5"/>|<c r="A0"><v>1</v></c>|<c r="A1" t="s"><v>99999</v></c>|<c r="A1" s="77"><v>1e999</v></c>|<c t="d"><v>nonsense</v></c>|<v/>'.split(
        '|',
      ),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 30 }), async (pieces) => {
        const outcome = await read('any.xlsx', makeXlsx([{ name: 'Sheet1', rows: pieces.join('') }])).then(
          (document) => document.mediaType,
          (error: unknown) => (error instanceof Error ? error.name : 'other'),
        )
        expect(['ReadError', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet']).toContain(outcome)
      }),
      { numRuns: 150 },
    )
  })
})
