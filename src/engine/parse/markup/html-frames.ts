import type { Block } from '../parsed.js'
import { type PlacedCell, tidyGrid } from '../tables/grid.js'
import { headsOf } from '../tables/heads.js'
import { tableBlocks } from '../tables.js'

/** Tables and lists nested deeper than this lose their structure, not their text. */
export const MAX_FRAMES = 64

/** A table cell longer than this (in characters) holds text laid out in a table, not data. */
const MAX_CELL = 800
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

/** The blocks a finished table stands for: a table, or what was laid out in it. */
export function closeTable(rows: Cell[][]): Block[] {
  const inside = rows.flatMap((row) => row.flatMap((cell) => cell.blocks))
  const widest = rows.reduce((most, row) => Math.max(most, row.filter((cell) => cell.blocks.length > 0).length), 0)
  if (widest < 2 || rows.some((row) => row.some(isLaidOut))) return inside
  const { rows: texts, spans } = tidyGrid(placedCells(rows))
  const marked = rows[0]?.some((cell) => cell.header) === true ? 1 : 0
  const found = headsOf(texts, spans)
  const heads = { ...found, headerRows: Math.max(found.headerRows, marked) }
  return [...tableBlocks(texts, heads, {}, spans), ...inside.filter((block) => block.type === 'image')]
}

/** Where each cell stands, those over several rows taken into account. */
function placedCells(rows: Cell[][]): PlacedCell[][] {
  const taken = new Map<number, number>()
  return rows.map((cells, row) => {
    let column = 0
    return cells.map((cell) => {
      while ((taken.get(column) ?? 0) > row) column++
      const placed = {
        text: joined(cell.blocks),
        column,
        columns: cell.columns,
        rows: Math.min(cell.rows, rows.length - row),
      }
      for (let at = column; placed.rows > 1 && at < column + cell.columns; at++) taken.set(at, row + placed.rows)
      column += cell.columns
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
  return blocks.map((block) => block.text.replaceAll('\n', ' ')).join(' ')
}

/** The blocks a finished list stands for: a list, or its content where the items are passages. */
export function closeList(items: Block[][], ordered: boolean): Block[] {
  const laidOut = items.some((blocks) => {
    let length = 0
    for (const block of blocks) {
      if (block.type === 'table' || block.type === 'heading' || block.type === 'code') return true
      if (block.type !== 'list') length += block.text.length
    }
    return length > MAX_ITEM
  })
  if (laidOut) return items.flat()
  const lines: string[] = []
  for (const [index, blocks] of items.entries()) {
    const own = blocks.filter((block) => block.type !== 'list' && block.text !== '')
    const nested = blocks.filter((block) => block.type === 'list')
    if (own.length === 0 && nested.length === 0) continue
    lines.push(`${ordered ? `${index + 1}.` : '-'} ${joined(own)}`.trimEnd())
    for (const list of nested) for (const line of list.text.split('\n')) lines.push(INDENT + line)
  }
  const images = items.flatMap((blocks) => blocks.filter((block) => block.type === 'image'))
  return lines.length === 0 ? images : [{ type: 'list', text: lines.join('\n') }, ...images]
}
