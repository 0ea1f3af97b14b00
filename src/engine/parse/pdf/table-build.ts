import type { Column } from './found-table.js'
import { findColumns, isYear } from './table-columns.js'
import { type Cell, isHeadOnly, joinWrapped, type Line, linesOf, mayNameColumns } from './table-lines.js'
import type { Block } from './table-regions.js'
import type { Drawn, Rule } from './table-rules.js'
import type { Row, Segment } from './table-words.js'

/** A table still made of lines, before it is judged. */
export interface Draft {
  lines: Line[]
  headerRows: number
  stub: number
  columns: Column[]
  used: Row[]
  above: Row[]
  below: Row[]
}

interface Place {
  from: number
  to: number
}

/** A head above the first row with several cells stands at most so far over it (in text sizes), in so many words. */
const HEAD_STEP = 2.4
const MAX_HEAD_WORDS = 12
/** A line under a head is at most so far below it (in text sizes). */
const UNDERLINE = 1.3
/** A head reaches over so many columns at most to either side of where it stands. */
const MAX_SPREAD = 12
/** In points: the middle of a head and that of its columns differ by chance, and for a reason. */
const OFF_MIDDLE = 4
const FAR_OFF = 14
/** A name that stands alone over all columns of values may be off their middle by this share of their width. */
const LONE_OFF = 0.15
/** A line across the whole table takes this share of its width. */
const ACROSS = 0.9

/** Puts the rows of a block into columns; nothing when there is only one. */
export function draftOf(block: Block, drawn: Drawn): Draft | undefined {
  const columns = findColumns(block.rows)
  const first = columns.findIndex((column) => column.numeric)
  const stub = first === -1 ? (columns.length > 1 ? 0 : -1) : first
  if (columns.length < 2 || stub === -1) return undefined
  const heads = headsAbove(block, columns, stub)
  const used = [...heads, ...block.rows]
  const raw = linesOf(used, columns, stub)
  const headed = countHeads(raw, columns, stub, drawn)
  const lines = joinWrapped(raw, columns, stub, headed, (upper, lower) => drawnTogether(upper, lower, drawn))
  spreadHeads(lines.slice(0, headed), columns, stub, drawn)
  const above = block.above.slice(0, block.above.length - heads.length)
  return { lines, headerRows: headed, stub, columns, used, above, below: block.below }
}

/** Rows right above that stand over the columns of values only: `Year ended December 31,`. */
function headsAbove(block: Block, columns: readonly Column[], stub: number): Row[] {
  const heads: Row[] = []
  const values = columns[Math.max(1, stub)]
  let next = block.rows[0]
  if (values === undefined) return heads
  const stubEnd = block.rows.reduce((end, { segments }) => {
    const one = segments[0]
    return one !== undefined && segments.length > 1 && one.right < values.left ? Math.max(end, one.right) : end
  }, 0)
  for (const row of [...block.above].reverse()) {
    const words = row.segments.reduce((sum, one) => sum + one.text.split(' ').length, 0)
    const near = next !== undefined && row.y - next.y <= HEAD_STEP * Math.max(row.size, next.size)
    const alike = next !== undefined && row.size <= next.size * 1.2
    const over = row.segments.every((one) => isOver(one, columns, Math.max(values.left - 2 * row.size, 0), stubEnd))
    if (!over || !near || !alike || words > MAX_HEAD_WORDS || /[.;]$/.test(row.segments.at(-1)?.text ?? '')) break
    heads.unshift(row)
    next = row
  }
  return heads
}

/** Whether a text stands over values: clear of the heads of rows, and not in the middle of the whole table like a title. */
function isOver(one: Segment, columns: readonly Column[], values: number, stubEnd: number): boolean {
  if (one.numeric && !isYear(one.text)) return false
  if (one.left >= values) return true
  const middle = ((columns[0]?.left ?? 0) + (columns.at(-1)?.right ?? 0)) / 2
  return one.left > stubEnd + one.size && Math.abs((one.left + one.right) / 2 - middle) > OFF_MIDDLE * 4
}

/** How many lines at the top name the columns. */
function countHeads(lines: readonly Line[], columns: readonly Column[], stub: number, drawn: Drawn): number {
  if (!columns.some((column) => column.numeric)) return headsOfWords(lines, drawn)
  const values = Math.max(1, stub)
  let heads = 0
  for (const [index, line] of lines.entries()) {
    if (mayNameColumns(line, values) || (heads === index && mayBeNumbers(line, values))) heads = index + 1
    else if (!isHeadOnly(line, values)) break
    if (heads > 0 && isClosed(line, lines[index + 1], columns, drawn)) break
  }
  return heads < lines.length ? heads : 0
}

/** `737  747  Total`: numbers that name columns stand over no head of a row, and a word is among them. */
function mayBeNumbers(line: Line, values: number): boolean {
  const words = line.cells.filter((cell) => !cell.numeric)
  return words.length > 0 && line.cells.length >= 3 && line.cells.every((cell) => cell.from >= values)
}

/** Whether a line is drawn below a row across the whole table. */
function isClosed(line: Line, next: Line | undefined, columns: readonly Column[], drawn: Drawn): boolean {
  const left = columns[0]?.left ?? 0
  const right = columns.at(-1)?.right ?? 0
  return drawn.level.some(({ at, from, to }) => {
    const across = Math.min(to, right) - Math.max(from, left)
    return at < line.y && at > (next?.y ?? line.y) && across > ACROSS * (right - left)
  })
}

/** In a table of words, the lines above the first rule that runs below its first line; else the first. */
function headsOfWords(lines: readonly Line[], drawn: Drawn): number {
  const [first] = lines
  if (first === undefined || lines.length < 2) return 0
  for (const [index, line] of lines.slice(0, 4).entries()) {
    const next = lines[index + 1]
    if (next === undefined) break
    const ruled = drawn.level.some(
      (rule) => rule.at < line.y && rule.at > next.y + 0.2 * next.size && crosses(rule, line),
    )
    if (ruled) return index + 1
  }
  return 1
}

function crosses(rule: { from: number; to: number }, line: Line): boolean {
  const left = line.cells[0]?.left ?? 0
  const right = line.cells.at(-1)?.right ?? 0
  return Math.min(rule.to, right) - Math.max(rule.from, left) > 0.5 * (right - left)
}

/** Whether two lines stand in one filled stripe; unknown where they stand in none. */
function drawnTogether(upper: Line, lower: Line, drawn: Drawn): boolean | undefined {
  const left = Math.min(upper.cells[0]?.left ?? 0, lower.cells[0]?.left ?? 0)
  const inside = (y: number) => (stripe: Drawn['stripes'][number]) =>
    stripe.bottom <= y && y <= stripe.top && stripe.left <= left + 2 && left <= stripe.right
  const above = drawn.stripes.filter(inside(upper.bottom + 1))
  const below = drawn.stripes.filter(inside(lower.y + 1))
  if (above.length === 0 && below.length === 0) return undefined
  const shared = above.some((stripe) => below.includes(stripe) && stripe.top - stripe.bottom < 5.5 * lower.size)
  return shared ? true : above.length > 0 && below.length > 0 ? undefined : false
}

/** Heads that stand over several columns take them: by the line under them, else by their place in the middle. */
function spreadHeads(heads: readonly Line[], columns: readonly Column[], stub: number, drawn: Drawn): void {
  for (const [at, line] of heads.entries()) {
    const below = heads[at + 1]
    for (const [index, cell] of line.cells.entries()) {
      if (cell.to < stub) continue
      const over = heads[at - 1]?.cells.find((one) => one.to > one.from && one.from <= cell.from && one.to >= cell.to)
      const first = Math.max(over?.from ?? 0, (line.cells[index - 1]?.to ?? stub - 1) + 1)
      const last = Math.min(over?.to ?? columns.length, (line.cells[index + 1]?.from ?? columns.length) - 1)
      const drawnOver = underlined(cell, line, columns, drawn)
      const alone = isAlone(line, below, columns, stub)
      const place = drawnOver ?? centred(cell, columns, first, last, alone)
      if (drawnOver === undefined && below !== undefined && goesOnBelow(cell, place, below)) continue
      cell.from = Math.max(first, Math.min(cell.from, place.from))
      cell.to = Math.min(last, Math.max(cell.to, place.to))
    }
  }
  for (let at = heads.length - 2; at >= 0; at--) takeFromBelow(heads[at], heads[at + 1])
}

/** Whether a line has one name only, over a line that names every column of values. */
function isAlone(line: Line, below: Line | undefined, columns: readonly Column[], stub: number): boolean {
  const values = below?.cells.filter((cell) => cell.to >= stub) ?? []
  const years = values.filter((cell) => isYear(cell.text)).length
  const alike = years === 0 || years === values.length
  return line.cells.length === 1 && values.length >= 2 && values.length === columns.length - stub && alike
}

/** The upper lines of a head stand over the columns that its last line stands over. */
function takeFromBelow(line: Line | undefined, below: Line | undefined): void {
  for (const cell of line?.cells ?? []) {
    const under = below?.cells.filter((one) => one.from <= cell.to && one.to >= cell.from) ?? []
    const [only] = under
    if (under.length !== 1 || only === undefined || only.to - only.from <= cell.to - cell.from) continue
    const next = line?.cells[(line?.cells.indexOf(cell) ?? 0) + 1]
    if (!isSetLike(cell, only) || (next !== undefined && next.from <= only.to)) continue
    cell.from = only.from
    cell.to = only.to
  }
}

function isSetLike(one: Cell, other: Cell): boolean {
  const middle = (one.left + one.right - other.left - other.right) / 2
  return [one.left - other.left, one.right - other.right, middle].some((off) => Math.abs(off) < OFF_MIDDLE)
}

/** Whether the line below goes on with the same head, and does not name each of the columns under it. */
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

/** The most free columns whose middle is that of the head, or not much further from it than that of fewer. */
function centred(cell: Cell, columns: readonly Column[], first: number, last: number, alone: boolean): Place {
  const middle = (cell.left + cell.right) / 2
  const width = (columns[last]?.right ?? 0) - (columns[first]?.left ?? 0)
  if (alone && Math.abs((columns[first]?.left ?? 0) + width / 2 - middle) < width * LONE_OFF)
    return { from: first, to: last }
  const places: (Place & { off: number })[] = []
  for (let from = Math.max(first, cell.from - MAX_SPREAD); from <= cell.from; from++) {
    for (let to = cell.to; to <= Math.min(last, cell.to + MAX_SPREAD); to++) {
      const off = Math.abs(((columns[from]?.left ?? 0) + (columns[to]?.right ?? 0)) / 2 - middle)
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
