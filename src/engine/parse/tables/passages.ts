import { CELL_SEPARATOR } from '../../../lib/text/table-lines.js'

/** More of a table than this, in UTF-16 units, is not repeated in each of its passages. */
const MAX_HEADS = 1500
const MAX_CAPTION = 400

/** What the passages of a long table have in common. */
export interface TableHeads {
  /** units at the start of the text of the table that are its header rows */
  end: number
  /** what stands above the rows of a later passage, which begins at this place of the text */
  above(start: number): string
}

/**
 * Heads of a table that is cut between its rows: caption and header rows for each passage, and the row that heads the
 * section of rows in which a passage begins (`Operating expenses:`), so that a figure is not without its names.
 */
export function tableHeads(text: string, metadata: Readonly<Record<string, unknown>>): TableHeads {
  const end = endOfLines(text, typeof metadata.headerRows === 'number' ? metadata.headerRows : 0)
  const heads = end <= MAX_HEADS ? text.slice(0, end) : ''
  const caption = typeof metadata.caption === 'string' ? `${metadata.caption.slice(0, MAX_CAPTION)}\n` : ''
  return {
    end: heads.length,
    above: (start) => `${caption}${heads}${sectionRow(text, heads.length, start)}`,
  }
}

function endOfLines(text: string, lines: number): number {
  let end = 0
  for (let line = 0; line < lines; line++) {
    const newline = text.indexOf('\n', end)
    if (newline === -1) return end
    end = newline + 1
  }
  return end
}

/** The last row of one cell before a place, where the row there has more than one. */
function sectionRow(text: string, from: number, start: number): string {
  const first = text.slice(start, lineEnd(text, start))
  if (!first.includes(CELL_SEPARATOR)) return ''
  for (let end = start - 1; end > from; ) {
    const begin = text.lastIndexOf('\n', end - 1) + 1
    if (begin < from) return ''
    const row = text.slice(begin, end)
    if (row !== '' && !row.includes(CELL_SEPARATOR)) return `${row}\n`
    end = begin - 1
  }
  return ''
}

function lineEnd(text: string, from: number): number {
  const newline = text.indexOf('\n', from)
  return newline === -1 ? text.length : newline
}
