import { getFormulas } from '../math/formula.js'
import type { Block } from '../parsed.js'
import { type PlacedCell, tidyGrid } from '../tables/grid.js'
import { detectHeads } from '../tables/heads.js'
import { buildTableBlocks } from '../tables.js'

/** A cell of a Word table at its column of the grid. */
export interface WordCell {
  blocks: Block[]
  column: number
  columns: number
  /** Whether it is a part of the merged cell above it. */
  continuesAbove: boolean
}

export interface WordTableRow {
  cells: WordCell[]
  isHeader: boolean
}

/** Columns of the grid; programs allow 63. */
export const MAX_GRID_COLUMNS = 1000
/** Characters of a cell from which it contains a text, not data. */
const MAX_CELL_LENGTH = 800

/**
 * The blocks of a finished table: a table, with what its cells cannot contain after it, or the content of its cells
 * where it only arranges text.
 *
 * @param asides pictures, notes, comments, text boxes and charts
 */
export function toWordTableBlocks(rows: readonly WordTableRow[], asides: ReadonlySet<Block>): Block[] {
  const inside = rows.flatMap(({ cells }) => cells.flatMap(({ blocks }) => blocks))
  const content = (cell: WordCell): Block[] => cell.blocks.filter((block) => !asides.has(block))
  if (!isTable(rows, content)) return inside
  const { rows: texts, spans } = tidyGrid(placeCells(rows, content))
  const headerRows = Math.max(
    0,
    rows.findIndex(({ isHeader }) => !isHeader),
  )
  const detectedHeads = detectHeads(texts, spans)
  const heads = { ...detectedHeads, headerRows: Math.max(detectedHeads.headerRows, headerRows) }
  const formulas = inside.flatMap((block) => (asides.has(block) ? [] : getFormulas(block)))
  const tables = buildTableBlocks(texts, heads, formulas.length === 0 ? {} : { formulas }, spans)
  return [...tables, ...inside.filter((block) => asides.has(block))]
}

/** A table has rows or columns that belong together; a frame around text has one cell, or mostly cells of text. */
function isTable(rows: readonly WordTableRow[], content: (cell: WordCell) => Block[]): boolean {
  let filledRows = 0
  let filledCells = 0
  let textCells = 0
  for (const { cells } of rows) {
    const filled = cells.map(content).filter((blocks) => blocks.length > 0)
    if (filled.length > 0) filledRows++
    filledCells += filled.length
    textCells += filled.filter(isTextCell).length
  }
  return filledCells > filledRows ? textCells * 2 < filledCells : filledRows > 1 && textCells === 0
}

function isTextCell(blocks: readonly Block[]): boolean {
  if (blocks.length > 1 && blocks.some(({ type }) => type === 'heading')) return true
  return blocks.reduce((sum, { text }) => sum + text.length, 0) > MAX_CELL_LENGTH
}

function placeCells(rows: readonly WordTableRow[], content: (cell: WordCell) => Block[]): PlacedCell[][] {
  /** the cell that reaches down to the current row, by column */
  const above = new Map<number, PlacedCell>()
  return rows.map(({ cells }) =>
    cells.flatMap((cell) => {
      const text = joinCellText(content(cell))
      const origin = cell.continuesAbove ? above.get(cell.column) : undefined
      if (origin !== undefined) {
        origin.rows++
        if (text !== '') origin.text += origin.text === '' ? text : ` ${text}`
        return []
      }
      const placed = { text, column: cell.column, columns: cell.columns, rows: 1 }
      above.set(cell.column, placed)
      return [placed]
    }),
  )
}

/** The text of a cell in one line: lists without bullets, nested tables without bars. */
function joinCellText(blocks: readonly Block[]): string {
  return blocks
    .map(({ type, text }) => {
      if (type === 'list') return text.replace(/^\s*- /gm, '')
      return type === 'table' ? text.replaceAll(' | ', ' ') : text
    })
    .join(' ')
    .replace(/\s+/g, ' ')
    .trim()
}
