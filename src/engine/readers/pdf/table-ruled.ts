import type { CellSpan } from '../tables/cells.js'
import { countWords } from '../words.js'
import { isNumberedCaption } from './table-captions.js'
import { type DrawnRule, joinRules, type PageDrawings } from './table-rules.js'
import { groupByBaseline, type SegmentRow, type TextSegment } from './table-words.js'

/** A ruled grid of cells on a page. */
export interface RuledGrid {
  /** Edges of its columns, left to right. */
  xs: number[]
  /** Edges of its rows, top to bottom. */
  ys: number[]
  level: DrawnRule[]
  upright: DrawnRule[]
}

/** Rules this close, in points, are one rule, or reach each other. */
const MAX_RULE_DISTANCE_PT = 3
const MAX_RULES = 300
const MIN_OVERHANG_PT = 12
/** Minimal side of a cell, in points. */
const MIN_CELL_PT = 5
/** Longer texts in a row are prose, in words. */
const MAX_SHARED_WORDS = 8
/** Minimal number of rows in a band without rules, and minimal fraction of its lines that start one. */
const MIN_BAND_ROWS = 3
const MIN_START_FRACTION = 0.5
/** Minimal length in words of a note below the rows. */
const MIN_NOTE_WORDS = 12

/** Finds grids of level and upright rules that reach each other, with at least two rows and two columns. */
export function findGrids(drawn: PageDrawings): RuledGrid[] {
  const level = joinRules([...drawn.level, ...stripeEdges(drawn)], MAX_RULE_DISTANCE_PT)
  const upright = joinRules(drawn.upright, MAX_RULE_DISTANCE_PT)
  if (level.length < 2 || upright.length < 2 || level.length > MAX_RULES || upright.length > MAX_RULES) return []
  const group = level.map((_, index) => index)
  const findRoot = (one: number): number => {
    let current = one
    while (group[current] !== current) current = group[current] ?? current
    group[one] = current
    return current
  }
  const reached: number[][] = upright.map((line) =>
    level.flatMap((other, index) => (intersects(other, line) ? [index] : [])),
  )
  for (const [first, ...rest] of reached) {
    if (first === undefined) continue
    for (const other of rest) group[findRoot(other)] = findRoot(first)
  }
  const parts = new Map<number, { level: DrawnRule[]; upright: DrawnRule[] }>()
  for (const [index, line] of level.entries()) getOrCreatePart(parts, findRoot(index)).level.push(line)
  for (const [index, line] of upright.entries()) {
    const first = reached[index]?.[0]
    if (first !== undefined) getOrCreatePart(parts, findRoot(first)).upright.push(line)
  }
  return [...parts.values()].map(toGrid).filter((grid) => grid.xs.length >= 3 && grid.ys.length >= 3)
}

/** Upper and lower edges of filled rows are rules of a grid when upright rules separate their cells. */
function stripeEdges(drawn: PageDrawings): DrawnRule[] {
  if (drawn.upright.length < 2 || drawn.stripes.length > MAX_RULES) return []
  return drawn.stripes.flatMap(({ left, right, bottom, top }) => [
    { at: bottom, from: left, to: right },
    { at: top, from: left, to: right },
  ])
}

function getOrCreatePart(
  parts: Map<number, { level: DrawnRule[]; upright: DrawnRule[] }>,
  key: number,
): { level: DrawnRule[]; upright: DrawnRule[] } {
  const part = parts.get(key) ?? { level: [], upright: [] }
  parts.set(key, part)
  return part
}

function intersects(level: DrawnRule, upright: DrawnRule): boolean {
  return (
    upright.at >= level.from - MAX_RULE_DISTANCE_PT &&
    upright.at <= level.to + MAX_RULE_DISTANCE_PT &&
    level.at >= upright.from - MAX_RULE_DISTANCE_PT &&
    level.at <= upright.to + MAX_RULE_DISTANCE_PT
  )
}

/**
 * Builds a grid. When its level rules extend beyond the upright ones, it is open on that side and gets an edge there.
 */
function toGrid({ level, upright }: { level: DrawnRule[]; upright: DrawnRule[] }): RuledGrid {
  const ends =
    level.length < 2
      ? []
      : [Math.max(...level.map((rule) => -rule.from)) * -1, Math.max(...level.map((rule) => rule.to))]
  const [left, right] = ends
  const sides = ends.map((at) => ({ at, from: 0, to: 0 }))
  const xs = distinctPositions(upright)
  const isOpen =
    left !== undefined &&
    right !== undefined &&
    (left < (xs[0] ?? 0) - MIN_OVERHANG_PT || right > (xs.at(-1) ?? 0) + MIN_OVERHANG_PT)
  return {
    level,
    upright,
    xs: isOpen ? distinctPositions([...upright, ...sides]) : xs,
    ys: distinctPositions(level).reverse(),
  }
}

function distinctPositions(rules: readonly DrawnRule[]): number[] {
  const sorted: number[] = []
  for (const at of rules.map((rule) => rule.at).sort((a, b) => a - b)) {
    if (sorted.length === 0 || at - (sorted.at(-1) ?? 0) > MIN_CELL_PT) sorted.push(at)
  }
  return sorted
}

/** Fills the cells of a grid with its text; neighbouring cells without a rule between them are one cell. */
export function fillGrid(
  grid: RuledGrid,
  segments: readonly TextSegment[],
): { rows: string[][]; spans: CellSpan[]; used: TextSegment[] } {
  const height = grid.ys.length - 1
  const width = grid.xs.length - 1
  const owners = findCellOwners(grid, height, width)
  splitSharedCells(grid, owners, segments)
  const texts = new Map<number, TextSegment[]>()
  const used: TextSegment[] = []
  for (const one of segments) {
    const field = findField(grid, one)
    if (field === -1) continue
    const key = owners[field] ?? field
    texts.set(key, [...(texts.get(key) ?? []), one])
    used.push(one)
  }
  const rows = Array.from({ length: height }, () => new Array<string>(width).fill(''))
  for (const [key, parts] of texts) {
    const row = rows[Math.floor(key / width)]
    if (row !== undefined) row[key % width] = joinInReadingOrder(parts)
  }
  return { rows, spans: toSpans(owners, height, width), used }
}

/** Index of the field of a grid in which a text is; -1 outside of it. */
function findField({ xs, ys }: RuledGrid, one: TextSegment): number {
  const row = findInterval(ys, -(one.y + 0.3 * one.size), (edge) => -edge)
  const column = findInterval(xs, (one.left + one.right) / 2, (edge) => edge)
  return row === -1 || column === -1 ? -1 : row * (xs.length - 1) + column
}

/**
 * Splits cells that cover several columns only because no rule is drawn between these in their row: they have several
 * texts on one baseline. Changes the owners of their fields.
 */
function splitSharedCells(grid: RuledGrid, owners: number[], segments: readonly TextSegment[]): void {
  const width = grid.xs.length - 1
  const shared = new Map<number, TextSegment[]>()
  for (const one of segments) {
    const field = findField(grid, one)
    const owner = owners[field]
    if (owner === undefined || !owners.includes(owner, owner + 1)) continue
    shared.set(owner, [...(shared.get(owner) ?? []), one])
  }
  for (const [owner, texts] of shared) {
    const fields = owners.flatMap((one, field) => (one === owner ? [field] : []))
    const isOneRow = fields.every((field) => Math.floor(field / width) === Math.floor(owner / width))
    const widest = groupByBaseline(texts).reduce<TextSegment[]>(
      (best, { segments: line }) => (line.length > best.length ? line : best),
      [],
    )
    if (!isOneRow || widest.length < 2 || texts.some(({ text }) => countWords(text) > MAX_SHARED_WORDS)) continue
    const starts = findStarts(grid.xs, widest, owner % width, (fields.at(-1) ?? owner) % width)
    for (const field of fields) {
      const column = field % width
      owners[field] = field - column + (starts.findLast((start) => start <= column) ?? column)
    }
  }
}

/** The first columns of texts side by side between two columns: their own, else those from the middle of each gap on. */
function findStarts(xs: readonly number[], texts: TextSegment[], first: number, last: number): number[] {
  texts.sort((a, b) => a.left - b.left)
  const isWithin = ({ left, right }: TextSegment, column: number): boolean =>
    left > (xs[column] ?? 0) - MAX_RULE_DISTANCE_PT && right < (xs[column + 1] ?? 0) + MAX_RULE_DISTANCE_PT
  const columns = texts.map((one) => findInterval(xs, (one.left + one.right) / 2, (edge) => edge))
  const areOwn =
    texts.every((one, index) => isWithin(one, columns[index] ?? -1)) && new Set(columns).size === texts.length
  if (areOwn) return Array.from({ length: last - first + 1 }, (_, index) => first + index)
  const starts = [first]
  for (const [index, one] of texts.slice(1).entries()) {
    const middle = ((texts[index]?.right ?? 0) + one.left) / 2
    let best = last
    for (let column = (starts.at(-1) ?? first) + 1; column < last; column++)
      if (Math.abs((xs[column] ?? 0) - middle) < Math.abs((xs[best] ?? 0) - middle)) best = column
    if (best > (starts.at(-1) ?? first)) starts.push(best)
  }
  return starts
}

/**
 * Adds edges between the rows of text in each band of a grid whose rules separate columns only. Bands
 * whose lines have no numbers are left: they are texts that wrap.
 */
export function splitBands(grid: RuledGrid, segments: readonly TextSegment[]): RuledGrid {
  const added: DrawnRule[] = []
  const [from = 0, to = 0] = [grid.xs[0], grid.xs.at(-1)]
  for (const [index, bottom] of grid.ys.slice(1).entries()) {
    const top = grid.ys[index] ?? 0
    const lines = groupByBaseline(segments.filter(({ y }) => y < top && y >= bottom))
    const hasValues = ({ segments: line }: SegmentRow): boolean =>
      line.some(({ numeric, left }) => numeric && left > (grid.xs[1] ?? 0))
    const valueLines = lines.filter(hasValues)
    if (valueLines.length < MIN_BAND_ROWS || valueLines.length < MIN_START_FRACTION * lines.length) continue
    for (const [at, line] of lines.entries()) {
      const above = lines[at - 1]
      if (above === undefined || continuesName(line, above, hasValues(line) && !hasValues(above))) continue
      added.push({ at: line.y + 0.95 * line.size, from, to })
    }
  }
  if (added.length === 0) return grid
  const level = [...grid.level, ...added]
  return { ...grid, level, ys: distinctPositions(level).reverse() }
}

/** Whether a line continues the name of the row above it. @param hasOnlyValues it may have values for that name alone */
function continuesName({ segments: [first] }: SegmentRow, above: SegmentRow, hasOnlyValues: boolean): boolean {
  const isInLowercase = first !== undefined && /^[\p{Ll}(]/u.test(first.text)
  return isInLowercase || (hasOnlyValues && first?.numeric === true && above.segments.length === 1)
}

/** Whether rows have several numbers in one column, so that the rules are not those of the columns. */
export function hasSharedColumns(grid: RuledGrid, segments: readonly TextSegment[]): boolean {
  const rows = groupByBaseline(segments)
  const sharedRows = rows.filter(({ segments: line }) => {
    const fields = line.filter(({ numeric }) => numeric).map((one) => findField(grid, one))
    return new Set(fields).size < fields.length
  })
  return sharedRows.length >= MIN_BAND_ROWS && sharedRows.length >= MIN_START_FRACTION * rows.length
}

/** The rows of a grid without a caption above them and notes below them that are in its frame. */
export function trimGrid(grid: RuledGrid, segments: readonly TextSegment[]): RuledGrid {
  const { xs, ys, upright } = grid
  const findOpenBand = (top = 0, bottom = 0): TextSegment[] => {
    const isOpen = xs.slice(1, -1).every((x) => !hasRule(upright, x, (top + bottom) / 2))
    return isOpen ? segments.filter(({ y }) => y < top && y >= bottom) : []
  }
  const isCaption = (band: readonly TextSegment[]): boolean => isNumberedCaption(joinInReadingOrder(band))
  const isNote = (band: readonly TextSegment[]): boolean =>
    countWords(joinInReadingOrder(band)) >= MIN_NOTE_WORDS &&
    groupByBaseline(band).every(({ segments: line }) => line.length === 1)
  let [start, end] = [0, ys.length - 1]
  while (end - start > 2 && isCaption(findOpenBand(ys[start], ys[start + 1]))) start++
  while (end - start > 2 && isNote(findOpenBand(ys[end - 1], ys[end]))) end--
  return start === 0 && end === ys.length - 1 ? grid : { ...grid, ys: ys.slice(start, end + 1) }
}

function joinInReadingOrder(parts: readonly TextSegment[]): string {
  const sorted = [...parts].sort((a, b) => (Math.abs(a.y - b.y) > 0.4 * a.size ? b.y - a.y : a.left - b.left))
  return sorted.map((one) => one.text).join(' ')
}

function findInterval(edges: readonly number[], at: number, toAscending: (edge: number) => number): number {
  for (let index = 1; index < edges.length; index++) {
    if (at >= toAscending(edges[index - 1] ?? 0) - 1 && at < toAscending(edges[index] ?? 0)) return index - 1
  }
  return -1
}

/** For each field of the grid, the index of the upper left field of its cell. */
function findCellOwners(grid: RuledGrid, height: number, width: number): number[] {
  const owners: number[] = []
  for (let row = 0; row < height; row++) {
    for (let column = 0; column < width; column++) {
      const field = row * width + column
      const y = ((grid.ys[row] ?? 0) + (grid.ys[row + 1] ?? 0)) / 2
      const x = ((grid.xs[column] ?? 0) + (grid.xs[column + 1] ?? 0)) / 2
      const joinsLeft = column > 0 && !hasRule(grid.upright, grid.xs[column] ?? 0, y)
      const joinsUp = row > 0 && !hasRule(grid.level, grid.ys[row] ?? 0, x)
      owners[field] = joinsLeft ? (owners[field - 1] ?? field) : joinsUp ? (owners[field - width] ?? field) : field
    }
  }
  return owners
}

function hasRule(rules: readonly DrawnRule[], at: number, along: number): boolean {
  return rules.some(
    (rule) =>
      Math.abs(rule.at - at) <= MIN_CELL_PT &&
      rule.from - MAX_RULE_DISTANCE_PT <= along &&
      along <= rule.to + MAX_RULE_DISTANCE_PT,
  )
}

function toSpans(owners: readonly number[], height: number, width: number): CellSpan[] {
  const last = new Map<number, number>()
  for (const [field, first] of owners.entries()) last.set(first, field)
  const spans: CellSpan[] = []
  for (const [first, end] of last) {
    if (first === end) continue
    const row = Math.floor(first / width)
    const column = first % width
    spans.push({ row, column, rows: Math.floor(end / width) - row + 1, columns: (end % width) - column + 1 })
  }
  return spans.filter((span) => span.columns > 0 && span.row + span.rows <= height)
}
