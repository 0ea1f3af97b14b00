import type { Column } from './found-table.js'
import { isYear } from './table-columns.js'
import type { Cell, Line } from './table-lines.js'
import type { Drawn, Rule } from './table-rules.js'
import { FAR_OFF, overOf, type Place, type Room, shareOut } from './table-share.js'

/** Maximal distance of an underline below a header, in text sizes. */
const UNDERLINE = 1.3
/** Maximal distance between lines of one name, in text sizes. */
const WRAPPED = 1.4
/** Maximal number of columns that a header covers on either side of its position. */
const MAX_SPREAD = 12
/** Tolerance between the middles of a header and of its columns, in points. */
const OFF_MIDDLE = 4
/** Maximal offset of a single name over all value columns from their middle, as a fraction of their width. */
const LONE_OFF = 0.15
/** Limits of header lines and columns; tables with more do not occur, or are not readable. */
const MAX_HEADS = 30
const MAX_COLUMNS = 60
/** A date to be completed by a year: `December 31,` */
export const DAY = /^\p{Lu}\p{L}{2,9}\.? \d{1,2},$/u
/** A header to be completed by years below it: `Year ended December 31,` */
const OPEN_DATE = /,$|\b(?:ended|ending|as of|as at)\b/i

/**
 * Determines the columns that each header covers: by the underline, by repeated column names below, else by its centred
 * position. Changes `from` and `to` of the cells.
 *
 * @param headerCount number of lines that name columns
 */
export function spreadHeads(
  lines: readonly Line[],
  headed: number,
  columns: readonly Column[],
  stub: number,
  drawn: Drawn,
): void {
  if (headed > MAX_HEADS || columns.length > MAX_COLUMNS) return
  const heads = lines.slice(0, headed)
  const rooms = roomsOf(lines, columns, drawn)
  for (const [at, line] of heads.entries()) {
    const rest = heads.slice(at + 1)
    const own = valuesOf(line, stub)
    if (own.length > 1) spreadNames(own, line, rest, heads[at - 1], { rooms, columns, stub, drawn })
    else if (own.length === 1) spreadLone(own, line, rest, heads[at - 1], { rooms, columns, stub, drawn })
  }
  for (let at = heads.length - 2; at >= 0; at--) takeFromBelow(heads[at], heads[at + 1])
}

interface Frame {
  rooms: readonly Room[]
  columns: readonly Column[]
  stub: number
  drawn: Drawn
}

/** Handles a line with one name. */
function spreadLone(
  own: readonly Cell[],
  line: Line,
  rest: readonly Line[],
  upper: Line | undefined,
  frame: Frame,
): void {
  const [cell] = own
  const [below] = rest
  const { rooms, columns, stub, drawn } = frame
  if (cell === undefined) return
  const end = columns.length - 1
  const drawnOver = underlined(cell, line, columns, drawn)
  const alone = isAlone(rest, columns, stub)
  const over = alone && valuesOf(upper, stub).length > 1 ? undefined : overOf(cell, upper)
  if (drawnOver === undefined && alone && over === undefined && wantsAll(cell, rest, stub)) {
    Object.assign(cell, { from: stub, to: end })
    return
  }
  if (drawnOver === undefined && wrapsOver(cell, line, below)) return
  const [first, last] = [Math.max(over?.from ?? 0, stub), Math.min(over?.to ?? end, end)]
  const place = drawnOver ?? centred(cell, rooms, first, last, alone)
  if (drawnOver === undefined && below !== undefined && goesOnBelow(cell, place, below)) return
  widen(cell, place, first, last)
}

/** Handles a line with several names. */
function spreadNames(
  own: readonly Cell[],
  line: Line,
  rest: readonly Line[],
  upper: Line | undefined,
  frame: Frame,
): void {
  const [below] = rest
  const { rooms, columns, stub, drawn } = frame
  const fixed = new Map<Cell, Place>()
  for (const cell of own) {
    const place = underlined(cell, line, columns, drawn)
    if (place !== undefined) fixed.set(cell, place)
    else if (wrapsOver(cell, line, below)) fixed.set(cell, cell)
  }
  const again = groupsOf(own, rest, rooms, stub)
  const open = fixed.size < own.length && rest.length > 0
  const groups = again ?? (open ? shareOut(own, fixed, upper, rooms, stub) : undefined)
  for (const [index, cell] of own.entries()) {
    const over = overOf(cell, upper)
    const first = Math.max(over?.from ?? 0, (own[index - 1]?.to ?? stub - 1) + 1)
    const last = Math.min(over?.to ?? columns.length, (own[index + 1]?.from ?? columns.length) - 1)
    const known = again === undefined ? fixed.get(cell) : undefined
    const group = groups?.get(cell)
    if (known !== undefined) widen(cell, known, first, last)
    else if (group !== undefined) Object.assign(cell, group)
    else {
      const place = centred(cell, rooms, first, last, false)
      if (below === undefined || !goesOnBelow(cell, place, below)) widen(cell, place, first, last)
    }
  }
}

function widen(cell: Cell, place: Place, first: number, last: number): void {
  cell.from = Math.max(first, Math.min(cell.from, place.from))
  cell.to = Math.min(last, Math.max(cell.to, place.to))
}

function valuesOf(line: Line | undefined, stub: number): Cell[] {
  return line?.cells.filter((cell) => cell.to >= stub) ?? []
}

/** The extent of each column: rules drawn for only this column define it, else its contents. */
function roomsOf(lines: readonly Line[], columns: readonly Column[], drawn: Drawn): Room[] {
  const top = (lines[0]?.y ?? 0) + (lines[0]?.size ?? 0)
  const last = lines.at(-1)
  const bottom = (last?.bottom ?? 0) - 2 * (last?.size ?? 0)
  const rooms = columns.map(({ left, right }) => ({ left, right }))
  for (const { at, from, to } of drawn.level) {
    if (at > top || at < bottom) continue
    const [index, ...more] = columns.flatMap(({ left, right }, place) =>
      (left + right) / 2 > from && (left + right) / 2 < to ? [place] : [],
    )
    const room = index === undefined ? undefined : rooms[index]
    if (room === undefined || index === undefined || more.length > 0) continue
    if (from < (columns[index - 1]?.right ?? from) || to > (columns[index + 1]?.left ?? to)) continue
    room.left = Math.min(room.left, from)
    room.right = Math.max(room.right, to)
  }
  return rooms
}

/** Whether a name is the upper line of exactly one name below it: of similar size, close, aligned, both words. */
function wrapsOver(cell: Cell, line: Line, below: Line | undefined): boolean {
  if (below === undefined || line.y - below.y > WRAPPED * line.size || isYear(cell.text)) return false
  if (Math.abs(line.size - below.size) > 0.08 * line.size) return false
  const under = below.cells.filter((one) => one.left < cell.right && cell.left < one.right)
  const [only] = under
  const words = only?.numeric === false || DAY.test(cell.text)
  return under.length === 1 && only !== undefined && words && isSetLike(cell, only)
}

/** Column ranges of several names when the lines below repeat the same column names for each: `2022 2021 2022 2021`. */
function groupsOf(
  over: readonly Cell[],
  rest: readonly Line[],
  rooms: readonly Room[],
  stub: number,
): Map<Cell, Place> | undefined {
  const names = namesBelow(rest, rooms.length, stub)
  const each = names.length / over.length
  if (over.length < 2 || each < 2 || !Number.isInteger(each)) return undefined
  if (names.some((text, index) => text === '' || text !== names[index % each])) return undefined
  if (new Set(over.map(({ text }) => text)).size < over.length) return undefined
  const groups = new Map<Cell, Place>()
  for (const [index, cell] of over.entries()) {
    const [from, to] = [stub + index * each, stub + (index + 1) * each - 1]
    if (cell.right <= (rooms[from]?.left ?? 0) || cell.left >= (rooms[to]?.right ?? 0)) return undefined
    groups.set(cell, { from, to })
  }
  return groups
}

/** The names of each value column in the lines below. */
function namesBelow(rest: readonly Line[], width: number, stub: number): string[] {
  const names = new Array<string>(Math.max(0, width - stub)).fill('')
  for (const cell of rest.flatMap((line) => line.cells)) {
    if (cell.from !== cell.to || cell.from < stub) continue
    names[cell.from - stub] = `${names[cell.from - stub] ?? ''} ${cell.text}`.trim()
  }
  return names
}

/** Whether the lines below a single name name each value column, all or none of them by years. */
function isAlone(rest: readonly Line[], columns: readonly Column[], stub: number): boolean {
  const names = namesBelow(rest, columns.length, stub)
  const years = names.filter((text) => isYear(text)).length
  return names.length >= 2 && names.every((text) => text !== '') && (years === 0 || years === names.length)
}

/** Whether a single name is for all columns: a year, or a text that years complete (`As of December 31,`). */
function wantsAll(cell: Cell, rest: readonly Line[], stub: number): boolean {
  if (isYear(cell.text)) return true
  return (
    OPEN_DATE.test(cell.text) &&
    valuesOf(rest[0], stub).length > 1 &&
    valuesOf(rest[0], stub).every(({ text }) => isYear(text))
  )
}

/** The upper lines of a header cover the columns that its last line covers. */
function takeFromBelow(line: Line | undefined, below: Line | undefined): void {
  for (const [index, cell] of line?.cells.entries() ?? []) {
    const under = below?.cells.filter((one) => one.from <= cell.to && one.to >= cell.from) ?? []
    const [only] = under
    if (under.length !== 1 || only === undefined || only.to - only.from <= cell.to - cell.from) continue
    const [before, next] = [line?.cells[index - 1], line?.cells[index + 1]]
    const taken = (next !== undefined && next.from <= only.to) || (before !== undefined && before.to >= only.from)
    if (!isSetLike(cell, only) || taken) continue
    cell.from = only.from
    cell.to = only.to
  }
}

function isSetLike(one: Cell, other: Cell): boolean {
  const middle = (one.left + one.right - other.left - other.right) / 2
  return [one.left - other.left, one.right - other.right, middle].some((off) => Math.abs(off) < OFF_MIDDLE)
}

/** Whether the line below continues the same header and does not name each of the columns below it. */
function goesOnBelow(cell: Cell, place: { from: number; to: number }, below: Line): boolean {
  const under = below.cells.filter((one) => one.to >= place.from && one.from <= place.to)
  if (under.length > place.to - place.from) return false
  return under.some((one) => one.from <= cell.to && one.to >= cell.from && isSetLike(one, cell))
}

function underlined(cell: Cell, line: Line, columns: readonly Column[], drawn: Drawn): Place | undefined {
  let rule: Rule | undefined
  for (const one of drawn.level) {
    const near =
      one.at < line.y && one.at > line.y - UNDERLINE * line.size && one.at > (rule?.at ?? Number.NEGATIVE_INFINITY)
    if (near && one.from <= cell.left + 3 && one.to >= cell.right - 3) rule = one
  }
  if (rule === undefined || rule.from <= (columns[0]?.left ?? 0) + 3) return undefined
  const { from: left, to: right } = rule
  const under = columns.flatMap((column, index) => {
    const shared = Math.min(column.right, right) - Math.max(column.left, left)
    return shared > 0.5 * (column.right - column.left) ? [index] : []
  })
  const from = under[0]
  const to = under.at(-1)
  return from === undefined || to === undefined ? undefined : { from, to }
}

/** The largest column range whose middle is that of the header, or not much further from it than the nearest one. */
function centred(cell: Cell, rooms: readonly Room[], first: number, last: number, alone: boolean): Place {
  const middle = (cell.left + cell.right) / 2
  const width = (rooms[last]?.right ?? 0) - (rooms[first]?.left ?? 0)
  if (alone && Math.abs((rooms[first]?.left ?? 0) + width / 2 - middle) < width * LONE_OFF)
    return { from: first, to: last }
  const places: (Place & { off: number })[] = []
  for (let from = Math.max(first, cell.from - MAX_SPREAD); from <= cell.from; from++) {
    for (let to = cell.to; to <= Math.min(last, cell.to + MAX_SPREAD); to++) {
      const off = Math.abs(((rooms[from]?.left ?? 0) + (rooms[to]?.right ?? 0)) / 2 - middle)
      if (off < FAR_OFF) places.push({ from, to, off })
    }
  }
  const least = places.reduce((nearest, { off }) => Math.min(nearest, off), FAR_OFF)
  let best: Place = cell
  for (const place of places) {
    if (place.off <= least + OFF_MIDDLE && place.to - place.from > best.to - best.from) best = place
  }
  return best
}
