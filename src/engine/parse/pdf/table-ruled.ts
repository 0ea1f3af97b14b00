import type { Span } from '../tables/cells.js'
import { type Drawn, joinRules, type Rule } from './table-rules.js'
import type { Segment } from './table-words.js'

/** A ruled grid of cells on a page. */
export interface Grid {
  /** Edges of its columns, left to right. */
  xs: number[]
  /** Edges of its rows, top to bottom. */
  ys: number[]
  level: Rule[]
  upright: Rule[]
}

/** Rules this close, in points, are one rule, or reach each other. */
const NEAR = 3
const MAX_LINES = 300
const OPEN = 12
/** Minimal side of a cell, in points. */
const MIN_CELL = 5

/** Finds grids of level and upright rules that reach each other, with at least two rows and two columns. */
export function gridsOf(drawn: Drawn): Grid[] {
  const level = joinRules([...drawn.level, ...edgesOf(drawn)], NEAR)
  const upright = joinRules(drawn.upright, NEAR)
  if (level.length < 2 || upright.length < 2 || level.length > MAX_LINES || upright.length > MAX_LINES) return []
  const group = level.map((_, index) => index)
  const root = (one: number): number => {
    let at = one
    while (group[at] !== at) at = group[at] ?? at
    group[one] = at
    return at
  }
  const reached: number[][] = upright.map((line) => level.flatMap((other, index) => (meet(other, line) ? [index] : [])))
  for (const [first, ...rest] of reached) {
    if (first === undefined) continue
    for (const other of rest) group[root(other)] = root(first)
  }
  const parts = new Map<number, { level: Rule[]; upright: Rule[] }>()
  for (const [index, line] of level.entries()) partOf(parts, root(index)).level.push(line)
  for (const [index, line] of upright.entries()) {
    const first = reached[index]?.[0]
    if (first !== undefined) partOf(parts, root(first)).upright.push(line)
  }
  return [...parts.values()].map(gridOf).filter((grid) => grid.xs.length >= 3 && grid.ys.length >= 3)
}

/** Upper and lower edges of filled rows are rules of a grid when upright rules separate their cells. */
function edgesOf(drawn: Drawn): Rule[] {
  if (drawn.upright.length < 2 || drawn.stripes.length > MAX_LINES) return []
  return drawn.stripes.flatMap(({ left, right, bottom, top }) => [
    { at: bottom, from: left, to: right },
    { at: top, from: left, to: right },
  ])
}

function partOf(
  parts: Map<number, { level: Rule[]; upright: Rule[] }>,
  key: number,
): { level: Rule[]; upright: Rule[] } {
  const part = parts.get(key) ?? { level: [], upright: [] }
  parts.set(key, part)
  return part
}

function meet(level: Rule, upright: Rule): boolean {
  return (
    upright.at >= level.from - NEAR &&
    upright.at <= level.to + NEAR &&
    level.at >= upright.from - NEAR &&
    level.at <= upright.to + NEAR
  )
}

/**
 * Builds a grid. When its level rules extend beyond the upright ones, it is open on that side and gets an edge there.
 */
function gridOf({ level, upright }: { level: Rule[]; upright: Rule[] }): Grid {
  const ends =
    level.length < 2
      ? []
      : [Math.max(...level.map((rule) => -rule.from)) * -1, Math.max(...level.map((rule) => rule.to))]
  const [left, right] = ends
  const sides = ends.map((at) => ({ at, from: 0, to: 0 }))
  const xs = places(upright)
  const open =
    left !== undefined && right !== undefined && (left < (xs[0] ?? 0) - OPEN || right > (xs.at(-1) ?? 0) + OPEN)
  return { level, upright, xs: open ? places([...upright, ...sides]) : xs, ys: places(level).reverse() }
}

function places(rules: readonly Rule[]): number[] {
  const sorted: number[] = []
  for (const at of rules.map((rule) => rule.at).sort((a, b) => a - b)) {
    if (sorted.length === 0 || at - (sorted.at(-1) ?? 0) > MIN_CELL) sorted.push(at)
  }
  return sorted
}

/** Fills the cells of a grid with its text; neighbouring cells without a rule between them are one cell. */
export function fillGrid(
  grid: Grid,
  segments: readonly Segment[],
): { rows: string[][]; spans: Span[]; used: Segment[] } {
  const height = grid.ys.length - 1
  const width = grid.xs.length - 1
  const owner = cellOwners(grid, height, width)
  const texts = new Map<number, Segment[]>()
  const used: Segment[] = []
  for (const one of segments) {
    const row = between(grid.ys, -(one.y + 0.3 * one.size), (edge) => -edge)
    const column = between(grid.xs, (one.left + one.right) / 2, (edge) => edge)
    if (row === -1 || column === -1) continue
    const key = owner[row * width + column] ?? row * width + column
    texts.set(key, [...(texts.get(key) ?? []), one])
    used.push(one)
  }
  const rows = Array.from({ length: height }, () => new Array<string>(width).fill(''))
  for (const [key, parts] of texts) {
    const row = rows[Math.floor(key / width)]
    if (row !== undefined) row[key % width] = inOrder(parts)
  }
  return { rows, spans: spansOf(owner, height, width), used }
}

function inOrder(parts: readonly Segment[]): string {
  const sorted = [...parts].sort((a, b) => (Math.abs(a.y - b.y) > 0.4 * a.size ? b.y - a.y : a.left - b.left))
  return sorted.map((one) => one.text).join(' ')
}

function between(edges: readonly number[], at: number, of: (edge: number) => number): number {
  for (let index = 1; index < edges.length; index++) {
    if (at >= of(edges[index - 1] ?? 0) - 1 && at < of(edges[index] ?? 0)) return index - 1
  }
  return -1
}

/** For each field of the grid, the index of the upper left field of its cell. */
function cellOwners(grid: Grid, height: number, width: number): number[] {
  const owner: number[] = []
  for (let row = 0; row < height; row++) {
    for (let column = 0; column < width; column++) {
      const at = row * width + column
      const y = ((grid.ys[row] ?? 0) + (grid.ys[row + 1] ?? 0)) / 2
      const x = ((grid.xs[column] ?? 0) + (grid.xs[column + 1] ?? 0)) / 2
      const left = column > 0 && !isDrawn(grid.upright, grid.xs[column] ?? 0, y)
      const up = row > 0 && !isDrawn(grid.level, grid.ys[row] ?? 0, x)
      owner[at] = left ? (owner[at - 1] ?? at) : up ? (owner[at - width] ?? at) : at
    }
  }
  return owner
}

function isDrawn(rules: readonly Rule[], at: number, along: number): boolean {
  return rules.some(
    (rule) => Math.abs(rule.at - at) <= MIN_CELL && rule.from - NEAR <= along && along <= rule.to + NEAR,
  )
}

function spansOf(owner: readonly number[], height: number, width: number): Span[] {
  const last = new Map<number, number>()
  for (const [at, first] of owner.entries()) last.set(first, at)
  const spans: Span[] = []
  for (const [first, end] of last) {
    if (first === end) continue
    const row = Math.floor(first / width)
    const column = first % width
    spans.push({ row, column, rows: Math.floor(end / width) - row + 1, columns: (end % width) - column + 1 })
  }
  return spans.filter((span) => span.columns > 0 && span.row + span.rows <= height)
}
