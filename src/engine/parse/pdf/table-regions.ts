import { hasFigures, isYear } from './table-columns.js'
import { clustered, type Row, type Segment } from './table-words.js'

/** Rows of a page that may be one table, with the rows directly above and below it. */
export interface Block {
  /** Rows above that may name it or head its columns, nearest last. */
  above: Row[]
  rows: Row[]
  below: Row[]
}

/** Minimal width of a line of prose, as a fraction of the page's width, and its minimal number of words. */
const PROSE_SHARE = 0.22
const PROSE_WORDS = 4
/** A single line at least this wide, as a fraction of the page's width, shows that a column of prose continues. */
const LINE_SHARE = 0.33
/** Minimal number of rows with prose on both sides that make two columns of a page. */
const MIN_GUTTER_ROWS = 4
/** Step and maximal width of the search for a gutter, in points. */
const STEP = 4
const MAX_GUTTER = 240
/** Maximal distance between rows of a table, in text sizes. */
const MAX_STEP = 3.4
/** Maximal number of lines without cells between two rows with cells: section headers, continued text. */
const MAX_SINGLES = 4
/** Maximal number of such lines that reach below the columns of numbers. */
const MAX_WIDE = 2
const MAX_ABOVE = 6
/** Maximal number of lines of column names, including the first numbers below them. */
const MAX_NAMES = 6
/** A sentence that introduces another table. */
const INTRODUCES = /\bfollow(?:s|ing)\b.{0,200}:$/i

/** Splits a page into regions that are searched separately: each column next to a gutter, else the entire width. */
export function regionsOf(rows: readonly Row[]): Row[][] {
  const gutter = findGutter(rows)
  if (gutter === undefined) return [[...rows]]
  const regions: Row[][] = []
  let full: Row[] = []
  for (let at = 0; at < rows.length; ) {
    const end = bandEnd(rows, at, gutter.at, gutter.width)
    if (end === at) {
      const row = rows[at]
      if (row !== undefined) full.push(row)
      at++
      continue
    }
    if (full.length > 0) regions.push(full)
    full = []
    const band = rows.slice(at, end)
    regions.push(
      side(band, (one) => one.left + one.right < 2 * gutter.at),
      side(band, (one) => one.left + one.right >= 2 * gutter.at),
    )
    at = end
  }
  if (full.length > 0) regions.push(full)
  return regions.filter((region) => region.length > 0)
}

/** The rows of one column; their baselines need not match those of the other column. */
function side(rows: readonly Row[], holds: (one: Segment) => boolean): Row[] {
  const own = clustered(rows.flatMap((row) => row.segments.filter(holds)))
  for (const row of own) row.segments.sort((a, b) => a.left - b.left)
  return own
}

/** Index after the rows from `start` on that the gutter separates, when prose next to it shows this at both ends. */
function bandEnd(rows: readonly Row[], at: number, gutter: number, width: number): number {
  const first = rows[at]
  if (first === undefined || !showsGutter(first, gutter, width)) return at
  let end = at
  for (let index = at; index < rows.length; index++) {
    const row = rows[index]
    if (row === undefined || row.segments.some((one) => crosses(one, gutter))) break
    if (showsGutter(row, gutter, width)) end = index + 1
  }
  return end
}

function crosses(one: Segment, gutter: number): boolean {
  return one.left < gutter - one.size && one.right > gutter + one.size
}

function showsGutter(row: Row, gutter: number, width: number): boolean {
  const prose = row.segments.some((one) => isWordy(one) && one.right - one.left > LINE_SHARE * width)
  return prose && !row.segments.some((one) => crosses(one, gutter))
}

function isWordy(one: Segment): boolean {
  return !one.numeric && (one.text.split(' ').length >= PROSE_WORDS || isDense(one))
}

/** Scripts without spaces: a long run of them is prose, too. */
function isDense(one: Segment): boolean {
  return one.text.length >= 12 && /[\u3040-\u30ff\u3400-\u9fff]{8}/u.test(one.text)
}

/** Finds the gutter between two columns of prose: many rows have prose on both sides of one position. */
function findGutter(rows: readonly Row[]): { at: number; width: number } | undefined {
  let left = Number.POSITIVE_INFINITY
  let right = Number.NEGATIVE_INFINITY
  for (const row of rows) {
    left = Math.min(left, row.segments[0]?.left ?? left)
    right = Math.max(right, row.segments.at(-1)?.right ?? right)
  }
  const prose = (one: Segment): boolean => isWordy(one) && one.right - one.left > PROSE_SHARE * (right - left)
  const votes = new Map<number, number>()
  for (const row of rows) {
    for (const [index, one] of row.segments.entries()) {
      const next = row.segments[index + 1]
      if (next === undefined || !prose(one) || !prose(next)) continue
      const end = Math.min(next.left, one.right + MAX_GUTTER) / STEP
      for (let x = Math.ceil(one.right / STEP); x <= end; x++) votes.set(x, (votes.get(x) ?? 0) + 1)
    }
  }
  let best = 0
  let most = 0
  for (const [x, count] of votes) {
    if (count <= most) continue
    best = x * STEP
    most = count
  }
  return most >= MIN_GUTTER_ROWS ? { at: best, width: right - left } : undefined
}

/** Whether two prose segments are side by side, as in no row of an unruled table. */
function isBesideProse(row: Row): boolean {
  let wordy = 0
  for (const one of row.segments) if (one.text.split(' ').length >= 9) wordy++
  return wordy >= 2
}

function isMulti(row: Row): boolean {
  return row.segments.length >= 2 && !isBesideProse(row)
}

/** Finds sequences of rows with several cells, including the lines between them that belong to them. */
export function blocksOf(rows: readonly Row[]): Block[] {
  const blocks: Block[] = []
  let from = 0
  for (let at = 0; at < rows.length; ) {
    const first = rows[at]
    if (first === undefined || !isMulti(first)) {
      at++
      continue
    }
    const whole = blockEnd(rows, at)
    const end = nextHeads(rows, at, whole) ?? whole
    blocks.push({
      above: rows.slice(Math.max(from, at - MAX_ABOVE), at),
      rows: withoutSingles(rows.slice(at, end)),
      below: rows.slice(end, end + MAX_ABOVE),
    })
    from = at + (blocks.at(-1)?.rows.length ?? 0)
    at = end
  }
  return blocks
}

function withoutSingles(rows: Row[]): Row[] {
  let end = rows.length
  while (end > 1 && rows[end - 1]?.segments.length === 1) end--
  return rows.slice(0, end)
}

/** Where rows of numbers are followed by rows that head columns again, without a row name, another table starts. */
function nextHeads(rows: readonly Row[], from: number, to: number): number | undefined {
  let values = Number.POSITIVE_INFINITY
  let stubs = Number.NEGATIVE_INFINITY
  let figures = 0
  let last = from
  for (let at = from; at < to; at++) {
    const row = rows[at]
    if (row === undefined) break
    const next = rows[at + 1]
    const edge = Math.min(values - 2.5 * row.size, stubs + row.size)
    const follows = next !== undefined && at + 1 < to && (isHeading(next, edge) || next.segments.length === 2)
    if (figures > 0 && isHeading(row, edge) && (row.segments.length > 1 || follows))
      return Math.max(last + 1, at - MAX_ABOVE)
    if (figures > 1 && isTitled(rows[at - 1], rows.slice(at, Math.min(to, at + MAX_NAMES)))) return at
    if (row.segments.some((one, _, { length }) => one.numeric && (length > 1 || !isYear(one.text)))) last = at
    if (hasFigures(row)) {
      figures++
      stubs = Math.max(stubs, row.segments[0]?.right ?? stubs)
    }
    values = Math.min(values, valueEdge(row))
  }
  return undefined
}

/**
 * Whether another table starts below a lone line: with a name for the row names, column names, and numbers below them.
 */
function isTitled(above: Row | undefined, [row, ...more]: readonly Row[]): boolean {
  if (above?.segments.length !== 1 || row === undefined || !isNames(row)) return false
  const at = more.findIndex((one) => !isNames(one))
  const figures = more[at]
  if (figures === undefined || !hasFigures(figures) || figures.segments.length < row.segments.length) return false
  const values = row.segments.slice(1)
  // names of several lines are words
  const words = at === 0 || [row, ...more.slice(0, at)].every(({ segments }) => segments.slice(1).some(isWord))
  return words && new Set(values.map(({ text }) => text)).size > 1
}

/** Several column names after a name for the row names or for the first of them. */
function isNames({ segments: [first, ...values] }: Row): boolean {
  return first?.numeric === false && values.length >= 2 && values.every((one) => isWord(one) || isYear(one.text))
}

function isWord(one: Segment): boolean {
  return !one.numeric
}

/** Column names: words and years over the value columns, and nothing over the row names. */
function isHeading(row: Row, edge: number): boolean {
  const [first] = row.segments
  if (first === undefined || first.left < edge || /^\(.*\)$/.test(first.text)) return false
  return row.segments.every((one) => !one.numeric || isYear(one.text))
}

/** `(1) Includes …`: a note below a table. */
export function isNote(one: Segment | undefined): boolean {
  return one !== undefined && /^(?:\(\w{1,2}\)|[*†‡]+)\s/.test(one.text) && one.text.split(' ').length >= 6
}

/** `(*) Percentage is less than 1%.`: a note whose mark is separate from it. */
function isMarkedNote({ segments: [mark, text, ...more] }: Row): boolean {
  if (mark === undefined || text === undefined || text.numeric || more.length > 0) return false
  return /^(?:\(?[*∗†‡]{1,3}\)?|\((?:\d{1,2}|[a-z])\))$/.test(mark.text)
}

/** Whether a sentence introduces another table. */
export function isIntroduction(one: Segment): boolean {
  return INTRODUCES.test(one.text)
}

function blockEnd(rows: readonly Row[], at: number): number {
  let end = at + 1
  let singles = 0
  let wide = 0
  let values = valueEdge(rows[at])
  let edge = lastEdge(rows[at])
  for (let index = at + 1; index < rows.length; index++) {
    const row = rows[index]
    const last = rows[index - 1]
    if (row === undefined || last === undefined) break
    if (last.y - row.y > MAX_STEP * Math.max(row.size, last.size)) break
    if ((rows[end - 1]?.segments.length ?? 0) > 2 && isMarkedNote(row)) break
    if (isMulti(row)) {
      end = index + 1
      singles = 0
      wide = 0
      values = Math.min(values, valueEdge(row))
      edge = Math.max(edge, lastEdge(row))
      continue
    }
    singles++
    const one = row.segments[0]
    if (one !== undefined && one.right > values + 6 * row.size && one.left < values) wide++
    const across = one !== undefined && one.left < values - row.size && one.right > edge
    if (singles > MAX_SINGLES || wide > MAX_WIDE || across || isNote(one) || isBesideProse(row)) break
    if (one !== undefined && isIntroduction(one)) break
  }
  return end
}

/** Left edge of the first cell after the row name. */
function valueEdge(row: Row | undefined): number {
  return row?.segments[1]?.left ?? Number.POSITIVE_INFINITY
}

function lastEdge(row: Row | undefined): number {
  return row?.segments.at(-1)?.left ?? 0
}
