import type { TableColumn } from './found-table.js'
import { findColumns, isYear } from './table-columns.js'
import { joinHeaderLines, spreadSections } from './table-heads.js'
import { isHeadOnly, joinWrapped, mayNameColumns, type TableLine, toTableLines } from './table-lines.js'
import type { RowBlock } from './table-regions.js'
import type { PageDrawings } from './table-rules.js'
import { DAY_BEFORE_YEAR, spreadHeaders } from './table-spread.js'
import type { SegmentRow, TextSegment } from './table-words.js'

/** A table as lines of cells, before it is checked. The first `stub` columns name the rows. */
export interface TableDraft {
  lines: TableLine[]
  headerRows: number
  stub: number
  columns: TableColumn[]
  used: SegmentRow[]
  above: SegmentRow[]
  below: SegmentRow[]
}

/**
 * Maximal distance of a header above the first row with several cells, in text sizes, and its maximal number of words.
 */
const MAX_HEAD_STEP = 2.4
const MAX_HEAD_WORDS = 12
/** Maximal distance, in text sizes, of a name at half the height between two lines from the lower one. */
const MAX_HALF_STEP = 0.95
/** A lone line at least this far above the column names, in text sizes, may be a title. */
const MIN_TITLE_STEP = 1.8
/** Maximal offset of a centred title from the middle of the table, in points. */
const MAX_TITLE_OFFSET_PT = 16
/** A line across the table covers this fraction of its width. */
const MIN_ACROSS_FRACTION = 0.9

/** Arranges the rows of a block in columns; undefined when there is only one. */
export function createDraft(block: RowBlock, drawn: PageDrawings): TableDraft | undefined {
  const columns = findColumns(block.rows)
  const first = columns.findIndex((column) => column.numeric)
  const stub =
    first === -1 ? (columns.length > 1 ? 0 : -1) : first === 0 && isYearColumn(block.rows, columns) ? 1 : first
  if (columns.length < 2 || stub === -1) return undefined
  const rowsAbove = findHeadersAbove(block, columns, stub, drawn)
  const used = [...rowsAbove, ...block.rows]
  const raw = toTableLines(used, columns, stub)
  const nameLines = mergeHalfHeightNames(raw, countHeaderLines(raw, columns, stub, drawn), stub)
  const headerCount = joinHeaderLines(raw, nameLines, drawn)
  const lines = joinWrapped(raw, { columns, stub }, headerCount, (upper, lower) => isInSameStripe(upper, lower, drawn))
  spreadHeaders(lines, headerCount, { columns, stub, drawn })
  spreadSections(lines.slice(headerCount), columns, stub)
  const above = block.above.slice(0, block.above.length - rowsAbove.length)
  return { lines, headerRows: headerCount, stub, columns, used, above, below: block.below }
}

/** Whether the first column contains years that name the rows: `2025 320`. */
function isYearColumn(rows: readonly SegmentRow[], columns: readonly TableColumn[]): boolean {
  const right = columns[0]?.right ?? 0
  const firstCells = rows.flatMap(({ segments: [one] }) => (one !== undefined && one.left < right ? [one] : []))
  const years = firstCells.filter(({ text }) => isYear(text))
  return years.length >= 2 && years.length >= 0.7 * firstCells.length && columns.length > 1
}

/** Rows directly above that are only over the value columns: `Year ended December 31,`. */
function findHeadersAbove(
  block: RowBlock,
  columns: readonly TableColumn[],
  stub: number,
  drawn: PageDrawings,
): SegmentRow[] {
  const heads: SegmentRow[] = []
  const values = columns[Math.max(1, stub)]
  let next = block.rows[0]
  let pendingUnits: SegmentRow[] = []
  if (values === undefined) return heads
  const stubEnd = block.rows.reduce((end, { segments }) => {
    const one = segments[0]
    return one !== undefined && segments.length > 1 && one.right < values.left ? Math.max(end, one.right) : end
  }, 0)
  for (const row of [...block.above].reverse()) {
    const words = row.segments.reduce((sum, one) => sum + one.text.split(' ').length, 0)
    const isNear = next !== undefined && row.y - next.y <= MAX_HEAD_STEP * Math.max(row.size, next.size)
    const isSimilarSize = next !== undefined && row.size <= next.size * 1.2
    if (next !== undefined && isFarTitle(row, next, block.rows, drawn)) break
    const isHalfHeight = next !== undefined && isAtHalfHeight(row, next, values.left)
    const isOverValueColumns =
      isHalfHeight ||
      row.segments.every((one) => isOverValues(one, columns, Math.max(values.left - 2 * row.size, 0), stubEnd))
    if (isNear && isUnitsNote(row, values.left, stubEnd) && pendingUnits.length === 0 && next !== undefined) {
      // included only when column names follow above it
      pendingUnits = [row]
      next = { ...row, size: Math.max(row.size, next.size) }
      continue
    }
    if (
      !isOverValueColumns ||
      !isNear ||
      !isSimilarSize ||
      words > MAX_HEAD_WORDS ||
      /[.;]$/.test(row.segments.at(-1)?.text ?? '')
    )
      break
    heads.unshift(row, ...pendingUnits)
    pendingUnits = []
    next = row
  }
  return heads
}

/** A short line only over the row names: `(in millions)`, `Figures are rounded.` */
function isUnitsNote(row: SegmentRow, values: number, stubEnd: number): boolean {
  const [one, ...more] = row.segments
  return one !== undefined && more.length === 0 && !one.numeric && one.right < Math.min(values, stubEnd + 3 * row.size)
}

/** Whether a line names the column of row names, at half the height between two header lines. */
function isAtHalfHeight(row: SegmentRow, next: SegmentRow, values: number): boolean {
  return row.y - next.y < MAX_HALF_STEP * row.size && row.segments.every((one) => one.right < values - row.size)
}

/**
 * Whether a lone line is further from the rows than these from each other, without a rule below it, so that it is a
 * title.
 */
function isFarTitle(row: SegmentRow, next: SegmentRow, rows: readonly SegmentRow[], drawn: PageDrawings): boolean {
  const [one] = row.segments
  const gap = row.y - next.y
  if (one === undefined || row.segments.length > 1 || gap < MIN_TITLE_STEP * row.size || rows.length < 3) return false
  if (isOpenDate(one, next)) return false
  const steps = rows.slice(1).map(({ y }, index) => (rows[index]?.y ?? y) - y)
  const medianStep = steps.sort((a, b) => a - b)[steps.length >> 1] ?? gap
  const hasRule = drawn.level.some(
    ({ at, from, to }) => at < row.y && at > next.y && from <= one.left + 3 && to >= one.right - 3,
  )
  return gap > 1.5 * medianStep && !hasRule
}

/** Whether the years directly below complete a date, or several dates: `January 28, January 29,` over `2023 2022`. */
function isOpenDate(one: TextSegment, next: SegmentRow): boolean {
  const dates = one.parts.length > 0 ? one.parts : [one]
  return dates.every(({ text }) => DAY_BEFORE_YEAR.test(text)) && next.segments.every(({ text }) => isYear(text))
}

/** Whether a text is over values: clear of the row names, and not centred over the table like a title. */
function isOverValues(one: TextSegment, columns: readonly TableColumn[], values: number, stubEnd: number): boolean {
  if (one.numeric && !isYear(one.text)) return false
  if (one.left >= values) return true
  const middle = ((columns[0]?.left ?? 0) + (columns.at(-1)?.right ?? 0)) / 2
  return one.left > stubEnd + one.size && Math.abs((one.left + one.right) / 2 - middle) > MAX_TITLE_OFFSET_PT
}

/** Merges names at half height into the header lines below them. @returns the number of remaining header lines */
function mergeHalfHeightNames(lines: TableLine[], headerCount: number, stub: number): number {
  let remaining = headerCount
  for (let index = remaining - 2; index >= 0; index--) {
    const [line, below] = [lines[index], lines[index + 1]]
    if (line === undefined || below === undefined || !isHeadOnly(line, stub)) continue
    const isTaken = below.cells.some((cell) => line.cells.some((one) => one.from <= cell.to && cell.from <= one.to))
    if (line.y - below.y >= MAX_HALF_STEP * line.size || isTaken) continue
    below.cells.unshift(...line.cells)
    lines.splice(index, 1)
    remaining--
  }
  return remaining
}

/** Counts the lines at the top that name the columns. */
function countHeaderLines(
  lines: readonly TableLine[],
  columns: readonly TableColumn[],
  stub: number,
  drawn: PageDrawings,
): number {
  if (!columns.some((column) => column.numeric)) return countHeadersOfWords(lines, drawn)
  const values = Math.max(1, stub)
  let headerLines = 0
  for (const [index, line] of lines.entries()) {
    // rows of years, for example of expiry dates
    if (headerLines > 0 && [line, lines[index + 1]].every((one) => isRowOfYears(one, values))) break
    if (mayNameColumns(line, values) || (headerLines === index && mayBeNumbers(line, values))) headerLines = index + 1
    else if (!isHeadOnly(line, values)) break
    if (headerLines > 0 && isClosed(line, lines[index + 1], columns, drawn)) break
  }
  return headerLines < lines.length ? headerLines : 0
}

/** `737 747 Total`: numbers as column names are not over row names, and a word is among them. */
function mayBeNumbers(line: TableLine, values: number): boolean {
  const words = line.cells.filter((cell) => !cell.numeric)
  return words.length > 0 && line.cells.length >= 3 && line.cells.every((cell) => cell.from >= values)
}

/** `Sutent 2021 2022`: only one such line names columns. */
function isRowOfYears(line: TableLine | undefined, values: number): boolean {
  const [first, ...more] = line?.cells ?? []
  return first !== undefined && first.from < values && more.length > 0 && more.every((cell) => isYear(cell.text))
}

/** Whether a rule across the table is drawn below a row. */
function isClosed(
  line: TableLine,
  next: TableLine | undefined,
  columns: readonly TableColumn[],
  drawn: PageDrawings,
): boolean {
  const left = columns[0]?.left ?? 0
  const right = columns.at(-1)?.right ?? 0
  return drawn.level.some(({ at, from, to }) => {
    const width = Math.min(to, right) - Math.max(from, left)
    return at < line.y && at > (next?.y ?? line.y) && width > MIN_ACROSS_FRACTION * (right - left)
  })
}

/** In a table of words: the number of lines above the first rule below its first line; else one. */
function countHeadersOfWords(lines: readonly TableLine[], drawn: PageDrawings): number {
  const [first] = lines
  if (first === undefined || lines.length < 2) return 0
  for (const [index, line] of lines.slice(0, 4).entries()) {
    const next = lines[index + 1]
    if (next === undefined) break
    const hasRule = drawn.level.some(
      (rule) => rule.at < line.y && rule.at > next.y + 0.2 * next.size && crosses(rule, line),
    )
    if (hasRule) return index + 1
  }
  return 1
}

function crosses(rule: { from: number; to: number }, line: TableLine): boolean {
  const left = line.cells[0]?.left ?? 0
  const right = line.cells.at(-1)?.right ?? 0
  return Math.min(rule.to, right) - Math.max(rule.from, left) > 0.5 * (right - left)
}

/** Whether two lines are in one filled stripe; undefined when neither is in a stripe or both are in different ones. */
function isInSameStripe(upper: TableLine, lower: TableLine, drawn: PageDrawings): boolean | undefined {
  const left = Math.min(upper.cells[0]?.left ?? 0, lower.cells[0]?.left ?? 0)
  const containsY = (y: number) => (stripe: PageDrawings['stripes'][number]) =>
    stripe.bottom <= y && y <= stripe.top && stripe.left <= left + 2 && left <= stripe.right
  const above = drawn.stripes.filter(containsY(upper.bottom + 1))
  const below = drawn.stripes.filter(containsY(lower.y + 1))
  if (above.length === 0 && below.length === 0) return undefined
  const isShared = above.some((stripe) => below.includes(stripe) && stripe.top - stripe.bottom < 5.5 * lower.size)
  return isShared ? true : above.length > 0 && below.length > 0 ? undefined : false
}
