import type { TableLine, TableLineCell } from './table-lines.js'

/** The first and the last of the columns that a name covers. */
export interface ColumnRange {
  from: number
  to: number
}

/** The horizontal extent of a column, which may be wider than its contents. */
export interface ColumnExtent {
  left: number
  right: number
}

/** The column names of a line, and the line above it. */
export interface HeaderNames {
  names: readonly TableLineCell[]
  upper: TableLine | undefined
}

/** Maximal distance between the middle of a name and that of its columns, in points. */
export const MAX_NAME_OFFSET_PT = 14
/** Cost of an unnamed column, in points of offset of a name. */
const UNNAMED_COST = 1
/** Maximal number of names and of columns for this algorithm. */
const MAX_ASSIGNED = 24

/**
 * Assigns the value columns to names in order, so that each name is as close as possible to the middle of its columns;
 * an unnamed column has a small cost. Dynamic programming over names and columns.
 *
 * @returns undefined without a solution
 */
export function assignColumns(
  { names, upper }: HeaderNames,
  fixed: ReadonlyMap<TableLineCell, ColumnRange>,
  extents: readonly ColumnExtent[],
  stub: number,
): Map<TableLineCell, ColumnRange> | undefined {
  const end = extents.length
  if (names.length > MAX_ASSIGNED || end > MAX_ASSIGNED) return undefined
  // by number of names placed and columns used: the cost, and the first column of the last name
  const best = names.map(() => new Array<{ cost: number; from: number } | undefined>(end + 1).fill(undefined))
  for (const [name, cell] of names.entries()) {
    const fixedRange = fixed.get(cell)
    const spanning = fixedRange === undefined ? findSpanningName(cell, upper) : undefined
    for (let to = stub; to <= (spanning?.to ?? end - 1); to++) {
      for (let from = fixedRange?.from ?? spanning?.from ?? stub; from <= to; from++) {
        if (fixedRange !== undefined && (from !== fixedRange.from || to !== fixedRange.to)) continue
        const offset = fixedRange === undefined ? measureOffset(cell, extents, from, to) : 0
        const previousCost = name === 0 ? (from - stub) * UNNAMED_COST : computeCostBefore(best[name - 1], from)
        if (offset === undefined || previousCost === undefined) continue
        const cost = previousCost + offset
        if (cost < (best[name]?.[to + 1]?.cost ?? Number.POSITIVE_INFINITY))
          best[name]?.splice(to + 1, 1, { cost, from })
      }
    }
  }
  return backtrackRanges(names, best, end)
}

/** Minimal cost of the previous names when they leave the columns from `from` on free. */
function computeCostBefore(
  best: readonly ({ cost: number } | undefined)[] | undefined,
  from: number,
): number | undefined {
  let minCost: number | undefined
  for (const [used, one] of best?.entries() ?? []) {
    if (one === undefined || used > from) continue
    const cost = one.cost + (from - used) * UNNAMED_COST
    if (minCost === undefined || cost < minCost) minCost = cost
  }
  return minCost
}

function backtrackRanges(
  names: readonly TableLineCell[],
  best: readonly (readonly ({ cost: number; from: number } | undefined)[])[],
  end: number,
): Map<TableLineCell, ColumnRange> | undefined {
  const ranges = new Map<TableLineCell, ColumnRange>()
  let freeEnd = end
  for (let name = names.length - 1; name >= 0; name--) {
    const cell = names[name]
    let chosen: { used: number; cost: number; from: number } | undefined
    for (const [used, one] of best[name]?.entries() ?? []) {
      if (one === undefined || used > freeEnd) continue
      const cost = one.cost + (freeEnd - used) * UNNAMED_COST
      if (chosen === undefined || cost < chosen.cost) chosen = { used, cost, from: one.from }
    }
    if (cell === undefined || chosen === undefined) return undefined
    ranges.set(cell, { from: chosen.from, to: chosen.used - 1 })
    freeEnd = chosen.from
  }
  return ranges
}

/** Distance of a name from the middle of columns; undefined when it is too far or the name is not over them. */
function measureOffset(
  cell: TableLineCell,
  extents: readonly ColumnExtent[],
  from: number,
  to: number,
): number | undefined {
  const [left, right] = [extents[from]?.left ?? 0, extents[to]?.right ?? 0]
  if (from > cell.from || to < cell.to) return undefined
  const offset = Math.abs(cell.left + cell.right - left - right) / 2
  return offset < MAX_NAME_OFFSET_PT ? offset : undefined
}

/** The name in the line above that covers several columns, including this one. */
export function findSpanningName(cell: TableLineCell, upper: TableLine | undefined): TableLineCell | undefined {
  return upper?.cells.find((one) => one.to > one.from && one.from <= cell.from && one.to >= cell.to)
}
