import type { Span } from './cells.js'

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
const MAX_PLACES = 4_000_000

/** Whether all cells that occupy only one column are prefix signs or suffix signs. */
interface Signs {
  prefixes: boolean
  suffixes: boolean
}

/**
 * Builds rows of equal width from cells that span several columns, and removes separator columns: those in which no
 * cell stands alone, and those with only `$`, `(`, `)` or `%`, which join their numbers. A column is removed from all
 * rows or from none, so that numbers stay below their headers.
 */
export function tidyGrid(rows: readonly PlacedCell[][]): { rows: string[][]; spans: Span[] } {
  const filled = rows.map((row) => row.filter((cell) => cell.text !== ''))
  const groups = groupsOf(filled)
  const width = groups.reduce((most, group) => Math.max(most, group), 0) + 1
  const least = width * filled.length > MAX_PLACES ? 0 : width
  const tidy: string[][] = []
  const spans: Span[] = []
  for (const [index, row] of filled.entries()) {
    if (row.length === 0) continue
    const texts = new Array<string>(least).fill('')
    for (const cell of row) {
      const column = groups[cell.column] ?? 0
      while (texts.length <= column) texts.push('')
      const last = groups[cell.column + cell.columns - 1] ?? column
      const before = texts[column] ?? ''
      if (before === '') texts[column] = cell.text
      else {
        const tight = isOf(before, PREFIXES) || isOf(cell.text, SUFFIXES)
        texts[column] = `${before}${tight ? '' : ' '}${cell.text}`
      }
      let deep = 1
      for (let at = index + 1; at < index + cell.rows; at++) if ((filled[at]?.length ?? 0) > 0) deep++
      if (last > column || deep > 1) spans.push({ row: tidy.length, column, rows: deep, columns: last - column + 1 })
    }
    tidy.push(texts)
  }
  return { rows: tidy, spans }
}

/** For each column of the input, the index of the output column it becomes part of. */
function groupsOf(rows: readonly PlacedCell[][]): number[] {
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
  for (let place = 0; place < width; place++)
    origin.push(place === 0 || starts[place] === true ? place : (origin[place - 1] ?? 0))
  const alone: (Signs | undefined)[] = []
  for (const row of rows) {
    for (const { text, column, columns } of row) {
      if (origin[column + columns - 1] !== column) continue
      const signs = alone[column]
      if (signs === undefined) alone[column] = { prefixes: isOf(text, PREFIXES), suffixes: isOf(text, SUFFIXES) }
      else {
        signs.prefixes &&= isOf(text, PREFIXES)
        signs.suffixes &&= isOf(text, SUFFIXES)
      }
    }
  }
  return numbered(origin, alone)
}

function numbered(origin: readonly number[], alone: readonly (Signs | undefined)[]): number[] {
  const groups: number[] = []
  let next = 0
  let open = false
  for (const [place, start] of origin.entries()) {
    if (start !== place) {
      groups.push(groups[start] ?? 0)
      continue
    }
    const signs = alone[place]
    if (signs?.suffixes === true && next > 0 && !open) {
      groups.push(next - 1)
      continue
    }
    groups.push(next)
    // a currency, or the left edge of headers, joins the column after it
    open = signs === undefined || signs.prefixes
    if (!open) next++
  }
  return groups
}

function isOf(text: string, signs: string): boolean {
  for (let at = 0; at < text.length; at++) if (!signs.includes(text.charAt(at))) return false
  return text !== ''
}
