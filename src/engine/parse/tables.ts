import type { Block } from './parsed.js'

/** Longer tables become several elements, each with the header row, so that no element is unwieldy. */
const ROWS_PER_ELEMENT = 500

/**
 * Table elements from rows of cells. Their text is one line per row, cells parted by ` | `.
 *
 * `metadata`: `headerRows` (0 or 1), `rowCount`, `columnCount`; for a long table in parts also `part` and `parts`.
 *
 * @param withHeader whether the first row names the columns
 */
export function tableBlocks(rows: string[][], withHeader: boolean, extra: Record<string, unknown> = {}): Block[] {
  const lines = rows.map(rowText)
  const columnCount = rows.reduce((most, row) => Math.max(most, row.length), 0)
  const header = withHeader && rows.length > 1 ? lines[0] : undefined
  const body = header === undefined ? lines : lines.slice(1)
  const parts = Math.max(1, Math.ceil(body.length / ROWS_PER_ELEMENT))
  const blocks: Block[] = []
  for (let part = 0; part < parts; part++) {
    const slice = body.slice(part * ROWS_PER_ELEMENT, (part + 1) * ROWS_PER_ELEMENT)
    const text = (header === undefined ? slice : [header, ...slice]).join('\n')
    if (text.trim() === '') continue
    blocks.push({
      type: 'table',
      text,
      metadata: {
        headerRows: header === undefined ? 0 : 1,
        rowCount: slice.length,
        columnCount,
        ...(parts > 1 ? { part: part + 1, parts } : {}),
        ...extra,
      },
    })
  }
  return blocks
}

function rowText(row: string[]): string {
  let last = row.length
  while (last > 0 && row[last - 1]?.trim() === '') last--
  return row
    .slice(0, last)
    .map((cell) => (/\s\s|[^\S ]/.test(cell) ? cell.replace(/\s+/g, ' ').trim() : cell.trim()))
    .join(' | ')
}

/** Whether the first row names the columns: all of it words, over at least one row that has a number, or two rows. */
export function looksLikeHeader(rows: string[][]): boolean {
  const [first, ...rest] = rows
  if (first === undefined || rest.length === 0) return false
  const named = first.filter((cell) => cell.trim() !== '')
  if (named.length < 2 || named.length < first.length / 2) return false
  return named.every((cell) => !isNumeric(cell) && cell.length <= 80)
}

/** Whether a cell holds a figure: digits with signs, separators and a currency. */
export function isNumeric(cell: string): boolean {
  return /^[\s$€£¥(+-]*\d[\d\s.,:/-]*[)%\s]*$/.test(cell.slice(0, 40))
}

/** Rows without the columns that are empty everywhere, and with lone `$`, `(`, `)`, `%` joined to their figures. */
export function tidyRows(rows: string[][]): string[][] {
  const used: boolean[] = []
  for (const row of rows) {
    for (const [column, cell] of row.entries()) if (cell !== '') used[column] = true
  }
  const tidy: string[][] = []
  for (const row of rows) {
    const cells: string[] = []
    let prefix = ''
    for (const [column, cell] of row.entries()) {
      if (used[column] !== true) continue
      if (/^[$€£¥(]+$/.test(cell)) {
        prefix += cell
        continue
      }
      const last = cells[cells.length - 1]
      if (/^[)%]+$/.test(cell) && last !== undefined && last !== '') cells[cells.length - 1] = last + cell
      else {
        cells.push(cell === '' ? '' : prefix + cell)
        if (cell !== '') prefix = ''
      }
    }
    if (prefix !== '') cells.push(prefix)
    if (cells.some((cell) => cell !== '')) tidy.push(cells)
  }
  return tidy
}
