import type { Column } from './found-table.js'
import type { Row, Segment } from './table-words.js'

/** One number among this many words is part of a name: `Level 3`. */
export const HARDLY = 4
/** Maximal distance between edges of two aligned texts, in points. */
const SET = 3
/** Maximal number of successive splits of one cluster of numbers. */
const MAX_PARTS = 12
/** Fraction of the rows in which words of other columns may reach into the gap between two columns. */
const CROSSED = 0.12
/** Minimal width of a column of words, in points; narrower ones are ends of row names that reach far. */
const SLIVER = 4
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
export function findColumns(rows: readonly Row[]): Column[] {
  const first = rows.findIndex(hasFigures)
  const body = first === -1 ? rows : rows.slice(first)
  const numeric = figureColumns(body.map((row) => row.segments.filter((one) => one.numeric && !isSection(row))))
  const words = body.map((row) => ({ ...row, segments: row.segments.filter((one) => free(one, numeric)) }))
  const all = [...numeric, ...wordColumns(words)].sort((a, b) => a.left - b.left)
  return settle(all)
}

/** A lone `2022` in a row heads the rows below. */
function isSection({ segments }: Row): boolean {
  const [first] = segments
  return segments.length === 1 && first !== undefined && isYear(first.text)
}

/**
 * Whether a row contains values. Rows above the first with more than a number or two, except years, name columns and
 * form none.
 */
export function hasFigures(row: Row): boolean {
  const values = row.segments.slice(1)
  const figures = values.filter((one) => one.numeric && !isYear(one.text) && !isNamePart(one, values)).length
  return figures > 0 && figures * HARDLY > row.segments.length - 1
}

/** Whether a number among names is part of one: a note mark, `1-3` years, `1 year`. */
export function isNamePart(one: { text: string }, values: readonly { numeric: boolean }[]): boolean {
  return NAME_PART.test(one.text) && values.some(({ numeric }) => !numeric)
}

/** Whether a text that heads a column is aligned with it: at its left, its right or its middle. */
export function isSetTo(one: Pick<Segment, 'left' | 'right'>, column: Column): boolean {
  const middle = (one.left + one.right - column.left - column.right) / 2
  return Math.abs(one.right - column.right) < SET || Math.abs(one.left - column.left) < SET || Math.abs(middle) < SET
}

function free(word: Segment, numeric: readonly Column[]): boolean {
  if (word.numeric) return false
  return !touchesAny(word, numeric)
}

function touchesAny(one: { left: number; right: number }, columns: readonly Column[]): boolean {
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
function figureColumns(rows: readonly Segment[][]): Column[] {
  const placed = rows.flatMap((segments, row) => segments.map((one) => ({ one, row })))
  placed.sort((a, b) => a.one.left - b.one.left)
  const clusters: Placed[][] = []
  let right = Number.NEGATIVE_INFINITY
  for (const figure of placed) {
    if (figure.one.left > right) clusters.push([])
    clusters.at(-1)?.push(figure)
    right = Math.max(right, figure.one.right)
  }
  return clusters.flatMap((cluster) => parted(cluster, 0)).map(columnOf)
}

interface Placed {
  one: Segment
  row: number
}

/** Splits a cluster in which a row has two numbers, at the position that the fewest numbers cross. */
function parted(cluster: Placed[], depth: number): Placed[][] {
  const last = new Map<number, Segment>()
  const gaps: number[] = []
  for (const { one, row } of cluster) {
    const before = last.get(row)
    if (before !== undefined) gaps.push((before.right + one.left) / 2)
    last.set(row, one)
  }
  if (gaps.length === 0 || depth >= MAX_PARTS) return [cluster]
  const lefts = cluster.map(({ one }) => one.left).sort((a, b) => a - b)
  const rights = cluster.map(({ one }) => one.right).sort((a, b) => a - b)
  let best = gaps[0] ?? 0
  let fewest = Number.POSITIVE_INFINITY
  for (const x of new Set(gaps)) {
    const crossed = below(lefts, x) - below(rights, x)
    if (crossed >= fewest) continue
    fewest = crossed
    best = x
  }
  const isLeft = ({ one }: Placed): boolean => one.left + one.right < 2 * best
  const sides = [cluster.filter(isLeft), cluster.filter((figure) => !isLeft(figure))]
  if (sides.some((side) => side.length === 0)) return [cluster]
  return sides.flatMap((side) => parted(side, depth + 1))
}

function below(sorted: readonly number[], x: number): number {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((sorted[middle] ?? 0) < x) low = middle + 1
    else high = middle
  }
  return low
}

function columnOf(cluster: readonly Placed[]): Column {
  let [left, right] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (const { one } of cluster) {
    left = Math.min(left, one.left)
    right = Math.max(right, one.right)
  }
  return { left, right, support: cluster.length, numeric: true }
}

/** Columns of words: the ranges between gaps that hardly any row crosses. */
function wordColumns(rows: readonly Row[]): Column[] {
  const edges: { x: number; step: number }[] = []
  for (const { segments } of rows) {
    for (const { left, right } of segments) edges.push({ x: left, step: 1 }, { x: right, step: -1 })
  }
  edges.sort((a, b) => a.x - b.x || b.step - a.step)
  const most = Math.floor(rows.length * CROSSED)
  const columns: Column[] = []
  let covered = 0
  let open: Column | undefined
  for (const { x, step } of edges) {
    covered += step
    if (covered > most && open === undefined) open = { left: x, right: x, support: 0, numeric: false }
    if (open !== undefined && step === 1) open.support++
    if (open !== undefined && covered <= most && step === -1) {
      columns.push({ ...open, right: x })
      open = undefined
    }
  }
  return columns
}

/** Merges columns of a single cell into a close neighbour: a note mark, a word out of line. */
function settle(columns: Column[]): Column[] {
  const settled: Column[] = []
  for (const column of columns) {
    const last = settled[settled.length - 1]
    const near = last !== undefined && column.left - last.right < 4
    const sliver = last?.numeric === false && !column.numeric && column.right - column.left < SLIVER
    if (last !== undefined && (near || sliver) && (column.support <= 1 || last.support <= 1)) {
      last.right = Math.max(last.right, column.right)
      last.support += column.support
      last.numeric ||= column.numeric
    } else settled.push({ ...column })
  }
  return settled
}

/** First and last column that a segment covers; the nearest column for a segment that touches none. */
export function placeIn(
  segment: Pick<Segment, 'left' | 'right' | 'numeric'>,
  columns: readonly Column[],
): { from: number; to: number } {
  if (segment.numeric) {
    const set = columnOfFigure(segment, columns)
    if (set !== -1) return { from: set, to: set }
  }
  let from = -1
  let to = -1
  let best = 0
  let most = Number.NEGATIVE_INFINITY
  for (const [index, column] of columns.entries()) {
    const shared = Math.min(segment.right, column.right) - Math.max(segment.left, column.left)
    if (shared > most) {
      most = shared
      best = index
    }
    const width = Math.max(1, Math.min(column.right - column.left, segment.right - segment.left))
    if (shared <= 0.5 * width) continue
    if (from === -1) from = index
    to = index
  }
  return from === -1 || segment.numeric ? { from: best, to: best } : { from, to }
}

/**
 * The column of a number: numbers are mostly aligned right, so of the columns it touches the one with the nearest right
 * edge.
 */
function columnOfFigure({ left, right }: Pick<Segment, 'left' | 'right'>, columns: readonly Column[]): number {
  let best = -1
  let least = Number.POSITIVE_INFINITY
  for (const [index, column] of columns.entries()) {
    const off = Math.abs(column.right - right)
    if (column.left > right || column.right < left || off >= least) continue
    least = off
    best = index
  }
  return best
}
