import type { Span } from './cells.js'

/** A cell where it stands in its row, before columns that hold nothing are left out. */
export interface PlacedCell {
  text: string
  column: number
  columns: number
  rows: number
}

const PREFIXES = '$€£¥('
const SUFFIXES = ')%'

/** Rows are made equally wide up to so many places of a table; a larger one is wide in few of its rows. */
const MAX_PLACES = 4_000_000

/** Whether all cells that stand alone in a column are signs of the one kind or the other. */
interface Signs {
  prefixes: boolean
  suffixes: boolean
}

/**
 * Rows of equal width from cells that take several places, without columns that only part others: those in which no
 * cell stands alone, and those of lone `$`, `(`, `)` and `%`, which join their figures. A column is left out for all rows
 * or for none, so that figures stay below their heads.
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

/** For each place of a row the column that it becomes part of. */
function groupsOf(rows: readonly PlacedCell[][]): number[] {
  const starts: boolean[] = []
  let width = 0
  for (const row of rows) {
    for (const cell of row) {
      starts[cell.column] = true
      width = Math.max(width, cell.column + cell.columns)
    }
  }
  // Places at which no cell begins belong to the one before them.
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
    // a currency, or the left edge of heads, waits for the column that it stands before
    open = signs === undefined || signs.prefixes
    if (!open) next++
  }
  return groups
}

function isOf(text: string, signs: string): boolean {
  for (let at = 0; at < text.length; at++) if (!signs.includes(text.charAt(at))) return false
  return text !== ''
}
