import type { TableColumn } from './found-table.js'
import { findColumnRange, hasNumbers, isAlignedTo, isNamePart, isYear, WORDS_PER_NUMBER } from './table-columns.js'
import type { SegmentRow, TextSegment } from './table-words.js'

/** A cell of a table; `from` and `to` are its first and last column. */
export interface TableLineCell {
  text: string
  left: number
  right: number
  from: number
  to: number
  numeric: boolean
}

/** A row of a table, composed of lines of text. */
export interface TableLine {
  /** Baselines of its first and its last line of text. */
  y: number
  bottom: number
  size: number
  cells: TableLineCell[]
}

/** The columns of a table, and the index of the first one with values. */
export interface TableGrid {
  columns: readonly TableColumn[]
  stub: number
}

/** Maximal distance between the lines of one cell, in text sizes. */
const MAX_WRAP_STEP = 1.5
/** A row name that continues in the next line fills at least this fraction of its column. */
const MIN_FULL_FRACTION = 0.72
const CONTINUES =
  /(?:,|-|–|—|\/|&|\b(?:and|or|of|for|to|in|the|from|by|with|on|at|per|net|other|excluding|including))$/i

/** Converts rows of text to rows of cells, each segment in its column. */
export function toTableLines(rows: readonly SegmentRow[], columns: readonly TableColumn[], stub: number): TableLine[] {
  const firstValueRow = rows.findIndex(hasNumbers)
  return rows.map((row, rowIndex) => {
    const isHeader = rowIndex < firstValueRow
    const line: TableLine = { y: row.y, bottom: row.y, size: row.size, cells: [] }
    const segments = row.segments.flatMap((segment) => splitNames(segment, columns))
    const firstNamedColumn =
      isHeader || firstValueRow === -1 ? findFirstNamedColumn(segments, columns, stub) : undefined
    for (const [index, one] of segments.entries()) {
      const range = index === 0 ? findNameRange(one, columns, stub, isHeader) : findColumnRange(one, columns)
      const { from, to } =
        firstNamedColumn === undefined ? range : { from: index + firstNamedColumn, to: index + firstNamedColumn }
      const last = line.cells.at(-1)
      const text = removeLeaders(one.text)
      if (last !== undefined && from <= last.to) {
        last.text += ` ${text}`
        last.right = Math.max(last.right, one.right)
        last.to = Math.max(last.to, to)
        last.numeric &&= one.numeric
      } else line.cells.push({ text, left: one.left, right: one.right, from, to, numeric: one.numeric })
    }
    return line
  })
}

/**
 * When a line has as many names as there are value columns, or columns at all, each names one column regardless of its
 * position. Returns the first of these columns.
 */
function findFirstNamedColumn(
  segments: readonly TextSegment[],
  columns: readonly TableColumn[],
  stub: number,
): number | undefined {
  const [first] = segments
  if (first === undefined || segments.length < 2) return undefined
  const values = columns[stub]
  if (segments.length === columns.length) return isOffByOne(segments, columns) ? undefined : 0
  if (stub === 0 || values === undefined || segments.length !== columns.length - stub) return undefined
  return first.left > (columns[stub - 1]?.left ?? 0) + 4 * first.size ? stub : undefined
}

/** Whether most names are closer to the next column than to their own: the last name has a separate mark. */
function isOffByOne(segments: readonly TextSegment[], columns: readonly TableColumn[]): boolean {
  const distance = (one: TextSegment, column: TableColumn | undefined): number =>
    column === undefined ? Number.POSITIVE_INFINITY : Math.abs(one.left + one.right - column.left - column.right)
  const closerToNext = segments.filter(
    (one, index) => distance(one, columns[index + 1]) < distance(one, columns[index]),
  )
  return closerToNext.length > segments.length / 2
}

/** Splits column names that are so close that they looked like one text. */
function splitNames(one: TextSegment, columns: readonly TableColumn[]): TextSegment[] {
  const { from, to } = findColumnRange(one, columns)
  return one.parts.length > 1 && to > from ? one.parts : [one]
}

/** The name of a row stays in its column, even when it reaches into the columns of numbers. */
function findNameRange(
  one: TextSegment,
  columns: readonly TableColumn[],
  stub: number,
  isHeader: boolean,
): { from: number; to: number } {
  if (isHeader) {
    const alignedColumn = columns.findIndex(
      (column, index) => (index >= stub || stub === 0) && isAlignedTo(one, column),
    )
    return alignedColumn === -1 ? findColumnRange(one, columns) : { from: alignedColumn, to: alignedColumn }
  }
  const values = columns[stub]
  if (stub === 0 || values === undefined || one.left > values.left - 1.5 * one.size)
    return findColumnRange(one, columns)
  let column = 0
  for (let index = 1; index < stub; index++) if ((columns[index]?.left ?? 0) <= one.left + one.size) column = index
  return { from: column, to: column }
}

/** Removes leaders: `Revenue . . . . .` becomes `Revenue`. */
function removeLeaders(text: string): string {
  let end = text.length
  let dots = 0
  while (end > 0 && /[.…·_\s]/.test(text.charAt(end - 1))) {
    if (text.charAt(end - 1) !== ' ') dots += text.charAt(end - 1) === '…' ? 3 : 1
    end--
  }
  return dots >= 3 && end > 0 ? text.slice(0, end) : text
}

/** Whether a line has only row names. */
export function isHeadOnly(line: TableLine, stub: number): boolean {
  return line.cells.every((cell) => cell.to < Math.max(1, stub))
}

/** Whether a line may name columns: hardly any of its values is a number other than a year. */
export function mayNameColumns(line: TableLine, stub: number): boolean {
  const values = line.cells.filter((cell) => cell.to >= stub)
  const numberCount = values.filter((cell) => cell.numeric && !isYear(cell.text) && !isNamePart(cell, values)).length
  return values.length > 0 && numberCount * WORDS_PER_NUMBER <= values.length
}

/**
 * Joins lines that form one row: a row name that continues in the next line, and in a table of words the further lines
 * of every cell.
 *
 * @param from the first line after the headers
 * @param together whether drawings show that two lines are one row, or are not; undefined when they show neither
 */
export function joinWrapped(
  lines: readonly TableLine[],
  { columns, stub }: TableGrid,
  from: number,
  together: (upper: TableLine, lower: TableLine) => boolean | undefined,
): TableLine[] {
  const joined: TableLine[] = lines.slice(0, from)
  const width = (columns[stub]?.left ?? 0) - (columns[0]?.left ?? 0)
  const isOneRow = (last: TableLine, line: TableLine): boolean => {
    const isDrawnTogether = together(last, line)
    if (isDrawnTogether === undefined) return continuesRow(last, line, stub, width)
    return isDrawnTogether && !(hasValues(last, stub) && hasValues(line, stub) && stub > 0)
  }
  for (const line of lines.slice(from)) {
    const last = joined.at(-1)
    if (last === undefined || joined.length <= from || !isOneRow(last, line)) {
      joined.push(line)
      continue
    }
    for (const cell of line.cells) addCell(last, cell)
    last.bottom = line.bottom
  }
  return joined
}

/** Whether the texts show that a line continues a row. @param width of the row names */
function continuesRow(last: TableLine, line: TableLine, stub: number, width: number): boolean {
  const isNear = last.bottom - line.y <= MAX_WRAP_STEP * Math.max(line.size, last.size)
  const upper = last.cells[0]
  const lower = line.cells[0]
  if (!isNear || upper === undefined || lower === undefined) return false
  if (stub === 0) return lower.from > 0 && line.cells.every((cell) => !cell.numeric)
  if (lower.from >= stub || upper.from >= stub) return false
  const startsInLowercase = /^[\p{Ll}(]/u.test(lower.text)
  if (!hasValues(last, stub)) {
    if (upper.text.endsWith(':')) return false
    if (!hasValues(line, stub) && !startsInLowercase) return false
    const isHanging = lower.left > upper.left + 0.3 * line.size && upper.right - upper.left > MIN_FULL_FRACTION * width
    return startsInLowercase || CONTINUES.test(upper.text) || isHanging
  }
  return !hasValues(line, stub) && startsInLowercase
}

function hasValues(line: TableLine, stub: number): boolean {
  return line.cells.some((cell) => cell.to >= stub)
}

function addCell(line: TableLine, cell: TableLineCell): void {
  const existing = line.cells.find((one) => one.from <= cell.to && cell.from <= one.to)
  if (existing === undefined) {
    line.cells.push(cell)
    line.cells.sort((a, b) => a.from - b.from)
    return
  }
  existing.text += ` ${cell.text}`
  existing.right = Math.max(existing.right, cell.right)
}
