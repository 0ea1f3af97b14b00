import type { Block } from '../parsed.js'
import { type PlacedCell, tidyGrid } from '../tables/grid.js'
import { detectHeads } from '../tables/heads.js'
import { buildTableBlocks } from '../tables.js'

/** Tables and lists that are nested deeper lose their structure, not their text. */
export const MAX_FRAMES = 64

/** A table cell longer than this (in characters) is text as in a layout table. */
const MAX_CELL_LENGTH = 800
/** The same in a table with marked headers, whose cells may contain several paragraphs. */
const MAX_HEADED_CELL_LENGTH = 4000
/** A table is for layout if more than this fraction of its letters is in cells that are too long or structured. */
const MAX_LAYOUT_FRACTION = 0.5
/**
 * Beyond this column, cells have no span; nor where the cells before took more than this many columns and rows each on
 * average.
 */
const MAX_COLUMNS = 10_000
const MAX_AVERAGE_SPAN = 10
const MIN_GRID_CAPACITY = 5000
/** A list item longer than this is a text, not an item. */
const MAX_ITEM_LENGTH = 1500
const INDENT = '  '

export interface HtmlCell {
  blocks: Block[]
  header: boolean
  /** columns and rows that it spans */
  columns: number
  rows: number
}

/** Purpose of a table: `layout` if the page marks it so, `data` in office files, which use no tables for layout. */
export type TablePurpose = 'layout' | 'data' | 'unknown'

export interface HtmlTable {
  rows: HtmlCell[][]
  purpose: TablePurpose
}

/**
 * An open container of an HTML page. Cells, items and the root contain blocks; rows, tables and lists contain frames.
 */
export type HtmlFrame =
  | { kind: 'root'; blocks: Block[] }
  | ({ kind: 'cell' } & HtmlCell)
  /** `note`: id, where it is a note; see `HtmlNotes` */
  | { kind: 'item'; blocks: Block[]; note?: string }
  | { kind: 'note'; blocks: Block[]; note: string }
  | { kind: 'row'; cells: HtmlCell[] }
  | ({ kind: 'table' } & HtmlTable)
  | { kind: 'list'; ordered: boolean; items: Block[][] }

/**
 * The blocks of a finished table: a table, or the content of a layout table.
 *
 * @param inside blocks of its cells
 */
export function closeTable({ rows, purpose }: HtmlTable, inside: Block[]): Block[] {
  if (!isTable(rows, purpose)) return inside
  const { rows: texts, spans } = tidyGrid(placeCells(rows))
  const markedRows = rows[0]?.some((cell) => cell.header) === true ? 1 : 0
  const detectedHeads = detectHeads(texts, spans)
  const heads = { ...detectedHeads, headerRows: Math.max(detectedHeads.headerRows, markedRows) }
  return [...buildTableBlocks(texts, heads, {}, spans), ...inside.filter((block) => block.type === 'image')]
}

function isTable(rows: readonly HtmlCell[][], purpose: TablePurpose): boolean {
  const filled = rows.map((row) => row.filter((cell) => cell.blocks.length > 0))
  if (purpose === 'layout' || filled.every((row) => row.length < 2)) return false
  const cells = filled.flat()
  const maxLength = cells.some((cell) => cell.header) ? MAX_HEADED_CELL_LENGTH : MAX_CELL_LENGTH
  const mayBeLayout = purpose === 'unknown' && maxLength === MAX_CELL_LENGTH
  let letters = 0
  let layoutLetters = 0
  for (const { blocks } of cells) {
    const length = blocks.reduce((sum, block) => sum + block.text.length, 0)
    const isLayout =
      length > maxLength || (mayBeLayout && blocks.some(({ type }) => type === 'table' || type === 'heading'))
    letters += length
    if (isLayout) layoutLetters += length
  }
  return layoutLetters <= letters * MAX_LAYOUT_FRACTION
}

/** Computes the grid position of each cell; cells may span several rows. */
function placeCells(rows: HtmlCell[][]): PlacedCell[][] {
  /** for each column, the first row in which it is free */
  const firstFreeRow: number[] = []
  let capacity = MIN_GRID_CAPACITY + rows.reduce((sum, row) => sum + row.length, 0) * MAX_AVERAGE_SPAN
  return rows.map((cells, row) => {
    let column = 0
    return cells.map((cell) => {
      while ((firstFreeRow[column] ?? 0) > row) column++
      const rowSpan = Math.min(cell.rows, rows.length - row)
      const fits = cell.columns * rowSpan <= capacity && column + cell.columns <= MAX_COLUMNS
      const columns = fits ? cell.columns : 1
      const usedRows = fits ? rowSpan : 1
      capacity -= columns * usedRows
      if (usedRows > 1) {
        while (firstFreeRow.length < column) firstFreeRow.push(0)
        for (let index = column; index < column + columns; index++) firstFreeRow[index] = row + usedRows
      }
      const placed = { text: joinTexts(cell.blocks), column, columns, rows: usedRows }
      column += columns
      return placed
    })
  })
}

function joinTexts(blocks: Block[]): string {
  const [first] = blocks
  if (first === undefined) return ''
  if (blocks.length === 1 && first.type !== 'table' && !first.text.includes('\n')) return first.text
  return blocks.map(({ type, text }) => text.replaceAll(type === 'table' ? /\n| \| /g : '\n', ' ')).join(' ')
}

/**
 * The blocks of a finished list: a list, or its content where the items are texts.
 *
 * @param inside blocks of its items
 */
export function closeList({ items, ordered }: Extract<HtmlFrame, { kind: 'list' }>, inside: Block[]): Block[] {
  const isLayoutList = items.some((blocks) => {
    let length = 0
    for (const block of blocks) {
      if (block.type === 'table' || block.type === 'heading' || block.type === 'code') return true
      if (block.type !== 'list') length += block.text.length
    }
    return length > MAX_ITEM_LENGTH
  })
  if (isLayoutList) return inside
  const lines: string[] = []
  for (const [index, blocks] of items.entries()) {
    const texts = blocks.filter((block) => block.type !== 'list' && block.text !== '')
    const nested = blocks.filter((block) => block.type === 'list')
    if (texts.length === 0 && nested.length === 0) continue
    lines.push(`${ordered ? `${index + 1}.` : '-'} ${joinTexts(texts)}`.trimEnd())
    for (const list of nested) for (const line of list.text.split('\n')) lines.push(INDENT + line)
  }
  const images = inside.filter((block) => block.type === 'image')
  return lines.length === 0 ? images : [{ type: 'list', text: lines.join('\n') }, ...images]
}
