import { CELL_SEPARATOR, cellsOfLine } from '../../../lib/text/table-lines.js'

/** A cell that takes more than one place; rows and columns count from 0, heads included. */
export interface Span {
  row: number
  column: number
  rows: number
  columns: number
}

/** A table as its readers want it: every row with as many cells as there are columns. */
export interface TableCells {
  rows: string[][]
  headerRows: number
  headColumns: number
  spans: Span[]
  caption?: string
}

/** A row as a line of text: cells without line breaks or wide space, those that are empty at the end left out. */
export function rowText(row: readonly string[]): string {
  let last = row.length
  while (last > 0 && row[last - 1]?.trim() === '') last--
  return row.slice(0, last).map(cellText).join(CELL_SEPARATOR)
}

function cellText(cell: string): string {
  return /\s\s|[^\S ]/.test(cell) ? cell.replace(/\s+/g, ' ').trim() : cell.trim()
}

/** The rows as they have to be told beside their text, where a cell that holds a bar makes the text ambiguous. */
export function ambiguousRows(rows: readonly (readonly string[])[]): string[][] | undefined {
  if (!rows.some((row) => row.some((cell) => cell.includes('|')))) return undefined
  return rows.map((row) => row.map(cellText))
}

/**
 * The table of an element, from its text and from what its metadata say of it.
 *
 * Runs of white space in a cell are one space: that is how the text of a document holds them.
 */
export function tableOf(text: string, metadata: Readonly<Record<string, unknown>>): TableCells {
  const told = rowsIn(metadata.cells)
  const rows = told ?? text.split('\n').map(cellsOfLine)
  const width = rows.reduce((most, row) => Math.max(most, row.length), count(metadata.columnCount))
  return {
    rows: rows.map((row) => [...row, ...new Array<string>(width - row.length).fill('')]),
    headerRows: Math.min(rows.length, count(metadata.headerRows)),
    headColumns: Math.min(width, count(metadata.headColumns)),
    spans: spansIn(metadata.spans),
    ...(typeof metadata.caption === 'string' ? { caption: metadata.caption } : {}),
  }
}

/** Parts of one long table as one; heads that later parts repeat are there once. */
export function joinedTable(parts: readonly TableCells[]): TableCells | undefined {
  const [first, ...rest] = parts
  if (first === undefined) return undefined
  const joined: TableCells = { ...first, rows: [...first.rows], spans: [...first.spans] }
  for (const part of rest) {
    const shift = joined.rows.length - part.headerRows
    for (const row of part.rows.slice(part.headerRows)) joined.rows.push(row)
    for (const span of part.spans)
      if (span.row >= part.headerRows) joined.spans.push({ ...span, row: span.row + shift })
  }
  return joined
}

function count(value: unknown): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : 0
}

function rowsIn(value: unknown): string[][] | undefined {
  if (!Array.isArray(value)) return undefined
  return value.map((row: unknown) => (Array.isArray(row) ? row.map((cell: unknown) => String(cell)) : []))
}

function spansIn(value: unknown): Span[] {
  if (!Array.isArray(value)) return []
  return value.flatMap((span: unknown) => {
    if (typeof span !== 'object' || span === null) return []
    const { row, column, rows, columns } = { row: -1, column: -1, rows: 1, columns: 1, ...span }
    return row >= 0 && column >= 0 ? [{ row, column, rows, columns }] : []
  })
}
