import type { Column } from './found-table.js'
import { findColumns, isYear } from './table-columns.js'
import { isHeadOnly, joinWrapped, type Line, linesOf, mayNameColumns } from './table-lines.js'
import type { Block } from './table-regions.js'
import type { Drawn } from './table-rules.js'
import { DAY, spreadHeads } from './table-spread.js'
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

/** A head above the first row with several cells stands at most so far over it (in text sizes), in so many words. */
const HEAD_STEP = 2.4
const MAX_HEAD_WORDS = 12
/** A name at half the height between two lines is so near to the lower one at most (in text sizes). */
const BESIDE = 0.95
/** A lone line so far over the names of columns (in text sizes) may be a title. */
const FAR_TITLE = 1.8
/** In points: a title in the middle of a whole table may be off it by so much. */
const TITLE_OFF = 16
/** A line across the whole table takes this share of its width. */
const ACROSS = 0.9

/** Puts the rows of a block into columns; nothing when there is only one. */
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

/** Whether the first column holds years, which name the rows: `2025  320`. */
function namesYears(rows: readonly Row[], columns: readonly Column[]): boolean {
  const right = columns[0]?.right ?? 0
  const firsts = rows.flatMap(({ segments: [one] }) => (one !== undefined && one.left < right ? [one] : []))
  const years = firsts.filter(({ text }) => isYear(text))
  return years.length >= 2 && years.length >= 0.7 * firsts.length && columns.length > 1
}

/** Rows right above that stand over the columns of values only: `Year ended December 31,`. */
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
      // kept where names of columns stand above it
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

/** A short line over the heads of rows alone: `(in millions)`, `Figures are rounded.` */
function isNoteOfUnits(row: Row, values: number, stubEnd: number): boolean {
  const [one, ...more] = row.segments
  return one !== undefined && more.length === 0 && !one.numeric && one.right < Math.min(values, stubEnd + 3 * row.size)
}

/** Whether a line names the column of heads of rows at half the height between two lines of names. */
function isBeside(row: Row, next: Row, values: number): boolean {
  return row.y - next.y < BESIDE * row.size && row.segments.every((one) => one.right < values - row.size)
}

/** Whether a lone line stands further from the rows than they from each other, with no line under it: a title. */
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

/** Whether the years right below complete a date, or each of several: `January 28, January 29,` over `2023 2022`. */
function isOpenDate(one: Segment, next: Row): boolean {
  const dates = one.parts.length > 0 ? one.parts : [one]
  return dates.every(({ text }) => DAY.test(text)) && next.segments.every(({ text }) => isYear(text))
}

/** Whether a text stands over values: clear of the heads of rows, and not in the middle of the whole table like a title. */
function isOver(one: Segment, columns: readonly Column[], values: number, stubEnd: number): boolean {
  if (one.numeric && !isYear(one.text)) return false
  if (one.left >= values) return true
  const middle = ((columns[0]?.left ?? 0) + (columns.at(-1)?.right ?? 0)) / 2
  return one.left > stubEnd + one.size && Math.abs((one.left + one.right) / 2 - middle) > TITLE_OFF
}

/** Puts names at half height beside the lines of names under them. @returns how many lines of names are left */
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

/** How many lines at the top name the columns. */
function countHeads(lines: readonly Line[], columns: readonly Column[], stub: number, drawn: Drawn): number {
  if (!columns.some((column) => column.numeric)) return headsOfWords(lines, drawn)
  const values = Math.max(1, stub)
  let heads = 0
  for (const [index, line] of lines.entries()) {
    // rows of years, as of dates on which something ends
    if (heads > 0 && [line, lines[index + 1]].every((one) => isRowOfYears(one, values))) break
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

/** `Sutent  2021  2022`: only one such line names columns. */
function isRowOfYears(line: Line | undefined, values: number): boolean {
  const [first, ...more] = line?.cells ?? []
  return first !== undefined && first.from < values && more.length > 0 && more.every((cell) => isYear(cell.text))
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
