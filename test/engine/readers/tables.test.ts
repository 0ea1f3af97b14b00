import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cleanText } from '../../../src/engine/readers/elements.js'
import { toTableCells } from '../../../src/engine/readers/tables/cells.js'
import { formatTable } from '../../../src/engine/readers/tables/formats.js'
import { buildTableBlocks } from '../../../src/engine/readers/tables.js'
import { read } from './read.js'

const cell = fc
  .string({ unit: fc.constantFrom('a', 'b', '|', ' ', '1', '"', ',', '='), maxLength: 5 })
  .map((text) => text.trim().replace(/\s+/g, ' '))

describe('a table element', () => {
  it('gives back its cells from its text, even if they contain bars', () => {
    const rows = fc
      .integer({ min: 1, max: 5 })
      .chain((width) =>
        fc.array(fc.array(cell, { minLength: width, maxLength: width }), { minLength: 1, maxLength: 6 }),
      )
    fc.assert(
      fc.property(rows, (given) => {
        const [block] = buildTableBlocks(given, false)
        if (block === undefined) return
        const parsed = toTableCells(cleanText(block.text), block.metadata ?? {}).rows
        const isFilled = (row: string[]): boolean => row.some((one) => one !== '')
        expect(parsed.filter(isFilled)).toEqual(given.filter(isFilled))
      }),
    )
  })

  it('exports as CSV with the same cells, and leaves formulas unchanged', () => {
    const rows = [
      ['a', '=1+1', 'x "y"'],
      ['b,c', '@d', '- 4'],
    ]
    const csv = formatTable({ rows, headerRows: 0, headColumns: 0, spans: [] }, 'csv')
    expect(parse(csv)).toEqual(rows)
    expect(csv).toContain('=1+1')
  })

  it('exports as Markdown with its two head rows joined into one', () => {
    const rows = [
      ['', 'Years', ''],
      ['', '2023', '2022'],
      ['a|b', '1', '2'],
    ]
    const spans = [{ row: 0, column: 1, rows: 1, columns: 2 }]
    const text = formatTable({ rows, headerRows: 2, headColumns: 1, spans, caption: 'Sales' }, 'md')
    expect(text).toBe('Sales\n\n|  | Years 2023 | Years 2022 |\n| --- | --- | --- |\n| a\\|b | 1 | 2 |\n')
  })

  it('keeps cells of HTML below their heads if cells span several columns, as in filings', async () => {
    const html = `<table>
      <tr><td colspan="3"></td><td colspan="7">Year ended May 31,</td></tr>
      <tr><td colspan="3">in millions</td><td colspan="3">2023</td><td></td><td colspan="3">2022</td></tr>
      <tr><td colspan="3">Sales</td><td>$</td><td>5</td><td></td><td></td><td>$</td><td>4</td><td></td></tr>
      <tr><td colspan="3">Loss</td><td></td><td>(7</td><td>)</td><td></td><td></td><td>(6</td><td>)</td></tr></table>`
    const [table] = (await read('a.html', `<p>Figures.</p>${html}`)).elements.filter(({ type }) => type === 'table')
    const { rows, headerRows, spans } = toTableCells(table?.text ?? '', table?.metadata ?? {})
    expect(rows).toEqual([
      ['', 'Year ended May 31,', ''],
      ['in millions', '2023', '2022'],
      ['Sales', '$5', '$4'],
      ['Loss', '(7)', '(6)'],
    ])
    expect(headerRows).toBe(2)
    expect(spans).toEqual([{ row: 0, column: 1, rows: 1, columns: 2 }])
  })

  it('repeats caption, heads and section head in each of its passages', async () => {
    const rows = Array.from({ length: 200 }, (_, n) =>
      n === 20
        ? '<tr><td>Costs of many kinds:</td></tr>'
        : `<tr><td>item number ${n}</td><td>${n}</td><td>${n + 1}</td></tr>`,
    )
    const heads = '<tr><td></td><td colspan="2">Years</td></tr><tr><td></td><td>2023</td><td>2022</td></tr>'
    const { nodes } = await read('a.html', `<p>Figures.</p><table>${heads}${rows.join('')}</table>`)
    const later = nodes.filter(({ text }) => text.includes('item number 150 |') || text.includes('item number 190 |'))
    expect(later.length).toBeGreaterThan(0)
    for (const { text } of later) expect(text).toMatch(/^(?:\| | \| )Years\n \| 2023 \| 2022\nCosts of many kinds:\n/)
  })
})
