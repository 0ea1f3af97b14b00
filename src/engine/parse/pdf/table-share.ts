import type { Cell, Line } from './table-lines.js'

/** The first and the last of the columns that a name covers. */
export interface Place {
  from: number
  to: number
}

/** The horizontal extent of a column, which may be wider than its contents. */
export interface Room {
  left: number
  right: number
}

/** Maximal distance between the middle of a name and that of its columns, in points. */
export const FAR_OFF = 14
/** Cost of an unnamed column, in points of offset of a name. */
const BARE = 1
/** Maximal number of names and of columns for this algorithm. */
const MAX_SHARED = 24

/**
 * Assigns the value columns to names in order, so that each name is as close as possible to the middle of its columns;
 * an unnamed column has a small cost. Dynamic programming over names and columns.
 *
 * @returns undefined without a solution
 */
export function shareOut(
  own: readonly Cell[],
  fixed: ReadonlyMap<Cell, Place>,
  upper: Line | undefined,
  rooms: readonly Room[],
  stub: number,
): Map<Cell, Place> | undefined {
  const end = rooms.length
  if (own.length > MAX_SHARED || end > MAX_SHARED) return undefined
  // by number of names placed and columns used: the cost, and the first column of the last name
  const best = own.map(() => new Array<{ cost: number; from: number } | undefined>(end + 1).fill(undefined))
  for (const [name, cell] of own.entries()) {
    const known = fixed.get(cell)
    const over = known === undefined ? overOf(cell, upper) : undefined
    for (let to = stub; to <= (over?.to ?? end - 1); to++) {
      for (let from = known?.from ?? over?.from ?? stub; from <= to; from++) {
        if (known !== undefined && (from !== known.from || to !== known.to)) continue
        const off = known === undefined ? offMiddle(cell, rooms, from, to) : 0
        const before = name === 0 ? (from - stub) * BARE : costBefore(best[name - 1], from)
        if (off === undefined || before === undefined) continue
        const cost = before + off
        if (cost < (best[name]?.[to + 1]?.cost ?? Number.POSITIVE_INFINITY))
          best[name]?.splice(to + 1, 1, { cost, from })
      }
    }
  }
  return placesOf(own, best, end)
}

/** Minimal cost of the previous names when they leave the columns from `from` on free. */
function costBefore(best: readonly ({ cost: number } | undefined)[] | undefined, from: number): number | undefined {
  let least: number | undefined
  for (const [used, one] of best?.entries() ?? []) {
    if (one === undefined || used > from) continue
    const cost = one.cost + (from - used) * BARE
    if (least === undefined || cost < least) least = cost
  }
  return least
}

function placesOf(
  own: readonly Cell[],
  best: readonly (readonly ({ cost: number; from: number } | undefined)[])[],
  end: number,
): Map<Cell, Place> | undefined {
  const places = new Map<Cell, Place>()
  let free = end
  for (let name = own.length - 1; name >= 0; name--) {
    const cell = own[name]
    let chosen: { used: number; cost: number; from: number } | undefined
    for (const [used, one] of best[name]?.entries() ?? []) {
      if (one === undefined || used > free) continue
      const cost = one.cost + (free - used) * BARE
      if (chosen === undefined || cost < chosen.cost) chosen = { used, cost, from: one.from }
    }
    if (cell === undefined || chosen === undefined) return undefined
    places.set(cell, { from: chosen.from, to: chosen.used - 1 })
    free = chosen.from
  }
  return places
}

/** Distance of a name from the middle of columns; undefined when it is too far or the name is not over them. */
function offMiddle(cell: Cell, rooms: readonly Room[], from: number, to: number): number | undefined {
  const [left, right] = [rooms[from]?.left ?? 0, rooms[to]?.right ?? 0]
  if (from > cell.from || to < cell.to) return undefined
  const off = Math.abs(cell.left + cell.right - left - right) / 2
  return off < FAR_OFF ? off : undefined
}

/** The name in the line above that covers several columns, including this one. */
export function overOf(cell: Cell, upper: Line | undefined): Cell | undefined {
  return upper?.cells.find((one) => one.to > one.from && one.from <= cell.from && one.to >= cell.to)
}
