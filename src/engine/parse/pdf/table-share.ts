import type { Cell, Line } from './table-lines.js'

/** The first and the last of the columns that a name stands over. */
export interface Place {
  from: number
  to: number
}

/** The room of a column across the page, which may be wider than what stands in it. */
export interface Room {
  left: number
  right: number
}

/** In points: the middle of a name is not further from that of its columns. */
export const FAR_OFF = 14
/** A column that no name stands over costs as much as a name that is off by so many points. */
const BARE = 1
/** Names and columns that are shared out at most. */
const MAX_SHARED = 24

/**
 * Shares the columns of values out among names, in their order, so that each name stands as near as can be to the middle of
 * its columns; a column without any costs a little.
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
  // by names placed and columns used: what it cost, and the first column of the last name
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

/** What the names before cost when they leave the columns from `from` on. */
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

/** How far a name stands from the middle of columns; nothing where it is too far, or not over them. */
function offMiddle(cell: Cell, rooms: readonly Room[], from: number, to: number): number | undefined {
  const [left, right] = [rooms[from]?.left ?? 0, rooms[to]?.right ?? 0]
  if (from > cell.from || to < cell.to) return undefined
  const off = Math.abs(cell.left + cell.right - left - right) / 2
  return off < FAR_OFF ? off : undefined
}

/** The name in the line above that takes several columns, this one's among them. */
export function overOf(cell: Cell, upper: Line | undefined): Cell | undefined {
  return upper?.cells.find((one) => one.to > one.from && one.from <= cell.from && one.to >= cell.to)
}
