import type { Block } from '../parsed.js'
import { type PlacedCell, tidyGrid } from '../tables/grid.js'
import { headsOf } from '../tables/heads.js'
import { tableBlocks } from '../tables.js'

/** Tables and lists nested deeper than this lose their structure, not their text. */
export const MAX_FRAMES = 64

/** A table cell longer than this (in characters) holds text laid out in a table, not data. */
const MAX_CELL = 800
/** Beyond so many columns a cell takes one place, and where those before it took more than so many each. */
const MAX_COLUMNS = 10_000
const PLACES_A_CELL = 10
const MIN_PLACES = 5000
/** A list item longer than this is a passage, not a list item. */
const MAX_ITEM = 1500
const INDENT = '  '

export interface Cell {
  blocks: Block[]
  header: boolean
  /** columns and rows that it takes */
  columns: number
  rows: number
}

/** An open container of an HTML page. Cells, items and the root take blocks; rows, tables and lists take frames. */
export type Frame =
  | { kind: 'root'; blocks: Block[] }
  | ({ kind: 'cell' } & Cell)
  /** `note`: it is one, see `HtmlNotes` */
  | { kind: 'item'; blocks: Block[]; note?: string }
  | { kind: 'note'; blocks: Block[]; note: string }
  | { kind: 'row'; cells: Cell[] }
  | { kind: 'table'; rows: Cell[][] }
  | { kind: 'list'; ordered: boolean; items: Block[][] }

/**
 * The blocks a finished table stands for: a table, or what was laid out in it.
 *
 * @param inside those of its cells
 */
export function closeTable(rows: Cell[][], inside: Block[]): Block[] {
  if (!isTable(rows)) return inside
  const { rows: texts, spans } = tidyGrid(placedCells(rows))
  const marked = rows[0]?.some((cell) => cell.header) === true ? 1 : 0
  const found = headsOf(texts, spans)
  const heads = { ...found, headerRows: Math.max(found.headerRows, marked) }
  return [...tableBlocks(texts, heads, {}, spans), ...inside.filter((block) => block.type === 'image')]
}

function isTable(rows: Cell[][]): boolean {
  let widest = 0
  for (const row of rows) {
    let filled = 0
    for (const cell of row) {
      if (cell.blocks.length === 0) continue
      if (isLaidOut(cell)) return false
      filled++
    }
    widest = Math.max(widest, filled)
  }
  return widest >= 2
}

/** Where each cell stands, those over several rows taken into account. */
function placedCells(rows: Cell[][]): PlacedCell[][] {
  /** for each column the row from which on it is free */
  const free: number[] = []
  let places = MIN_PLACES + rows.reduce((sum, row) => sum + row.length, 0) * PLACES_A_CELL
  return rows.map((cells, row) => {
    let column = 0
    return cells.map((cell) => {
      while ((free[column] ?? 0) > row) column++
      const reach = Math.min(cell.rows, rows.length - row)
      const fits = cell.columns * reach <= places && column + cell.columns <= MAX_COLUMNS
      const columns = fits ? cell.columns : 1
      const deep = fits ? reach : 1
      places -= columns * deep
      if (deep > 1) {
        while (free.length < column) free.push(0)
        for (let at = column; at < column + columns; at++) free[at] = row + deep
      }
      const placed = { text: joined(cell.blocks), column, columns, rows: deep }
      column += columns
      return placed
    })
  })
}

function isLaidOut(cell: Cell): boolean {
  let length = 0
  for (const block of cell.blocks) {
    if (block.type === 'table' || block.type === 'heading' || block.type === 'code') return true
    length += block.text.length
  }
  return length > MAX_CELL
}

function joined(blocks: Block[]): string {
  const [first] = blocks
  if (first === undefined) return ''
  if (blocks.length === 1 && !first.text.includes('\n')) return first.text
  return blocks.map((block) => block.text.replaceAll('\n', ' ')).join(' ')
}

/**
 * The blocks a finished list stands for: a list, or its content where the items are passages.
 *
 * @param inside those of its items
 */
export function closeList(items: Block[][], ordered: boolean, inside: Block[]): Block[] {
  const laidOut = items.some((blocks) => {
    let length = 0
    for (const block of blocks) {
      if (block.type === 'table' || block.type === 'heading' || block.type === 'code') return true
      if (block.type !== 'list') length += block.text.length
    }
    return length > MAX_ITEM
  })
  if (laidOut) return inside
  const lines: string[] = []
  for (const [index, blocks] of items.entries()) {
    const own = blocks.filter((block) => block.type !== 'list' && block.text !== '')
    const nested = blocks.filter((block) => block.type === 'list')
    if (own.length === 0 && nested.length === 0) continue
    lines.push(`${ordered ? `${index + 1}.` : '-'} ${joined(own)}`.trimEnd())
    for (const list of nested) for (const line of list.text.split('\n')) lines.push(INDENT + line)
  }
  const images = inside.filter((block) => block.type === 'image')
  return lines.length === 0 ? images : [{ type: 'list', text: lines.join('\n') }, ...images]
}
