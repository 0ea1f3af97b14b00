import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { DEFAULT_LIMITS } from '../../src/engine/readers/limits.js'
import { compileBytes } from '../../src/engine/readers/read-document.js'
import { type TableCells, toTableCells } from '../../src/engine/readers/tables/cells.js'
import type { CompiledElement } from '../../src/engine/store/compiled.js'

export interface PageOfFile {
  file: string
  /** 0-based */
  page0: number
}

/** A cell with the heads that a reader of the page gives it. */
export interface LabelledCell extends PageOfFile {
  half: 'tune' | 'report' | 'held-out A' | 'held-out B' | 'made' | 'made later'
  /** tables of the page, counted from 1 */
  table: number
  cell: string
  row: string
  /** heads of its column, outermost first; none where the page gives none */
  columns: string[]
  /** whether its table is a picture, whose words stand in no cells */
  picture?: boolean
}

export async function compileFile(path: string): Promise<CompiledElement[]> {
  const compiled = await compileBytes(readFileSync(path), { filename: basename(path) }, DEFAULT_LIMITS)
  return compiled.elements
}

/** The tables of a document by their page, counted from 1. */
export function tablesByPage(elements: readonly CompiledElement[]): Map<number, TableCells[]> {
  const pages = new Map<number, TableCells[]>()
  for (const { type, text, metadata, pageNumber } of elements) {
    if (type !== 'table' || text === undefined || pageNumber === undefined) continue
    const list = pages.get(pageNumber) ?? []
    list.push(toTableCells(text, metadata))
    pages.set(pageNumber, list)
  }
  return pages
}

/** Whether a cell stands on its page with the heads it should have; else the nearest that does. */
export function judgeCell(label: LabelledCell, tables: readonly TableCells[]): string {
  let nearest = 'not found'
  for (const table of tables) {
    for (const [index, row] of table.rows.entries()) {
      if (index < table.headerRows) continue
      for (const [column, cell] of row.entries()) {
        if (toComparable(cell) !== toComparable(label.cell)) continue
        const heads = getHeads(table, index, column)
        const rowRight = toComparable(heads.row) === toComparable(label.row)
        if (rowRight && toComparable(heads.column) === toComparable(label.columns.join(''))) return 'right'
        if (rowRight) nearest = `columns are ${JSON.stringify(heads.column)}`
        else if (nearest === 'not found') nearest = `row is ${JSON.stringify(heads.row)}`
      }
    }
  }
  return nearest
}

/** The heads of a cell: the cells before it that name its row, and those above it, with those that span it. */
function getHeads(table: TableCells, row: number, column: number): { row: string; column: string } {
  const side = Array.from({ length: Math.min(table.headColumns, column) }, (_, index) => {
    const span = table.spans.find((one) => one.column === index && one.row <= row && row < one.row + one.rows)
    return table.rows[span?.row ?? row]?.[index] ?? ''
  })
  const above: string[] = []
  for (let index = 0; index < table.headerRows; index++) {
    const span = table.spans.find(
      (one) =>
        one.row <= index && index < one.row + one.rows && one.column <= column && column < one.column + one.columns,
    )
    if (span !== undefined && span.row < index) continue
    above.push(table.rows[index]?.[span?.column ?? column] ?? '')
  }
  return { row: side.join(' '), column: above.join(' ') }
}

/** Letters, digits and the signs of figures. */
function toComparable(text: string): string {
  return text.toLowerCase().replace(/[^\p{L}\p{N}().%+*—-]|\((?:dollars )?in (?:millions|thousands)\)/gu, '')
}
