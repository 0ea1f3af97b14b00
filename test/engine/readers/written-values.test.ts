import { write } from '@e965/xlsx'
import { describe, expect, it } from 'vitest'
import { makeOdf, makeXlsx, relations, row } from './office.js'
import { makeZip, read } from './read.js'

describe('the values of a workbook', () => {
  it('keep all digits of long numbers, leading and trailing zeros as formatted, and texts that look like numbers', async () => {
    const cells = [
      ['A2', '<v>9007199254740993</v>', 0],
      ['A3', '<v>-12345678901234567890</v>', 0],
      ['A4', '<v>42</v>', 1],
      ['A5', '<v>1.5</v>', 2],
      ['A6', '<v>0.075</v>', 3],
    ] as const
    const rows = cells.map(
      ([name, value, style], index) =>
        `<row r="${index + 2}"><c r="${name}" s="${style}">${value}</c><c r="B${index + 2}" t="inlineStr"><is><t>0${index}.10</t></is></c></row>`,
    )
    const file = makeXlsx([{ name: 'Sheet1', rows: row(1, ['number', 'code']) + rows.join('') }], {
      formats: ['00000', '0.00', '0.0%'],
    })
    expect((await read('a.xlsx', file)).text.split('\n')).toEqual([
      'number | code',
      '9007199254740993 | 00.10',
      '-12345678901234567890 | 01.10',
      '00042 | 02.10',
      '1.50 | 03.10',
      '7.5% | 04.10',
    ])
  })

  it('show a month or year as it is shown, and a day in ISO form', async () => {
    const rows = row(1, ['day', 45107], 1) + row(2, ['month', 45107], 2) + row(3, ['year', 45107], 3)
    const file = makeXlsx([{ name: 'Sheet1', rows }], { formats: ['d.m.yyyy', 'mmm yyyy', 'yyyy'] })
    expect((await read('a.xlsx', file)).text.split('\n')).toEqual([
      'day | 2023-06-30',
      'month | Jun 2023',
      'year | 2023',
    ])
  })

  it('come from parts of any name, those of binary workbooks, too', async () => {
    const main = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml'
    const sheet = `<worksheet><sheetData>${row(1, ['Item', 'Count'])}<row r="2"><c r="A2" t="s"><v>0</v></c><c r="B2"><v>5</v></c></row></sheetData></worksheet>`
    const file = makeZip([
      {
        name: '[Content_Types].xml',
        content: `<Types><Override PartName="/Book/Main.xml" ContentType="${main}"/></Types>`,
      },
      { name: '_rels/.rels', content: relations([{ id: 'r', kind: 'officeDocument', target: 'book/main.xml' }]) },
      {
        name: 'Book/Main.xml',
        content:
          '<x:workbook xmlns:x="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><x:sheets><x:sheet name="Sales" r:id="one"/></x:sheets></x:workbook>',
      },
      {
        name: 'Book/_rels/Main.xml.rels',
        content: relations([
          { id: 'one', kind: 'worksheet', target: 'cells.xml' },
          { id: 'two', kind: 'sharedStrings', target: 'words.xml' },
        ]),
      },
      { name: 'Book/cells.xml', content: sheet },
      { name: 'Book/words.xml', content: '<sst><si><t>Nuts</t></si></sst>' },
    ])
    expect((await read('a.xlsx', file)).text).toBe('Sales\n\nItem | Count\nNuts | 5')
    const book = {
      SheetNames: ['Sales'],
      Sheets: { Sales: { '!ref': 'A1:B1', A1: { t: 's', v: 'Nuts' }, B1: { t: 'n', v: 5 } } },
    } as const
    expect(
      (await read('a.xlsb', write({ ...book, SheetNames: ['Sales'] }, { type: 'buffer', bookType: 'xlsb' }))).text,
    ).toContain('Nuts')
  })

  it('form separate tables where two tables with names are next to each other at different heights', async () => {
    const left = [
      ['a', 'b'],
      ['1', '2'],
      ['3', '4'],
      ['5', '6'],
    ]
    const rows = left.map(([one = '', two = ''], index) =>
      row(index + 1, [one, two, undefined, ...(index === 0 ? [] : index === 1 ? ['x', 'y'] : ['8', '9'])]),
    )
    const { elements } = await read('a.xlsx', makeXlsx([{ name: 'Sheet1', rows: rows.join('') }]))
    expect(elements.map(({ text }) => text)).toEqual(['a | b\n1 | 2\n3 | 4\n5 | 6', 'x | y\n8 | 9\n8 | 9'])
    const spaced = row(1, ['a', undefined, 'x', 'y']) + row(2, ['1', undefined, '8', '9'])
    expect((await read('b.xlsx', makeXlsx([{ name: 'Sheet1', rows: spaced }]))).elements).toHaveLength(1)
  })
})

describe('the values of an OpenDocument sheet and of CSV', () => {
  it('remain as they are shown', async () => {
    const cell = (shown: string, value: string) =>
      `<table:table-cell office:value-type="float" office:value="${value}"><text:p>${shown}</text:p></table:table-cell>`
    const body = `<office:spreadsheet><table:table table:name="Sheet1"><table:table-row>${cell('00042', '42')}${cell('1.50', '1.5')}${cell('7.5 %', '0.075')}${cell('9007199254740993', '9.007E15')}</table:table-row></table:table></office:spreadsheet>`
    expect((await read('a.ods', makeOdf('spreadsheet', body))).text).toContain(
      '00042 | 1.50 | 7.5 % | 9007199254740993',
    )
    expect((await read('a.csv', 'id,price\n00042,1.50\n9007199254740993,"1,000.00"\n')).text).toBe(
      'id | price\n00042 | 1.50\n9007199254740993 | 1,000.00',
    )
  })

  it('have the separator that the first line of a CSV file states, and not that line', async () => {
    for (const first of ['sep=;\r\n', '\ufeffSEP=;\n', '"sep=;"\n', 'sep=;,,\n']) {
      const document = await read('a.csv', `${first}Name;City, country\nAda;Bonn, Germany\n`)
      expect([document.text, document.metadata.delimiter]).toEqual(['Name | City, country\nAda | Bonn, Germany', ';'])
    }
    expect((await read('a.csv', 'sep=|\na,1|b\nc,2|d\n')).text).toBe('a,1 | b\nc,2 | d')
    expect((await read('a.csv', 'sep=a,b\nc,d\n')).text).toContain('sep=a | b')
  })
})
