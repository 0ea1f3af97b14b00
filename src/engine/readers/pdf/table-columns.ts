import type { TableColumn } from './found-table.js'
import type { SegmentRow, TextSegment } from './table-words.js'

/** One number among this many words is part of a name: `Level 3`. */
export const WORDS_PER_NUMBER = 4
/** Maximal distance between edges of two aligned texts, in points. */
const MAX_ALIGNMENT_OFFSET_PT = 3
/** Maximal number of successive splits of one cluster of numbers. */
const MAX_SPLITS = 12
/** Fraction of the rows in which words of other columns may reach into the gap between two columns. */
const MAX_CROSSING_FRACTION = 0.12
/** Minimal width of a column of words, in points; narrower ones are ends of row names that reach far. */
const MIN_WORD_COLUMN_PT = 4
const YEAR =
  /^(?:FY ?|CY ?)?(?:\d{1,2},|(?:19|20)\d\d(?:[-–/](?:19|20)?\d\d)?|\d\d\/\d\d|\d{1,2}[/.]\d{1,2}[/.](?:\d\d|\d{4}))(?:\s?\(\w\)|[*†])*$/

const NAME_PART =
  /^(?:\(\d{1,2}\)|\d{1,2} ?[-–] ?\d{1,2}|(?:\d{1,2} ?[-–] ?)?\d{1,3} (?:years?|months?|days?|weeks?))$/i

/** Whether a number is a year or a date, which names a column more often than it is a value. */
export function isYear(text: string): boolean {
  return YEAR.test(text)
}

/**
 * Finds the columns of consecutive rows.
 *
 * A number never spans columns, so overlapping numbers form a column. Words form columns where there are no numbers,
 * separated at gaps that few words cross.
 */
export function findColumns(rows: readonly SegmentRow[]): TableColumn[] {
  const firstValueRow = rows.findIndex(hasNumbers)
  const body = firstValueRow === -1 ? rows : rows.slice(firstValueRow)
  const numeric = findNumberColumns(body.map((row) => row.segments.filter((one) => one.numeric && !isSection(row))))
  const words = body.map((row) => ({ ...row, segments: row.segments.filter((one) => isFreeWord(one, numeric)) }))
  const all = [...numeric, ...findWordColumns(words)].sort((a, b) => a.left - b.left)
  return mergeNarrowColumns(all)
}

/** A lone `2022` in a row heads the rows below. */
function isSection({ segments }: SegmentRow): boolean {
  const [first] = segments
  return segments.length === 1 && first !== undefined && isYear(first.text)
}

/**
 * Whether a row contains values. Rows above the first with more than a number or two, except years, name columns and
 * form none.
 */
export function hasNumbers(row: SegmentRow): boolean {
  const values = row.segments.slice(1)
  const numberCount = values.filter((one) => one.numeric && !isYear(one.text) && !isNamePart(one, values)).length
  return numberCount > 0 && numberCount * WORDS_PER_NUMBER > row.segments.length - 1
}

/** Whether a number among names is part of one: a note mark, `1-3` years, `1 year`. */
export function isNamePart(one: { text: string }, values: readonly { numeric: boolean }[]): boolean {
  return NAME_PART.test(one.text) && values.some(({ numeric }) => !numeric)
}

/** Whether a text that heads a column is aligned with it: at its left, its right or its middle. */
export function isAlignedTo(one: Pick<TextSegment, 'left' | 'right'>, column: TableColumn): boolean {
  const middle = (one.left + one.right - column.left - column.right) / 2
  return (
    Math.abs(one.right - column.right) < MAX_ALIGNMENT_OFFSET_PT ||
    Math.abs(one.left - column.left) < MAX_ALIGNMENT_OFFSET_PT ||
    Math.abs(middle) < MAX_ALIGNMENT_OFFSET_PT
  )
}

function isFreeWord(word: TextSegment, numeric: readonly TableColumn[]): boolean {
  if (word.numeric) return false
  return !touchesAny(word, numeric)
}

function touchesAny(one: { left: number; right: number }, columns: readonly TableColumn[]): boolean {
  let low = 0
  let high = columns.length
  while (low < high) {
    const middle = (low + high) >> 1
    const column = columns[middle]
    if (column !== undefined && column.right < one.left) low = middle + 1
    else high = middle
  }
  const next = columns[low]
  return next !== undefined && next.left <= one.right
}

/**
 * Overlapping numbers form one column. When a row has two of them, the cluster is split at the position that the fewest
 * numbers cross.
 */
function findNumberColumns(rows: readonly TextSegment[][]): TableColumn[] {
  const numbersInRows = rows.flatMap((segments, row) => segments.map((one) => ({ one, row })))
  numbersInRows.sort((a, b) => a.one.left - b.one.left)
  const clusters: NumberInRow[][] = []
  let right = Number.NEGATIVE_INFINITY
  for (const number of numbersInRows) {
    if (number.one.left > right) clusters.push([])
    clusters.at(-1)?.push(number)
    right = Math.max(right, number.one.right)
  }
  return clusters.flatMap((cluster) => splitCluster(cluster, 0)).map(toColumn)
}

interface NumberInRow {
  one: TextSegment
  row: number
}

/** Splits a cluster in which a row has two numbers, at the position that the fewest numbers cross. */
function splitCluster(cluster: NumberInRow[], depth: number): NumberInRow[][] {
  const last = new Map<number, TextSegment>()
  const gaps: number[] = []
  for (const { one, row } of cluster) {
    const previous = last.get(row)
    if (previous !== undefined) gaps.push((previous.right + one.left) / 2)
    last.set(row, one)
  }
  if (gaps.length === 0 || depth >= MAX_SPLITS) return [cluster]
  const lefts = cluster.map(({ one }) => one.left).sort((a, b) => a - b)
  const rights = cluster.map(({ one }) => one.right).sort((a, b) => a - b)
  let best = gaps[0] ?? 0
  let fewest = Number.POSITIVE_INFINITY
  for (const x of new Set(gaps)) {
    const crossings = countBelow(lefts, x) - countBelow(rights, x)
    if (crossings >= fewest) continue
    fewest = crossings
    best = x
  }
  const isLeft = ({ one }: NumberInRow): boolean => one.left + one.right < 2 * best
  const sides = [cluster.filter(isLeft), cluster.filter((number) => !isLeft(number))]
  if (sides.some((side) => side.length === 0)) return [cluster]
  return sides.flatMap((side) => splitCluster(side, depth + 1))
}

function countBelow(sorted: readonly number[], x: number): number {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((sorted[middle] ?? 0) < x) low = middle + 1
    else high = middle
  }
  return low
}

function toColumn(cluster: readonly NumberInRow[]): TableColumn {
  let [left, right] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (const { one } of cluster) {
    left = Math.min(left, one.left)
    right = Math.max(right, one.right)
  }
  return { left, right, support: cluster.length, numeric: true }
}

/** Columns of words: the ranges between gaps that hardly any row crosses. */
function findWordColumns(rows: readonly SegmentRow[]): TableColumn[] {
  const edges: { x: number; step: number }[] = []
  for (const { segments } of rows) {
    for (const { left, right } of segments) edges.push({ x: left, step: 1 }, { x: right, step: -1 })
  }
  edges.sort((a, b) => a.x - b.x || b.step - a.step)
  const maxCrossings = Math.floor(rows.length * MAX_CROSSING_FRACTION)
  const columns: TableColumn[] = []
  let covered = 0
  let openColumn: TableColumn | undefined
  for (const { x, step } of edges) {
    covered += step
    if (covered > maxCrossings && openColumn === undefined)
      openColumn = { left: x, right: x, support: 0, numeric: false }
    if (openColumn !== undefined && step === 1) openColumn.support++
    if (openColumn !== undefined && covered <= maxCrossings && step === -1) {
      columns.push({ ...openColumn, right: x })
      openColumn = undefined
    }
  }
  return columns
}

/** Merges columns of a single cell into a close neighbour: a note mark, a word out of line. */
function mergeNarrowColumns(columns: TableColumn[]): TableColumn[] {
  const merged: TableColumn[] = []
  for (const column of columns) {
    const last = merged[merged.length - 1]
    const isNear = last !== undefined && column.left - last.right < 4
    const isNarrow = last?.numeric === false && !column.numeric && column.right - column.left < MIN_WORD_COLUMN_PT
    if (last !== undefined && (isNear || isNarrow) && (column.support <= 1 || last.support <= 1)) {
      last.right = Math.max(last.right, column.right)
      last.support += column.support
      last.numeric ||= column.numeric
    } else merged.push({ ...column })
  }
  return merged
}

/** First and last column that a segment covers; the nearest column for a segment that touches none. */
export function findColumnRange(
  segment: Pick<TextSegment, 'left' | 'right' | 'numeric'>,
  columns: readonly TableColumn[],
): { from: number; to: number } {
  if (segment.numeric) {
    const column = findNumberColumn(segment, columns)
    if (column !== -1) return { from: column, to: column }
  }
  let from = -1
  let to = -1
  let best = 0
  let maxOverlap = Number.NEGATIVE_INFINITY
  for (const [index, column] of columns.entries()) {
    const overlap = Math.min(segment.right, column.right) - Math.max(segment.left, column.left)
    if (overlap > maxOverlap) {
      maxOverlap = overlap
      best = index
    }
    const width = Math.max(1, Math.min(column.right - column.left, segment.right - segment.left))
    if (overlap <= 0.5 * width) continue
    if (from === -1) from = index
    to = index
  }
  return from === -1 || segment.numeric ? { from: best, to: best } : { from, to }
}

/**
 * The column of a number: numbers are mostly aligned right, so of the columns it touches the one with the nearest right
 * edge.
 */
function findNumberColumn(
  { left, right }: Pick<TextSegment, 'left' | 'right'>,
  columns: readonly TableColumn[],
): number {
  let best = -1
  let minOffset = Number.POSITIVE_INFINITY
  for (const [index, column] of columns.entries()) {
    const offset = Math.abs(column.right - right)
    if (column.left > right || column.right < left || offset >= minOffset) continue
    minOffset = offset
    best = index
  }
  return best
}
