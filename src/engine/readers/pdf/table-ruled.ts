import type { CellSpan } from '../tables/cells.js'
import { type DrawnRule, joinRules, type PageDrawings } from './table-rules.js'
import type { TextSegment } from './table-words.js'

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
  const texts = new Map<number, TextSegment[]>()
  const used: TextSegment[] = []
  for (const one of segments) {
    const row = findInterval(grid.ys, -(one.y + 0.3 * one.size), (edge) => -edge)
    const column = findInterval(grid.xs, (one.left + one.right) / 2, (edge) => edge)
    if (row === -1 || column === -1) continue
    const key = owners[row * width + column] ?? row * width + column
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
