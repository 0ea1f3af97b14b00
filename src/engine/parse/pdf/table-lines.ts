import type { Column } from './found-table.js'
import { HARDLY, hasFigures, isNamePart, isSetTo, isYear, placeIn } from './table-columns.js'
import type { Row, Segment } from './table-words.js'

/** A cell of a table; `from` and `to` are its first and last column. */
export interface Cell {
  text: string
  left: number
  right: number
  from: number
  to: number
  numeric: boolean
}

/** A row of a table, composed of lines of text. */
export interface Line {
  /** Baselines of its first and its last line of text. */
  y: number
  bottom: number
  size: number
  cells: Cell[]
}

/** Maximal distance between the lines of one cell, in text sizes. */
const WRAP_STEP = 1.5
/** A row name that continues in the next line fills at least this fraction of its column. */
const FULL = 0.72
const GOES_ON = /(?:,|-|–|—|\/|&|\b(?:and|or|of|for|to|in|the|from|by|with|on|at|per|net|other|excluding|including))$/i

/** Converts rows of text to rows of cells, each segment in its column. */
export function linesOf(rows: readonly Row[], columns: readonly Column[], stub: number): Line[] {
  const body = rows.findIndex(hasFigures)
  return rows.map((row, at) => {
    const names = at < body
    const line: Line = { y: row.y, bottom: row.y, size: row.size, cells: [] }
    const segments = row.segments.flatMap((segment) => parted(segment, columns))
    const inTurn = names || body === -1 ? namesInTurn(segments, columns, stub) : undefined
    for (const [index, one] of segments.entries()) {
      const place = index === 0 ? headPlace(one, columns, stub, names) : placeIn(one, columns)
      const { from, to } = inTurn === undefined ? place : { from: index + inTurn, to: index + inTurn }
      const last = line.cells.at(-1)
      const text = withoutLeaders(one.text)
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
function namesInTurn(segments: readonly Segment[], columns: readonly Column[], stub: number): number | undefined {
  const [first] = segments
  if (first === undefined || segments.length < 2) return undefined
  const values = columns[stub]
  if (segments.length === columns.length) return isOffByOne(segments, columns) ? undefined : 0
  if (stub === 0 || values === undefined || segments.length !== columns.length - stub) return undefined
  return first.left > (columns[stub - 1]?.left ?? 0) + 4 * first.size ? stub : undefined
}

/** Whether most names are closer to the next column than to their own: the last name has a separate mark. */
function isOffByOne(segments: readonly Segment[], columns: readonly Column[]): boolean {
  const away = (one: Segment, column: Column | undefined): number =>
    column === undefined ? Number.POSITIVE_INFINITY : Math.abs(one.left + one.right - column.left - column.right)
  const off = segments.filter((one, index) => away(one, columns[index + 1]) < away(one, columns[index]))
  return off.length > segments.length / 2
}

/** Splits column names that are so close that they looked like one text. */
function parted(one: Segment, columns: readonly Column[]): Segment[] {
  const { from, to } = placeIn(one, columns)
  return one.parts.length > 1 && to > from ? one.parts : [one]
}

/** The name of a row stays in its column, even when it reaches into the columns of numbers. */
function headPlace(
  one: Segment,
  columns: readonly Column[],
  stub: number,
  names: boolean,
): { from: number; to: number } {
  if (names) {
    const set = columns.findIndex((column, index) => (index >= stub || stub === 0) && isSetTo(one, column))
    return set === -1 ? placeIn(one, columns) : { from: set, to: set }
  }
  const values = columns[stub]
  if (stub === 0 || values === undefined || one.left > values.left - 1.5 * one.size) return placeIn(one, columns)
  let place = 0
  for (let index = 1; index < stub; index++) if ((columns[index]?.left ?? 0) <= one.left + one.size) place = index
  return { from: place, to: place }
}

/** Removes leaders: `Revenue . . . . .` becomes `Revenue`. */
function withoutLeaders(text: string): string {
  let end = text.length
  let dots = 0
  while (end > 0 && /[.…·_\s]/.test(text.charAt(end - 1))) {
    if (text.charAt(end - 1) !== ' ') dots += text.charAt(end - 1) === '…' ? 3 : 1
    end--
  }
  return dots >= 3 && end > 0 ? text.slice(0, end) : text
}

/** Whether a line has only row names. */
export function isHeadOnly(line: Line, stub: number): boolean {
  return line.cells.every((cell) => cell.to < Math.max(1, stub))
}

/** Whether a line may name columns: hardly any of its values is a number other than a year. */
export function mayNameColumns(line: Line, stub: number): boolean {
  const values = line.cells.filter((cell) => cell.to >= stub)
  const figures = values.filter((cell) => cell.numeric && !isYear(cell.text) && !isNamePart(cell, values)).length
  return values.length > 0 && figures * HARDLY <= values.length
}

/**
 * Joins lines that form one row: a row name that continues in the next line, and in a table of words the further lines
 * of every cell.
 *
 * @param from the first line after the headers
 * @param together whether drawings show that two lines are one row, or are not; undefined when they show neither
 */
export function joinWrapped(
  lines: readonly Line[],
  columns: readonly Column[],
  stub: number,
  from: number,
  together: (upper: Line, lower: Line) => boolean | undefined,
): Line[] {
  const joined: Line[] = lines.slice(0, from)
  const width = (columns[stub]?.left ?? 0) - (columns[0]?.left ?? 0)
  for (const line of lines.slice(from)) {
    const last = joined.at(-1)
    if (last === undefined || joined.length <= from || !isOneRow(last, line, stub, width, together(last, line))) {
      joined.push(line)
      continue
    }
    for (const cell of line.cells) put(last, cell)
    last.bottom = line.bottom
  }
  return joined
}

function isOneRow(last: Line, line: Line, stub: number, width: number, drawn: boolean | undefined): boolean {
  if (drawn !== undefined) return drawn && !(hasValues(last, stub) && hasValues(line, stub) && stub > 0)
  const near = last.bottom - line.y <= WRAP_STEP * Math.max(line.size, last.size)
  const upper = last.cells[0]
  const lower = line.cells[0]
  if (!near || upper === undefined || lower === undefined) return false
  if (stub === 0) return lower.from > 0 && line.cells.every((cell) => !cell.numeric)
  if (lower.from >= stub || upper.from >= stub) return false
  const small = /^[\p{Ll}(]/u.test(lower.text)
  if (!hasValues(last, stub)) {
    if (upper.text.endsWith(':')) return false
    if (!hasValues(line, stub) && !small) return false
    const hangs = lower.left > upper.left + 0.3 * line.size && upper.right - upper.left > FULL * width
    return small || GOES_ON.test(upper.text) || hangs
  }
  return !hasValues(line, stub) && small
}

function hasValues(line: Line, stub: number): boolean {
  return line.cells.some((cell) => cell.to >= stub)
}

function put(line: Line, cell: Cell): void {
  const same = line.cells.find((one) => one.from <= cell.to && cell.from <= one.to)
  if (same === undefined) {
    line.cells.push(cell)
    line.cells.sort((a, b) => a.from - b.from)
    return
  }
  same.text += ` ${cell.text}`
  same.right = Math.max(same.right, cell.right)
}
