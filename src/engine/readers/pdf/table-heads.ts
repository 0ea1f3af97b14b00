import type { TableColumn } from './found-table.js'
import type { TableLine, TableLineCell } from './table-lines.js'
import type { PageDrawings } from './table-rules.js'
import { wrapsOnto } from './table-spread.js'

/** Maximal distance between the middles of a name of several rows and of the value columns, in points. */
const MAX_SECTION_OFFSET_PT = 14

/**
 * Joins lines of column names that wrap: each name of the upper line is the start of the name below it, or has none
 * below it. Changes the lines and returns the number of those that remain.
 */
export function joinHeaderLines(lines: TableLine[], headerCount: number, drawn: PageDrawings): number {
  let remaining = headerCount
  for (let index = headerCount - 2; index >= 0; index--) {
    const [upper, lower] = [lines[index], lines[index + 1]]
    if (upper === undefined || lower === undefined || !isWrapped(upper, lower, drawn)) continue
    for (const cell of upper.cells) addAbove(lower, cell)
    lower.cells.sort((a, b) => a.from - b.from)
    lower.y = upper.y
    lines.splice(index, 1)
    remaining--
  }
  return remaining
}

function isWrapped(upper: TableLine, lower: TableLine, drawn: PageDrawings): boolean {
  const wrapped = upper.cells.filter((cell) => findBelow(lower, cell).length > 0)
  if (wrapped.length === 0 || wrapped.some((cell) => !wrapsOnto(cell, upper, lower))) return false
  if (new Set(wrapped.map((cell) => findBelow(lower, cell)[0])).size < wrapped.length) return false
  const alone = upper.cells.filter((cell) => !wrapped.includes(cell))
  if (alone.some((cell) => lower.cells.some((one) => one.from <= cell.to && cell.from <= one.to))) return false
  return !drawn.level.some(
    ({ at, from, to }) =>
      at < upper.bottom && at > lower.y && upper.cells.some((cell) => from < cell.right && to > cell.left),
  )
}

function findBelow(lower: TableLine, cell: TableLineCell): TableLineCell[] {
  return lower.cells.filter((one) => one.left < cell.right && cell.left < one.right)
}

function addAbove(lower: TableLine, cell: TableLineCell): void {
  const [below] = findBelow(lower, cell)
  if (below === undefined) {
    lower.cells.push(cell)
    return
  }
  below.text = `${cell.text} ${below.text}`
  below.left = Math.min(below.left, cell.left)
  below.right = Math.max(below.right, cell.right)
  below.numeric = false
}

/** Lets lines that are only a name in the middle of the value columns cover all of them: `Enrollment, in thousands`. */
export function spreadSections(body: readonly TableLine[], columns: readonly TableColumn[], stub: number): void {
  const [first, last] = [columns[stub], columns.at(-1)]
  if (stub === 0 || first === undefined || last === undefined) return
  for (const { cells } of body) {
    const [cell] = cells
    if (cell === undefined || cells.length > 1 || cell.numeric || cell.from < stub) continue
    const offset = (cell.left + cell.right - first.left - last.right) / 2
    if (Math.abs(offset) < MAX_SECTION_OFFSET_PT) Object.assign(cell, { from: stub, to: columns.length - 1 })
  }
}
