import { CELL_SEPARATOR, splitCells } from '../../../lib/text/table-lines.js'

/** A cell that spans several rows or columns; rows and columns count from 0, header rows included. */
export interface CellSpan {
  row: number
  column: number
  rows: number
  columns: number
}

/** A table in which every row has a cell for each column. */
export interface TableCells {
  rows: string[][]
  headerRows: number
  headColumns: number
  spans: CellSpan[]
  caption?: string
}

/** Formats a row as a line of text: collapses white space in cells and drops empty cells at the end. */
export function formatRow(row: readonly string[]): string {
  let last = row.length
  while (last > 0 && row[last - 1]?.trim() === '') last--
  return row.slice(0, last).map(formatCellText).join(CELL_SEPARATOR)
}

function formatCellText(cell: string): string {
  return /\s\s|[^\S ]/.test(cell) ? cell.replace(/\s+/g, ' ').trim() : cell.trim()
}

/**
 * The rows to store next to the text when a cell contains a bar, so that the text alone would be ambiguous; else
 * undefined.
 */
export function getAmbiguousRows(rows: readonly (readonly string[])[]): string[][] | undefined {
  if (!rows.some((row) => row.some((cell) => cell.includes('|')))) return undefined
  return rows.map((row) => row.map(formatCellText))
}

/**
 * Builds the table of an element from its text and metadata.
 *
 * Runs of white space in a cell become one space, as in the text of a document.
 */
export function toTableCells(text: string, metadata: Readonly<Record<string, unknown>>): TableCells {
  const storedRows = parseRows(metadata.cells)
  const rows = storedRows ?? text.split('\n').map(splitCells)
  const width = rows.reduce((max, row) => Math.max(max, row.length), toCount(metadata.columnCount))
  return {
    rows: rows.map((row) => [...row, ...new Array<string>(width - row.length).fill('')]),
    headerRows: Math.min(rows.length, toCount(metadata.headerRows)),
    headColumns: Math.min(width, toCount(metadata.headColumns)),
    spans: parseSpans(metadata.spans),
    ...(typeof metadata.caption === 'string' ? { caption: metadata.caption } : {}),
  }
}

/** Joins the parts of one long table; header rows that later parts repeat are kept once. */
export function joinTableParts(parts: readonly TableCells[]): TableCells | undefined {
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

function toCount(value: unknown): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : 0
}

function parseRows(value: unknown): string[][] | undefined {
  if (!Array.isArray(value)) return undefined
  return value.map((row: unknown) => (Array.isArray(row) ? row.map((cell: unknown) => String(cell)) : []))
}

function parseSpans(value: unknown): CellSpan[] {
  if (!Array.isArray(value)) return []
  return value.flatMap((span: unknown) => {
    if (typeof span !== 'object' || span === null) return []
    const { row, column, rows, columns } = { row: -1, column: -1, rows: 1, columns: 1, ...span }
    return row >= 0 && column >= 0 ? [{ row, column, rows, columns }] : []
  })
}
