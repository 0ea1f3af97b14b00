import type { CellSpan } from './cells.js'

/** A cell at its column in the row, before empty columns are removed. */
export interface PlacedCell {
  text: string
  column: number
  columns: number
  rows: number
}

const PREFIXES = '$€£¥('
const SUFFIXES = ')%'

/** Rows get equal width up to this number of cells in the table; in a larger one few rows are that wide. */
const MAX_CELLS = 4_000_000

/** Whether all cells that occupy only one column are prefix signs or suffix signs. */
interface SignColumn {
  prefixes: boolean
  suffixes: boolean
}

/**
 * Builds rows of equal width from cells that span several columns, and removes separator columns: those in which no
 * cell stands alone, and those with only `$`, `(`, `)` or `%`, which join their numbers. A column is removed from all
 * rows or from none, so that numbers stay below their headers.
 */
export function tidyGrid(rows: readonly PlacedCell[][]): { rows: string[][]; spans: CellSpan[] } {
  const filled = rows.map((row) => row.filter((cell) => cell.text !== ''))
  const groups = computeColumnGroups(filled)
  const width = groups.reduce((max, group) => Math.max(max, group), 0) + 1
  const minWidth = width * filled.length > MAX_CELLS ? 0 : width
  const tidy: string[][] = []
  const spans: CellSpan[] = []
  for (const [index, row] of filled.entries()) {
    if (row.length === 0) continue
    const texts = new Array<string>(minWidth).fill('')
    for (const cell of row) {
      const column = groups[cell.column] ?? 0
      while (texts.length <= column) texts.push('')
      const last = groups[cell.column + cell.columns - 1] ?? column
      const before = texts[column] ?? ''
      if (before === '') texts[column] = cell.text
      else {
        const isTight = consistsOf(before, PREFIXES) || consistsOf(cell.text, SUFFIXES)
        texts[column] = `${before}${isTight ? '' : ' '}${cell.text}`
      }
      let rowCount = 1
      for (let below = index + 1; below < index + cell.rows; below++) if ((filled[below]?.length ?? 0) > 0) rowCount++
      if (last > column || rowCount > 1)
        spans.push({ row: tidy.length, column, rows: rowCount, columns: last - column + 1 })
    }
    tidy.push(texts)
  }
  return { rows: tidy, spans }
}

/** For each column of the input, the index of the output column it becomes part of. */
function computeColumnGroups(rows: readonly PlacedCell[][]): number[] {
  const starts: boolean[] = []
  let width = 0
  for (const row of rows) {
    for (const cell of row) {
      starts[cell.column] = true
      width = Math.max(width, cell.column + cell.columns)
    }
  }
  // Columns at which no cell starts belong to the column before them.
  const origin: number[] = []
  for (let position = 0; position < width; position++)
    origin.push(position === 0 || starts[position] === true ? position : (origin[position - 1] ?? 0))
  const signColumns: (SignColumn | undefined)[] = []
  for (const row of rows) {
    for (const { text, column, columns } of row) {
      if (origin[column + columns - 1] !== column) continue
      const signs = signColumns[column]
      if (signs === undefined)
        signColumns[column] = { prefixes: consistsOf(text, PREFIXES), suffixes: consistsOf(text, SUFFIXES) }
      else {
        signs.prefixes &&= consistsOf(text, PREFIXES)
        signs.suffixes &&= consistsOf(text, SUFFIXES)
      }
    }
  }
  return numberGroups(origin, signColumns)
}

function numberGroups(origin: readonly number[], signColumns: readonly (SignColumn | undefined)[]): number[] {
  const groups: number[] = []
  let next = 0
  let isOpen = false
  for (const [position, start] of origin.entries()) {
    if (start !== position) {
      groups.push(groups[start] ?? 0)
      continue
    }
    const signs = signColumns[position]
    if (signs?.suffixes === true && next > 0 && !isOpen) {
      groups.push(next - 1)
      continue
    }
    groups.push(next)
    // a currency, or the left edge of headers, joins the column after it
    isOpen = signs === undefined || signs.prefixes
    if (!isOpen) next++
  }
  return groups
}

function consistsOf(text: string, signs: string): boolean {
  for (let index = 0; index < text.length; index++) if (!signs.includes(text.charAt(index))) return false
  return text !== ''
}
