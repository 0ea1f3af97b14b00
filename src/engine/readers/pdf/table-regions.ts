import { isNumberedCaption } from './table-captions.js'
import { hasNumbers, isYear } from './table-columns.js'
import { groupByBaseline, type SegmentRow, type TextSegment } from './table-words.js'

/** Rows of a page that may be one table, with the rows directly above and below it. */
export interface RowBlock {
  /** Rows above that may name it or head its columns, nearest last. */
  above: SegmentRow[]
  rows: SegmentRow[]
  below: SegmentRow[]
}

/** Minimal width of a line of prose, as a fraction of the page's width, and its minimal number of words. */
const MIN_PROSE_FRACTION = 0.22
const MIN_PROSE_WORDS = 4
/** A single line at least this wide, as a fraction of the page's width, shows that a column of prose continues. */
const MIN_PROSE_LINE_FRACTION = 0.33
/** Minimal number of rows with prose on both sides that make two columns of a page. */
const MIN_GUTTER_ROWS = 4
/** Step and maximal width of the search for a gutter, in points. */
const GUTTER_STEP_PT = 4
const MAX_GUTTER_PT = 240
/** Minimal fraction of the lines of a column of prose that start at one position, and its tolerance in points. */
const MIN_FLUSH_FRACTION = 0.4
const FLUSH_STEP_PT = 5
/** Maximal distance between rows of a table, in text sizes. */
const MAX_STEP = 3.4
/** A line in larger letters is a heading below the table. */
const MAX_SIZE_RATIO = 1.25
/** Maximal number of lines without cells between two rows with cells: section headers, continued text. */
const MAX_SINGLES = 4
/** Maximal number of such lines that reach below the columns of numbers. */
const MAX_WIDE = 2
const MAX_ABOVE = 6
/** Maximal number of lines of column names, including the first numbers below them. */
const MAX_NAME_LINES = 6
/** A sentence that introduces another table. */
const INTRODUCTION = /\bfollow(?:s|ing)\b.{0,200}:$/i

/** Splits a page into regions that are searched separately: each column next to a gutter, else the entire width. */
export function splitRegions(rows: readonly SegmentRow[]): SegmentRow[][] {
  const gutter = findGutter(rows)
  if (gutter === undefined) return [[...rows]]
  const regions: SegmentRow[][] = []
  let fullWidthRows: SegmentRow[] = []
  for (let index = 0; index < rows.length; ) {
    const end = findBandEnd(rows, index, gutter.at, gutter.width)
    if (end === index) {
      const row = rows[index]
      if (row !== undefined) fullWidthRows.push(row)
      index++
      continue
    }
    if (fullWidthRows.length > 0) regions.push(fullWidthRows)
    fullWidthRows = []
    const band = rows.slice(index, end)
    regions.push(
      selectSide(band, (one) => one.left + one.right < 2 * gutter.at),
      selectSide(band, (one) => one.left + one.right >= 2 * gutter.at),
    )
    index = end
  }
  if (fullWidthRows.length > 0) regions.push(fullWidthRows)
  return regions.filter((region) => region.length > 0)
}

/** The rows of one column; their baselines need not match those of the other column. */
function selectSide(rows: readonly SegmentRow[], isOnSide: (one: TextSegment) => boolean): SegmentRow[] {
  const sideRows = groupByBaseline(rows.flatMap((row) => row.segments.filter(isOnSide)))
  for (const row of sideRows) row.segments.sort((a, b) => a.left - b.left)
  return sideRows
}

/** Index after the rows from `start` on that the gutter separates, when prose next to it shows this at both ends. */
function findBandEnd(rows: readonly SegmentRow[], start: number, gutter: number, width: number): number {
  const first = rows[start]
  if (first === undefined || !showsGutter(first, gutter, width)) return start
  let end = start
  for (let index = start; index < rows.length; index++) {
    const row = rows[index]
    if (row === undefined || row.segments.some((one) => crossesGutter(one, gutter))) break
    if (showsGutter(row, gutter, width)) end = index + 1
  }
  return end
}

function crossesGutter(one: TextSegment, gutter: number): boolean {
  return one.left < gutter - one.size && one.right > gutter + one.size
}

function showsGutter(row: SegmentRow, gutter: number, width: number): boolean {
  const isProse = row.segments.some((one) => isWordy(one) && one.right - one.left > MIN_PROSE_LINE_FRACTION * width)
  return isProse && !row.segments.some((one) => crossesGutter(one, gutter))
}

function isWordy(one: TextSegment): boolean {
  return !one.numeric && (one.text.split(' ').length >= MIN_PROSE_WORDS || isDense(one))
}

/** Scripts without spaces: a long run of them is prose, too. */
function isDense(one: TextSegment): boolean {
  return one.text.length >= 12 && /[\u3040-\u30ff\u3400-\u9fff]{8}/u.test(one.text)
}

/** Finds the gutter between two columns of prose: many rows have prose on both sides of one position. */
function findGutter(rows: readonly SegmentRow[]): { at: number; width: number } | undefined {
  let left = Number.POSITIVE_INFINITY
  let right = Number.NEGATIVE_INFINITY
  for (const row of rows) {
    left = Math.min(left, row.segments[0]?.left ?? left)
    right = Math.max(right, row.segments.at(-1)?.right ?? right)
  }
  const isProse = (one: TextSegment): boolean =>
    isWordy(one) && one.right - one.left > MIN_PROSE_FRACTION * (right - left)
  const votes = new Map<number, number>()
  for (const row of rows) {
    for (const [index, one] of row.segments.entries()) {
      const next = row.segments[index + 1]
      if (next === undefined || !isProse(one) || !isProse(next)) continue
      const end = Math.min(next.left, one.right + MAX_GUTTER_PT) / GUTTER_STEP_PT
      for (let x = Math.ceil(one.right / GUTTER_STEP_PT); x <= end; x++) votes.set(x, (votes.get(x) ?? 0) + 1)
    }
  }
  let best = 0
  let maxVotes = 0
  for (const [x, count] of votes) {
    if (count <= maxVotes) continue
    best = x * GUTTER_STEP_PT
    maxVotes = count
  }
  const gutter = { at: best, width: right - left }
  return maxVotes >= MIN_GUTTER_ROWS && startsFlush(rows, gutter.at, isProse) ? gutter : undefined
}

/** Whether most texts right of a gutter start at one position, as in a column of prose. */
function startsFlush(rows: readonly SegmentRow[], gutter: number, isProse: (one: TextSegment) => boolean): boolean {
  const counts = new Map<number, number>()
  let total = 0
  for (const { segments } of rows) {
    const one = segments.find(({ left }) => left >= gutter - GUTTER_STEP_PT)
    if (one === undefined || !isProse(one)) continue
    total++
    for (const step of [0, 1]) {
      const key = Math.round(one.left / FLUSH_STEP_PT) + step
      counts.set(key, (counts.get(key) ?? 0) + 1)
    }
  }
  return Math.max(0, ...counts.values()) >= MIN_FLUSH_FRACTION * total
}

/** Whether two prose segments are side by side, as in no row of an unruled table. */
function hasParallelProse(row: SegmentRow): boolean {
  let wordy = 0
  for (const one of row.segments) if (one.text.split(' ').length >= 9) wordy++
  return wordy >= 2
}

function hasSeveralCells(row: SegmentRow): boolean {
  return row.segments.length >= 2 && !hasParallelProse(row)
}

/** Finds sequences of rows with several cells, including the lines between them that belong to them. */
export function findBlocks(rows: readonly SegmentRow[]): RowBlock[] {
  const blocks: RowBlock[] = []
  let from = 0
  for (let index = 0; index < rows.length; ) {
    const first = rows[index]
    if (first === undefined || !hasSeveralCells(first)) {
      index++
      continue
    }
    const maxEnd = findBlockEnd(rows, index)
    const end = findNextHeaders(rows, index, maxEnd) ?? maxEnd
    const start = skipCaption(rows, index, end)
    blocks.push({
      above: rows.slice(Math.max(from, start - MAX_ABOVE), start),
      rows: dropTrailingSingles(rows.slice(start, end)),
      below: rows.slice(end, end + MAX_ABOVE),
    })
    from = start + (blocks.at(-1)?.rows.length ?? 0)
    index = end
  }
  return blocks
}

/** Index of the first row with several cells below a caption whose words are far from each other. */
function skipCaption(rows: readonly SegmentRow[], start: number, end: number): number {
  const text = rows[start]?.segments.map((one) => one.text).join(' ') ?? ''
  if (!isNumberedCaption(text)) return start
  const next = rows.slice(start + 1, end).findIndex(hasSeveralCells)
  return next === -1 ? start : start + 1 + next
}

function dropTrailingSingles(rows: SegmentRow[]): SegmentRow[] {
  let end = rows.length
  while (end > 1 && rows[end - 1]?.segments.length === 1) end--
  return rows.slice(0, end)
}

/** Where rows of numbers are followed by rows that head columns again, without a row name, another table starts. */
function findNextHeaders(rows: readonly SegmentRow[], from: number, to: number): number | undefined {
  let values = Number.POSITIVE_INFINITY
  let nameEdge = Number.NEGATIVE_INFINITY
  let numberRowCount = 0
  let last = from
  for (let index = from; index < to; index++) {
    const row = rows[index]
    if (row === undefined) break
    const next = rows[index + 1]
    const edge = Math.min(values - 2.5 * row.size, nameEdge + row.size)
    const follows = next !== undefined && index + 1 < to && (isHeaderRow(next, edge) || next.segments.length === 2)
    if (numberRowCount > 0 && isHeaderRow(row, edge) && (row.segments.length > 1 || follows))
      return Math.max(last + 1, index - MAX_ABOVE)
    if (
      numberRowCount > 1 &&
      startsTitledTable(rows[index - 1], rows.slice(index, Math.min(to, index + MAX_NAME_LINES)))
    )
      return index
    if (row.segments.some((one, _, { length }) => one.numeric && (length > 1 || !isYear(one.text)))) last = index
    if (hasNumbers(row)) {
      numberRowCount++
      nameEdge = Math.max(nameEdge, row.segments[0]?.right ?? nameEdge)
    }
    values = Math.min(values, getValueEdge(row))
  }
  return undefined
}

/**
 * Whether another table starts below a lone line: with a name for the row names, column names, and numbers below them.
 */
function startsTitledTable(above: SegmentRow | undefined, [row, ...more]: readonly SegmentRow[]): boolean {
  if (above?.segments.length !== 1 || row === undefined || !isNameRow(row)) return false
  const index = more.findIndex((one) => !isNameRow(one))
  const numberRow = more[index]
  if (numberRow === undefined || !hasNumbers(numberRow) || numberRow.segments.length < row.segments.length) return false
  const values = row.segments.slice(1)
  // names of several lines are words
  const areWords = index === 0 || [row, ...more.slice(0, index)].every(({ segments }) => segments.slice(1).some(isWord))
  return areWords && new Set(values.map(({ text }) => text)).size > 1
}

/** Several column names after a name for the row names or for the first of them. */
function isNameRow({ segments: [first, ...values] }: SegmentRow): boolean {
  return first?.numeric === false && values.length >= 2 && values.every((one) => isWord(one) || isYear(one.text))
}

function isWord(one: TextSegment): boolean {
  return !one.numeric
}

/** Column names: words and years over the value columns, and nothing over the row names. */
function isHeaderRow(row: SegmentRow, edge: number): boolean {
  const [first] = row.segments
  if (first === undefined || first.left < edge || /^\(.*\)$/.test(first.text)) return false
  return row.segments.every((one) => !one.numeric || isYear(one.text))
}

/** `(1) Includes …`: a note below a table. */
export function isNote(one: TextSegment | undefined): boolean {
  return one !== undefined && /^(?:\(\w{1,2}\)|[*†‡]+)\s/.test(one.text) && one.text.split(' ').length >= 6
}

/** `(*) Percentage is less than 1%.`: a note whose mark is separate from it. */
function isMarkedNote({ segments: [mark, text, ...more] }: SegmentRow): boolean {
  if (mark === undefined || text === undefined || text.numeric || more.length > 0) return false
  return /^(?:\(?[*∗†‡]{1,3}\)?|\((?:\d{1,2}|[a-z])\))$/.test(mark.text)
}

/** Whether a sentence introduces another table. */
export function isIntroduction(one: TextSegment): boolean {
  return INTRODUCTION.test(one.text)
}

function findBlockEnd(rows: readonly SegmentRow[], start: number): number {
  let end = start + 1
  let singles = 0
  let wide = 0
  let values = getValueEdge(rows[start])
  let edge = getLastEdge(rows[start])
  for (let index = start + 1; index < rows.length; index++) {
    const row = rows[index]
    const last = rows[index - 1]
    if (row === undefined || last === undefined) break
    if (last.y - row.y > MAX_STEP * Math.max(row.size, last.size)) break
    if ((rows[end - 1]?.segments.length ?? 0) > 2 && isMarkedNote(row)) break
    if (row.size > MAX_SIZE_RATIO * Math.max(last.size, rows[start]?.size ?? 0)) break
    if (hasSeveralCells(row)) {
      end = index + 1
      singles = 0
      wide = 0
      values = Math.min(values, getValueEdge(row))
      edge = Math.max(edge, getLastEdge(row))
      continue
    }
    singles++
    const one = row.segments[0]
    if (one !== undefined && one.right > values + 6 * row.size && one.left < values) wide++
    const isAcross = one !== undefined && one.left < values - row.size && one.right > edge
    if (singles > MAX_SINGLES || wide > MAX_WIDE || isAcross || isNote(one) || hasParallelProse(row)) break
    if (one !== undefined && isIntroduction(one)) break
  }
  return end
}

/** Left edge of the first cell after the row name. */
function getValueEdge(row: SegmentRow | undefined): number {
  return row?.segments[1]?.left ?? Number.POSITIVE_INFINITY
}

function getLastEdge(row: SegmentRow | undefined): number {
  return row?.segments.at(-1)?.left ?? 0
}
