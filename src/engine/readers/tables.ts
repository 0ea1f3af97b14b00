import type { Block } from './parsed.js'
import { type CellSpan, formatRow, getAmbiguousRows } from './tables/cells.js'
import { isNumeric } from './tables/figures.js'
import { tidyGrid } from './tables/grid.js'
import type { HeaderCounts } from './tables/heads.js'

/** Longer tables become several elements, each with the header rows, so that no element is unwieldy. */
const ROWS_PER_ELEMENT = 500

/**
 * Builds table elements from rows of cells. Their text is one line per row, with cells separated by ` | `.
 *
 * `metadata`: `headerRows` and `headColumns` count the rows and columns that name the others, `rowCount` the rows
 * without headers, and `columnCount`; `spans` of cells over several rows or columns; `part` and `parts` for a long
 * table; `cells` where the text is ambiguous because a cell contains a bar.
 *
 * @param heads number of rows and columns that name the others; `true` for one row
 */
export function buildTableBlocks(
  rows: string[][],
  heads: HeaderCounts | boolean,
  extra: Record<string, unknown> = {},
  spans: readonly CellSpan[] = [],
): Block[] {
  const requestedHeaderRows = typeof heads === 'boolean' ? Number(heads) : heads.headerRows
  const headerRows = requestedHeaderRows < rows.length ? requestedHeaderRows : 0
  const headColumns = typeof heads === 'boolean' ? 0 : heads.headColumns
  const columnCount = rows.reduce((max, row) => Math.max(max, row.length), 0)
  const header = rows.slice(0, headerRows)
  const bodyCount = rows.length - headerRows
  const parts = Math.max(1, Math.ceil(bodyCount / ROWS_PER_ELEMENT))
  const blocks: Block[] = []
  for (let part = 0; part < parts; part++) {
    const first = headerRows + part * ROWS_PER_ELEMENT
    const slice = rows.slice(first, first + ROWS_PER_ELEMENT)
    const partRows = [...header, ...slice]
    const text = partRows.map(formatRow).join('\n')
    if (text.trim() === '') continue
    const cells = getAmbiguousRows(partRows)
    const partSpans = sliceSpans(spans, headerRows, first, slice.length)
    blocks.push({
      type: 'table',
      text,
      metadata: {
        headerRows,
        ...(headColumns > 0 ? { headColumns } : {}),
        rowCount: slice.length,
        columnCount,
        ...(partSpans.length > 0 ? { spans: partSpans } : {}),
        ...(parts > 1 ? { part: part + 1, parts } : {}),
        ...(cells === undefined ? {} : { cells }),
        ...extra,
      },
    })
  }
  return blocks
}

/** The spans of the header and of some rows below it, relative to the first row of their part. */
function sliceSpans(spans: readonly CellSpan[], headerRows: number, first: number, count: number): CellSpan[] {
  return spans.flatMap((span) => {
    if (span.row < headerRows) return [span]
    if (span.row < first || span.row >= first + count) return []
    return [{ ...span, row: span.row - first + headerRows, rows: Math.min(span.rows, first + count - span.row) }]
  })
}

/**
 * Whether the first row names the columns: another row follows, and at least half of its cells, and two, have a short
 * text that is no number.
 */
export function looksLikeHeader(rows: string[][]): boolean {
  const [first, ...rest] = rows
  if (first === undefined || rest.length === 0) return false
  const filled = first.filter((cell) => cell.trim() !== '')
  if (filled.length < 2 || filled.length < first.length / 2) return false
  return filled.every((cell) => !isNumeric(cell) && cell.length <= 80)
}

/**
 * Removes rows and columns that are empty everywhere, and joins lone `$`, `(`, `)`, `%` with their figures in entire
 * columns, so that figures stay below their headers.
 */
export function tidyRows(rows: string[][]): string[][] {
  if (rows.some((row) => row.some((cell) => /^(?:[$€£¥(]+|[)%]+)$/.test(cell)))) {
    const grid = rows.map((row) => row.map((text, column) => ({ text, column, columns: 1, rows: 1 })))
    return tidyGrid(grid).rows
  }
  const used: boolean[] = []
  for (const row of rows) {
    for (const [column, cell] of row.entries()) if (cell !== '') used[column] = true
  }
  const tidy = rows.map((row) => row.filter((_, column) => used[column] === true))
  return tidy.filter((row) => row.some((cell) => cell !== ''))
}
