import type { TableColumn } from './found-table.js'
import {
  assignColumns,
  type ColumnExtent,
  type ColumnRange,
  findSpanningName,
  type HeaderNames,
  MAX_NAME_OFFSET_PT,
} from './table-assign.js'
import { isYear } from './table-columns.js'
import type { TableGrid, TableLine, TableLineCell } from './table-lines.js'
import type { DrawnRule, PageDrawings } from './table-rules.js'

/** Maximal distance of an underline below a header, in text sizes. */
const MAX_UNDERLINE_GAP = 1.3
/** Maximal distance between lines of one name, in text sizes. */
const MAX_WRAP_STEP = 1.4
/** Maximal number of columns that a header covers on either side of its position. */
const MAX_SPREAD = 12
/** Tolerance between the middles of a header and of its columns, in points. */
const MIDDLE_TOLERANCE_PT = 4
/** Maximal offset of a single name over all value columns from their middle, as a fraction of their width. */
const MAX_LONE_OFFSET = 0.15
/** Limits of header lines and columns; tables with more do not occur, or are not readable. */
const MAX_HEADER_LINES = 30
const MAX_COLUMNS = 60
/** A date to be completed by a year: `December 31,` */
export const DAY_BEFORE_YEAR = /^\p{Lu}\p{L}{2,9}\.? \d{1,2},$/u
/** A header to be completed by years below it: `Year ended December 31,` */
const INCOMPLETE_DATE = /,$|\b(?:ended|ending|as of|as at)\b/i

/**
 * Determines the columns that each header covers: by the underline, by repeated column names below, else by its centred
 * position. Changes `from` and `to` of the cells.
 *
 * @param headerCount number of lines that name columns
 */
export function spreadHeaders(
  lines: readonly TableLine[],
  headerCount: number,
  table: TableGrid & { drawn: PageDrawings },
): void {
  const { columns, stub, drawn } = table
  if (headerCount > MAX_HEADER_LINES || columns.length > MAX_COLUMNS) return
  const headers = lines.slice(0, headerCount)
  const grid = { ...table, extents: computeExtents(lines, columns, drawn) }
  for (const [index, line] of headers.entries()) {
    const names = getValueCells(line, stub)
    const header = { line, names, linesBelow: headers.slice(index + 1), upper: headers[index - 1] }
    if (names.length > 1) spreadNames(header, grid)
    else if (names.length === 1) spreadSingleName(header, grid)
  }
  for (let index = headers.length - 2; index >= 0; index--) inheritRange(headers[index], headers[index + 1])
}

interface DrawnGrid extends TableGrid {
  extents: readonly ColumnExtent[]
  drawn: PageDrawings
}

interface HeaderLine extends HeaderNames {
  line: TableLine
  linesBelow: readonly TableLine[]
}

/** Handles a line with one name. */
function spreadSingleName({ line, names, linesBelow, upper }: HeaderLine, grid: DrawnGrid): void {
  const [cell] = names
  const [below] = linesBelow
  const { extents, columns, stub, drawn } = grid
  if (cell === undefined) return
  const end = columns.length - 1
  const underlinedRange = findUnderlinedRange(cell, line, columns, drawn)
  const isSingle = namesEachColumn(linesBelow, columns, stub)
  const spanning = isSingle && getValueCells(upper, stub).length > 1 ? undefined : findSpanningName(cell, upper)
  if (underlinedRange === undefined && isSingle && spanning === undefined && namesAllColumns(cell, linesBelow, stub)) {
    Object.assign(cell, { from: stub, to: end })
    return
  }
  if (underlinedRange === undefined && wrapsOnto(cell, line, below)) return
  const bounds = { from: Math.max(spanning?.from ?? 0, stub), to: Math.min(spanning?.to ?? end, end) }
  const range = underlinedRange ?? findCentredRange(cell, extents, bounds, isSingle)
  if (underlinedRange === undefined && below !== undefined && continuesBelow(cell, range, below)) return
  widen(cell, range, bounds)
}

/** Handles a line with several names. */
function spreadNames(header: HeaderLine, { extents, columns, stub, drawn }: DrawnGrid): void {
  const { line, names, linesBelow, upper } = header
  const [below] = linesBelow
  const fixed = new Map<TableLineCell, ColumnRange>()
  for (const cell of names) {
    const range = findUnderlinedRange(cell, line, columns, drawn)
    if (range !== undefined) fixed.set(cell, range)
    else if (wrapsOnto(cell, line, below)) fixed.set(cell, cell)
  }
  const repeatedGroups = findRepeatedGroups(names, linesBelow, extents, stub)
  const canAssign = fixed.size < names.length && linesBelow.length > 0
  const groups = repeatedGroups ?? (canAssign ? assignColumns(header, fixed, extents, stub) : undefined)
  for (const [index, cell] of names.entries()) {
    const spanning = findSpanningName(cell, upper)
    const bounds = {
      from: Math.max(spanning?.from ?? 0, (names[index - 1]?.to ?? stub - 1) + 1),
      to: Math.min(spanning?.to ?? columns.length, (names[index + 1]?.from ?? columns.length) - 1),
    }
    const fixedRange = repeatedGroups === undefined ? fixed.get(cell) : undefined
    const group = groups?.get(cell)
    if (fixedRange !== undefined) widen(cell, fixedRange, bounds)
    else if (group !== undefined) Object.assign(cell, group)
    else {
      const range = findCentredRange(cell, extents, bounds, false)
      if (below === undefined || !continuesBelow(cell, range, below)) widen(cell, range, bounds)
    }
  }
}

function widen(cell: TableLineCell, range: ColumnRange, bounds: ColumnRange): void {
  cell.from = Math.max(bounds.from, Math.min(cell.from, range.from))
  cell.to = Math.min(bounds.to, Math.max(cell.to, range.to))
}

function getValueCells(line: TableLine | undefined, stub: number): TableLineCell[] {
  return line?.cells.filter((cell) => cell.to >= stub) ?? []
}

/** The extent of each column: rules drawn for only this column define it, else its contents. */
function computeExtents(
  lines: readonly TableLine[],
  columns: readonly TableColumn[],
  drawn: PageDrawings,
): ColumnExtent[] {
  const top = (lines[0]?.y ?? 0) + (lines[0]?.size ?? 0)
  const last = lines.at(-1)
  const bottom = (last?.bottom ?? 0) - 2 * (last?.size ?? 0)
  const extents = columns.map(({ left, right }) => ({ left, right }))
  for (const { at, from, to } of drawn.level) {
    if (at > top || at < bottom) continue
    const [index, ...more] = columns.flatMap(({ left, right }, columnIndex) =>
      (left + right) / 2 > from && (left + right) / 2 < to ? [columnIndex] : [],
    )
    const extent = index === undefined ? undefined : extents[index]
    if (extent === undefined || index === undefined || more.length > 0) continue
    if (from < (columns[index - 1]?.right ?? from) || to > (columns[index + 1]?.left ?? to)) continue
    extent.left = Math.min(extent.left, from)
    extent.right = Math.max(extent.right, to)
  }
  return extents
}

/** Whether a name is the upper line of exactly one name below it: of similar size, close, aligned, both words. */
export function wrapsOnto(cell: TableLineCell, line: TableLine, below: TableLine | undefined): boolean {
  if (below === undefined || line.y - below.y > MAX_WRAP_STEP * line.size || isYear(cell.text)) return false
  if (Math.abs(line.size - below.size) > 0.08 * line.size) return false
  const cellsBelow = below.cells.filter((one) => one.left < cell.right && cell.left < one.right)
  const [only] = cellsBelow
  const isWords = only?.numeric === false || DAY_BEFORE_YEAR.test(cell.text)
  return cellsBelow.length === 1 && only !== undefined && isWords && isAlignedWith(cell, only)
}

/** Column ranges of several names when the lines below repeat the same column names for each: `2022 2021 2022 2021`. */
function findRepeatedGroups(
  groupNames: readonly TableLineCell[],
  linesBelow: readonly TableLine[],
  extents: readonly ColumnExtent[],
  stub: number,
): Map<TableLineCell, ColumnRange> | undefined {
  const names = collectNamesBelow(linesBelow, extents.length, stub)
  const groupSize = names.length / groupNames.length
  if (groupNames.length < 2 || groupSize < 2 || !Number.isInteger(groupSize)) return undefined
  if (names.some((text, index) => text === '' || text !== names[index % groupSize])) return undefined
  if (new Set(groupNames.map(({ text }) => text)).size < groupNames.length) return undefined
  const groups = new Map<TableLineCell, ColumnRange>()
  for (const [index, cell] of groupNames.entries()) {
    const [from, to] = [stub + index * groupSize, stub + (index + 1) * groupSize - 1]
    if (cell.right <= (extents[from]?.left ?? 0) || cell.left >= (extents[to]?.right ?? 0)) return undefined
    groups.set(cell, { from, to })
  }
  return groups
}

/** The names of each value column in the lines below. */
function collectNamesBelow(linesBelow: readonly TableLine[], width: number, stub: number): string[] {
  const names = new Array<string>(Math.max(0, width - stub)).fill('')
  for (const cell of linesBelow.flatMap((line) => line.cells)) {
    if (cell.from !== cell.to || cell.from < stub) continue
    names[cell.from - stub] = `${names[cell.from - stub] ?? ''} ${cell.text}`.trim()
  }
  return names
}

/** Whether the lines below a single name name each value column, all or none of them by years. */
function namesEachColumn(linesBelow: readonly TableLine[], columns: readonly TableColumn[], stub: number): boolean {
  const names = collectNamesBelow(linesBelow, columns.length, stub)
  const years = names.filter((text) => isYear(text)).length
  return names.length >= 2 && names.every((text) => text !== '') && (years === 0 || years === names.length)
}

/** Whether a single name is for all columns: a year, or a text that years complete (`As of December 31,`). */
function namesAllColumns(cell: TableLineCell, linesBelow: readonly TableLine[], stub: number): boolean {
  if (isYear(cell.text)) return true
  return (
    INCOMPLETE_DATE.test(cell.text) &&
    getValueCells(linesBelow[0], stub).length > 1 &&
    getValueCells(linesBelow[0], stub).every(({ text }) => isYear(text))
  )
}

/** The upper lines of a header cover the columns that its last line covers. */
function inheritRange(line: TableLine | undefined, below: TableLine | undefined): void {
  for (const [index, cell] of line?.cells.entries() ?? []) {
    const cellsBelow = below?.cells.filter((one) => one.from <= cell.to && one.to >= cell.from) ?? []
    const [only] = cellsBelow
    if (cellsBelow.length !== 1 || only === undefined || only.to - only.from <= cell.to - cell.from) continue
    const [before, next] = [line?.cells[index - 1], line?.cells[index + 1]]
    const isTaken = (next !== undefined && next.from <= only.to) || (before !== undefined && before.to >= only.from)
    if (!isAlignedWith(cell, only) || isTaken) continue
    cell.from = only.from
    cell.to = only.to
  }
}

function isAlignedWith(one: TableLineCell, other: TableLineCell): boolean {
  const middle = (one.left + one.right - other.left - other.right) / 2
  return [one.left - other.left, one.right - other.right, middle].some(
    (offset) => Math.abs(offset) < MIDDLE_TOLERANCE_PT,
  )
}

/** Whether the line below continues the same header and does not name each of the columns below it. */
function continuesBelow(cell: TableLineCell, range: { from: number; to: number }, below: TableLine): boolean {
  const cellsBelow = below.cells.filter((one) => one.to >= range.from && one.from <= range.to)
  if (cellsBelow.length > range.to - range.from) return false
  return cellsBelow.some((one) => one.from <= cell.to && one.to >= cell.from && isAlignedWith(one, cell))
}

function findUnderlinedRange(
  cell: TableLineCell,
  line: TableLine,
  columns: readonly TableColumn[],
  drawn: PageDrawings,
): ColumnRange | undefined {
  let rule: DrawnRule | undefined
  for (const one of drawn.level) {
    const isNear =
      one.at < line.y &&
      one.at > line.y - MAX_UNDERLINE_GAP * line.size &&
      one.at > (rule?.at ?? Number.NEGATIVE_INFINITY)
    if (isNear && one.from <= cell.left + 3 && one.to >= cell.right - 3) rule = one
  }
  if (rule === undefined || rule.from <= (columns[0]?.left ?? 0) + 3) return undefined
  const { from: left, to: right } = rule
  const coveredColumns = columns.flatMap((column, index) => {
    const overlap = Math.min(column.right, right) - Math.max(column.left, left)
    return overlap > 0.5 * (column.right - column.left) ? [index] : []
  })
  const from = coveredColumns[0]
  const to = coveredColumns.at(-1)
  return from === undefined || to === undefined ? undefined : { from, to }
}

/** The largest column range whose middle is that of the header, or not much further from it than the nearest one. */
function findCentredRange(
  cell: TableLineCell,
  extents: readonly ColumnExtent[],
  { from: first, to: last }: ColumnRange,
  isSingle: boolean,
): ColumnRange {
  const middle = (cell.left + cell.right) / 2
  const width = (extents[last]?.right ?? 0) - (extents[first]?.left ?? 0)
  if (isSingle && Math.abs((extents[first]?.left ?? 0) + width / 2 - middle) < width * MAX_LONE_OFFSET)
    return { from: first, to: last }
  const ranges: (ColumnRange & { offset: number })[] = []
  for (let from = Math.max(first, cell.from - MAX_SPREAD); from <= cell.from; from++) {
    for (let to = cell.to; to <= Math.min(last, cell.to + MAX_SPREAD); to++) {
      const offset = Math.abs(((extents[from]?.left ?? 0) + (extents[to]?.right ?? 0)) / 2 - middle)
      if (offset < MAX_NAME_OFFSET_PT) ranges.push({ from, to, offset })
    }
  }
  const minOffset = ranges.reduce((nearest, { offset }) => Math.min(nearest, offset), MAX_NAME_OFFSET_PT)
  let best: ColumnRange = cell
  for (const range of ranges) {
    if (range.offset <= minOffset + MIDDLE_TOLERANCE_PT && range.to - range.from > best.to - best.from) best = range
  }
  return best
}
