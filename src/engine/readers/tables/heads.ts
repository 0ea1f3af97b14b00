import type { CellSpan } from './cells.js'
import { isNumeric } from './figures.js'

/** Counts of rows and columns at the edge of a table that name the others. */
export interface HeaderCounts {
  headerRows: number
  headColumns: number
}

const MAX_HEADER_ROWS = 6
const YEAR = /^(?:FY ?|CY ?)?(?:19|20)\d\d[*†]?$/

/**
 * Detects the header rows by the contents of the cells: rows of words and years above the first row with other numbers.
 * Rows that head a section of rows are not header rows.
 */
export function detectHeads(rows: readonly (readonly string[])[], spans: readonly CellSpan[] = []): HeaderCounts {
  const hasNumbers = rows.some((row) => row.some((cell, column) => column > 0 && isNumberButYear(cell)))
  const headerRows = hasNumbers ? countHeadersAboveNumbers(rows) : countHeadersAboveWords(rows, spans)
  return { headerRows, headColumns: countHeadColumns(rows.slice(headerRows)) }
}

function isNumberButYear(cell: string): boolean {
  return isNumeric(cell) && !YEAR.test(cell.trim())
}

function countHeadersAboveNumbers(rows: readonly (readonly string[])[]): number {
  let heads = 0
  for (const [index, row] of rows.slice(0, MAX_HEADER_ROWS + 1).entries()) {
    const values = row.slice(1).filter((cell) => cell.trim() !== '')
    if (values.some(isNumberButYear) || (row[0] !== undefined && values.length === 0 && isNumberButYear(row[0]))) break
    if (values.length === 0) continue
    // a second row of names must continue the first or consist of years; otherwise it may be a row of words
    const isUnnamedAbove = rows.slice(0, index).every((earlier) => (earlier[0] ?? '').trim() === '')
    const isContinuation = (row[0] ?? '').trim() === '' || values.every((cell) => YEAR.test(cell.trim()))
    if (heads > 0 && !isUnnamedAbove && !isContinuation) break
    heads = index + 1
  }
  return heads < rows.length ? Math.min(heads, MAX_HEADER_ROWS) : 0
}

/** The first row when it is full and short, with the rows down to the end of its spans. */
function countHeadersAboveWords(rows: readonly (readonly string[])[], spans: readonly CellSpan[]): number {
  const [first, ...rest] = rows
  if (first === undefined || rest.length === 0) return 0
  const filled = first.filter((cell) => cell.trim() !== '')
  const extraColumns = spans.filter((span) => span.row === 0).reduce((sum, span) => sum + span.columns - 1, 0)
  if (filled.length + extraColumns < 2 || filled.length + extraColumns < first.length / 2) return 0
  if (filled.some((cell) => isNumeric(cell) || cell.length > 80)) return 0
  const deepest = spans.filter((span) => span.row === 0).reduce((max, span) => Math.max(max, span.rows), 1)
  const minRows = spans.some((span) => span.row === 0 && span.columns > 1) ? 2 : 1
  return Math.min(rest.length, Math.max(deepest, minRows))
}

/**
 * Columns of words left of the first column of numbers. Without such a column the first one, in tables with two or more
 * columns.
 */
function countHeadColumns(body: readonly (readonly string[])[]): number {
  const filled: number[] = []
  const numeric: number[] = []
  for (const row of body)
    for (const [column, cell] of row.entries()) {
      const text = cell.trim()
      if (text === '') continue
      filled[column] = (filled[column] ?? 0) + 1
      if (isNumeric(text)) numeric[column] = (numeric[column] ?? 0) + 1
    }
  const width = body.reduce((max, row) => Math.max(max, row.length), 0)
  for (let column = 0; column < width; column++) if ((numeric[column] ?? 0) > (filled[column] ?? 0) / 2) return column
  return width > 1 ? 1 : 0
}
