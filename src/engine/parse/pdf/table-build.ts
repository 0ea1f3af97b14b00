import type { Column } from './found-table.js'
import { findColumns, isYear } from './table-columns.js'
import { isHeadOnly, joinWrapped, type Line, linesOf, mayNameColumns } from './table-lines.js'
import type { Block } from './table-regions.js'
import type { Drawn } from './table-rules.js'
import { DAY, spreadHeads } from './table-spread.js'
import type { Row, Segment } from './table-words.js'

/** A table as lines of cells, before it is checked. The first `stub` columns name the rows. */
export interface Draft {
  lines: Line[]
  headerRows: number
  stub: number
  columns: Column[]
  used: Row[]
  above: Row[]
  below: Row[]
}

/**
 * Maximal distance of a header above the first row with several cells, in text sizes, and its maximal number of words.
 */
const HEAD_STEP = 2.4
const MAX_HEAD_WORDS = 12
/** Maximal distance, in text sizes, of a name at half the height between two lines from the lower one. */
const BESIDE = 0.95
/** A lone line at least this far above the column names, in text sizes, may be a title. */
const FAR_TITLE = 1.8
/** Maximal offset of a centred title from the middle of the table, in points. */
const TITLE_OFF = 16
/** A line across the table covers this fraction of its width. */
const ACROSS = 0.9

/** Arranges the rows of a block in columns; undefined when there is only one. */
export function draftOf(block: Block, drawn: Drawn): Draft | undefined {
  const columns = findColumns(block.rows)
  const first = columns.findIndex((column) => column.numeric)
  const stub = first === -1 ? (columns.length > 1 ? 0 : -1) : first === 0 && namesYears(block.rows, columns) ? 1 : first
  if (columns.length < 2 || stub === -1) return undefined
  const heads = headsAbove(block, columns, stub, drawn)
  const used = [...heads, ...block.rows]
  const raw = linesOf(used, columns, stub)
  const headed = withBeside(raw, countHeads(raw, columns, stub, drawn), stub)
  const lines = joinWrapped(raw, columns, stub, headed, (upper, lower) => drawnTogether(upper, lower, drawn))
  spreadHeads(lines, headed, columns, stub, drawn)
  const above = block.above.slice(0, block.above.length - heads.length)
  return { lines, headerRows: headed, stub, columns, used, above, below: block.below }
}

/** Whether the first column contains years that name the rows: `2025 320`. */
function namesYears(rows: readonly Row[], columns: readonly Column[]): boolean {
  const right = columns[0]?.right ?? 0
  const firsts = rows.flatMap(({ segments: [one] }) => (one !== undefined && one.left < right ? [one] : []))
  const years = firsts.filter(({ text }) => isYear(text))
  return years.length >= 2 && years.length >= 0.7 * firsts.length && columns.length > 1
}

/** Rows directly above that are only over the value columns: `Year ended December 31,`. */
function headsAbove(block: Block, columns: readonly Column[], stub: number, drawn: Drawn): Row[] {
  const heads: Row[] = []
  const values = columns[Math.max(1, stub)]
  let next = block.rows[0]
  let held: Row[] = []
  if (values === undefined) return heads
  const stubEnd = block.rows.reduce((end, { segments }) => {
    const one = segments[0]
    return one !== undefined && segments.length > 1 && one.right < values.left ? Math.max(end, one.right) : end
  }, 0)
  for (const row of [...block.above].reverse()) {
    const words = row.segments.reduce((sum, one) => sum + one.text.split(' ').length, 0)
    const near = next !== undefined && row.y - next.y <= HEAD_STEP * Math.max(row.size, next.size)
    const alike = next !== undefined && row.size <= next.size * 1.2
    if (next !== undefined && isFarTitle(row, next, block.rows, drawn)) break
    const beside = next !== undefined && isBeside(row, next, values.left)
    const over =
      beside || row.segments.every((one) => isOver(one, columns, Math.max(values.left - 2 * row.size, 0), stubEnd))
    if (near && isNoteOfUnits(row, values.left, stubEnd) && held.length === 0 && next !== undefined) {
      // included only when column names follow above it
      held = [row]
      next = { ...row, size: Math.max(row.size, next.size) }
      continue
    }
    if (!over || !near || !alike || words > MAX_HEAD_WORDS || /[.;]$/.test(row.segments.at(-1)?.text ?? '')) break
    heads.unshift(row, ...held)
    held = []
    next = row
  }
  return heads
}

/** A short line only over the row names: `(in millions)`, `Figures are rounded.` */
function isNoteOfUnits(row: Row, values: number, stubEnd: number): boolean {
  const [one, ...more] = row.segments
  return one !== undefined && more.length === 0 && !one.numeric && one.right < Math.min(values, stubEnd + 3 * row.size)
}

/** Whether a line names the column of row names, at half the height between two header lines. */
function isBeside(row: Row, next: Row, values: number): boolean {
  return row.y - next.y < BESIDE * row.size && row.segments.every((one) => one.right < values - row.size)
}

/**
 * Whether a lone line is further from the rows than these from each other, without a rule below it, so that it is a
 * title.
 */
function isFarTitle(row: Row, next: Row, rows: readonly Row[], drawn: Drawn): boolean {
  const [one] = row.segments
  const gap = row.y - next.y
  if (one === undefined || row.segments.length > 1 || gap < FAR_TITLE * row.size || rows.length < 3) return false
  if (isOpenDate(one, next)) return false
  const steps = rows.slice(1).map(({ y }, index) => (rows[index]?.y ?? y) - y)
  const usual = steps.sort((a, b) => a - b)[steps.length >> 1] ?? gap
  const ruled = drawn.level.some(
    ({ at, from, to }) => at < row.y && at > next.y && from <= one.left + 3 && to >= one.right - 3,
  )
  return gap > 1.5 * usual && !ruled
}

/** Whether the years directly below complete a date, or several dates: `January 28, January 29,` over `2023 2022`. */
function isOpenDate(one: Segment, next: Row): boolean {
  const dates = one.parts.length > 0 ? one.parts : [one]
  return dates.every(({ text }) => DAY.test(text)) && next.segments.every(({ text }) => isYear(text))
}

/** Whether a text is over values: clear of the row names, and not centred over the table like a title. */
function isOver(one: Segment, columns: readonly Column[], values: number, stubEnd: number): boolean {
  if (one.numeric && !isYear(one.text)) return false
  if (one.left >= values) return true
  const middle = ((columns[0]?.left ?? 0) + (columns.at(-1)?.right ?? 0)) / 2
  return one.left > stubEnd + one.size && Math.abs((one.left + one.right) / 2 - middle) > TITLE_OFF
}

/** Merges names at half height into the header lines below them. @returns the number of remaining header lines */
function withBeside(lines: Line[], headed: number, stub: number): number {
  let left = headed
  for (let at = left - 2; at >= 0; at--) {
    const [line, below] = [lines[at], lines[at + 1]]
    if (line === undefined || below === undefined || !isHeadOnly(line, stub)) continue
    const taken = below.cells.some((cell) => line.cells.some((one) => one.from <= cell.to && cell.from <= one.to))
    if (line.y - below.y >= BESIDE * line.size || taken) continue
    below.cells.unshift(...line.cells)
    lines.splice(at, 1)
    left--
  }
  return left
}

/** Counts the lines at the top that name the columns. */
function countHeads(lines: readonly Line[], columns: readonly Column[], stub: number, drawn: Drawn): number {
  if (!columns.some((column) => column.numeric)) return headsOfWords(lines, drawn)
  const values = Math.max(1, stub)
  let heads = 0
  for (const [index, line] of lines.entries()) {
    // rows of years, for example of expiry dates
    if (heads > 0 && [line, lines[index + 1]].every((one) => isRowOfYears(one, values))) break
    if (mayNameColumns(line, values) || (heads === index && mayBeNumbers(line, values))) heads = index + 1
    else if (!isHeadOnly(line, values)) break
    if (heads > 0 && isClosed(line, lines[index + 1], columns, drawn)) break
  }
  return heads < lines.length ? heads : 0
}

/** `737 747 Total`: numbers as column names are not over row names, and a word is among them. */
function mayBeNumbers(line: Line, values: number): boolean {
  const words = line.cells.filter((cell) => !cell.numeric)
  return words.length > 0 && line.cells.length >= 3 && line.cells.every((cell) => cell.from >= values)
}

/** `Sutent 2021 2022`: only one such line names columns. */
function isRowOfYears(line: Line | undefined, values: number): boolean {
  const [first, ...more] = line?.cells ?? []
  return first !== undefined && first.from < values && more.length > 0 && more.every((cell) => isYear(cell.text))
}

/** Whether a rule across the table is drawn below a row. */
function isClosed(line: Line, next: Line | undefined, columns: readonly Column[], drawn: Drawn): boolean {
  const left = columns[0]?.left ?? 0
  const right = columns.at(-1)?.right ?? 0
  return drawn.level.some(({ at, from, to }) => {
    const across = Math.min(to, right) - Math.max(from, left)
    return at < line.y && at > (next?.y ?? line.y) && across > ACROSS * (right - left)
  })
}

/** In a table of words: the number of lines above the first rule below its first line; else one. */
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

/** Whether two lines are in one filled stripe; undefined when neither is in a stripe or both are in different ones. */
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
