import { CELL_SEPARATOR } from '../../../lib/text/table-lines.js'

/** Longer header rows are not repeated in each passage, in UTF-16 units. */
const MAX_HEADS_LENGTH = 1500
const MAX_CAPTION_LENGTH = 400

/** What the passages of a long table have in common. */
export interface TableHeads {
  /** Offset in the text of the table at which its header rows end. */
  end: number
  /** The text to put above a later passage that starts at this offset of the text. */
  above(start: number): string
}

/**
 * Heads of a table that is split between its rows: the caption and header rows for each passage, and the row that heads
 * the section in which a passage starts (`Operating expenses:`), so that a number keeps its names.
 */
export function createTableHeads(text: string, metadata: Readonly<Record<string, unknown>>): TableHeads {
  const end = findEndOfLines(text, typeof metadata.headerRows === 'number' ? metadata.headerRows : 0)
  const heads = end <= MAX_HEADS_LENGTH ? text.slice(0, end) : ''
  const caption = typeof metadata.caption === 'string' ? `${metadata.caption.slice(0, MAX_CAPTION_LENGTH)}\n` : ''
  let rows: TableTextRow[] | undefined
  return {
    end: heads.length,
    above: (start) => {
      rows ??= splitRows(text, heads.length)
      return `${caption}${heads}${findSectionRow(text, rows, start)}`
    },
  }
}

function findEndOfLines(text: string, lines: number): number {
  let end = 0
  for (let line = 0; line < lines; line++) {
    const newline = text.indexOf('\n', end)
    if (newline === -1) return end
    end = newline + 1
  }
  return end
}

/** A row of the text of a table. */
interface TableTextRow {
  start: number
  end: number
  /** Offset of the separator before its last cell; -1 for a row of one cell. */
  lastBorder: number
  /** The last row above it that consists of one cell. */
  head: Pick<TableTextRow, 'start' | 'end'> | undefined
}

/**
 * Splits a table into rows in one pass: it may be one row of a million cells or a million rows, with a passage for
 * every few hundred of them.
 */
function splitRows(text: string, from: number): TableTextRow[] {
  const rows: TableTextRow[] = []
  let head: TableTextRow | undefined
  for (let start = from; start <= text.length; ) {
    const newline = text.indexOf('\n', start)
    const end = newline === -1 ? text.length : newline
    const lastBorder = text.slice(start, end).lastIndexOf(CELL_SEPARATOR)
    const row = { start, end, lastBorder: lastBorder === -1 ? -1 : start + lastBorder, head }
    rows.push(row)
    if (lastBorder === -1 && end > start) head = row
    start = end + 1
  }
  return rows
}

/** The last one-cell row before an offset, when more than one cell follows in the row at the offset. */
function findSectionRow(text: string, rows: readonly TableTextRow[], start: number): string {
  const row = rows[findRowIndex(rows, start)]
  if (row?.head === undefined || row.lastBorder < start) return ''
  return `${text.slice(row.head.start, row.head.end)}\n`
}

/** Index of the row that contains an offset. */
function findRowIndex(rows: readonly TableTextRow[], offset: number): number {
  let low = 0
  let high = rows.length - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if ((rows[middle]?.start ?? 0) <= offset) low = middle
    else high = middle - 1
  }
  return low
}
