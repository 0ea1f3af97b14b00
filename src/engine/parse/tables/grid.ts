import type { Span } from './cells.js'

/** A cell where it stands in its row, before columns that hold nothing are left out. */
export interface PlacedCell {
  text: string
  column: number
  columns: number
  rows: number
}

const PREFIX = /^[$€£¥(]+$/
const SUFFIX = /^[)%]+$/

/**
 * Rows of equal width from cells that take several places, without columns that only part others: those in which no
 * cell stands alone, and those of lone `$`, `(`, `)` and `%`, which join their figures. A column is left out for all rows
 * or for none, so that figures stay below their heads.
 */
export function tidyGrid(rows: readonly PlacedCell[][]): { rows: string[][]; spans: Span[] } {
  const filled = rows.map((row) => row.filter((cell) => cell.text !== ''))
  const groups = groupsOf(filled)
  const width = Math.max(0, ...groups.values()) + 1
  const tidy: string[][] = []
  const spans: Span[] = []
  const kept = new Map<number, number>()
  for (const [index, row] of filled.entries()) if (row.length > 0) kept.set(index, kept.size)
  for (const [index, row] of filled.entries()) {
    if (row.length === 0) continue
    const texts = new Array<string>(width).fill('')
    for (const cell of row) {
      const column = groups.get(cell.column) ?? 0
      const last = groups.get(cell.column + cell.columns - 1) ?? column
      const before = texts[column] ?? ''
      const tight = PREFIX.test(before) || SUFFIX.test(cell.text)
      texts[column] = before === '' ? cell.text : `${before}${tight ? '' : ' '}${cell.text}`
      let deep = 1
      for (let at = index + 1; at < index + cell.rows; at++) if (kept.has(at)) deep++
      if (last > column || deep > 1) spans.push({ row: tidy.length, column, rows: deep, columns: last - column + 1 })
    }
    tidy.push(texts)
  }
  return { rows: tidy, spans }
}

/** For each place of a row the column that it becomes part of. */
function groupsOf(rows: readonly PlacedCell[][]): Map<number, number> {
  const alone = new Map<number, string[]>()
  const starts = new Set<number>()
  let width = 0
  for (const row of rows) {
    for (const cell of row) {
      starts.add(cell.column)
      width = Math.max(width, cell.column + cell.columns)
    }
  }
  // Places at which no cell begins belong to the one before them.
  const origin: number[] = []
  for (let place = 0; place < width; place++)
    origin.push(place === 0 || starts.has(place) ? place : (origin[place - 1] ?? 0))
  for (const row of rows) {
    for (const cell of row) {
      const last = origin[cell.column + cell.columns - 1]
      if (last === cell.column) alone.set(cell.column, [...(alone.get(cell.column) ?? []), cell.text])
    }
  }
  return numbered(origin, alone)
}

function numbered(origin: readonly number[], alone: ReadonlyMap<number, string[]>): Map<number, number> {
  const groups = new Map<number, number>()
  let next = 0
  let open = false
  for (const [place, start] of origin.entries()) {
    if (start !== place) {
      groups.set(place, groups.get(start) ?? 0)
      continue
    }
    const texts = alone.get(place) ?? []
    const closes = texts.length > 0 && texts.every((text) => SUFFIX.test(text))
    if (closes && next > 0 && !open) {
      groups.set(place, next - 1)
      continue
    }
    groups.set(place, next)
    // a currency, or the left edge of heads, waits for the column that it stands before
    open = texts.every((text) => PREFIX.test(text))
    if (!open) next++
  }
  return groups
}
