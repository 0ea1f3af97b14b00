import type { Box } from '../render/page-objects.js'

/** Drawings closer than this are merged, in points: the side of a cell of the raster. */
const CELL = 8
/** A line this low, in points, and wider than this fraction of the page separates text and is not a drawing. */
const RULE_HEIGHT = 2
const RULE_SHARE = 0.45

export function widthOf({ left, right }: Box): number {
  return right - left
}

export function heightOf({ top, bottom }: Box): number {
  return bottom - top
}

export function isOverlapping(one: Box, other: Box): boolean {
  return one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom
}

/** The box around boxes; undefined without boxes. */
export function joined(boxes: readonly Box[]): Box | undefined {
  const [first, ...rest] = boxes
  if (first === undefined) return undefined
  const union = { left: first.left, top: first.top, right: first.right, bottom: first.bottom }
  for (const { left, top, right, bottom } of rest) {
    union.left = Math.min(union.left, left)
    union.top = Math.min(union.top, top)
    union.right = Math.max(union.right, right)
    union.bottom = Math.max(union.bottom, bottom)
  }
  return union
}

/** Merges boxes that are no further apart than `gap`. @param boxes at most 400; more are not merged */
export function touching(boxes: readonly Box[], gap: number): Box[] {
  if (boxes.length > 400) return [...boxes]
  const open = [...boxes]
  const groups: Box[] = []
  while (open.length > 0) {
    let group = open.pop()
    for (let at = 0; group !== undefined && at < open.length; at++) {
      const other = open[at]
      if (other === undefined || !isNear(group, other, gap)) continue
      group = joined([group, other])
      open.splice(at, 1)
      at = -1
    }
    if (group !== undefined) groups.push(group)
  }
  return groups
}

function isNear(one: Box, other: Box, gap: number): boolean {
  return isOverlapping(
    { left: one.left - gap, top: one.top - gap, right: one.right + gap, bottom: one.bottom + gap },
    other,
  )
}

/**
 * Merges lines, areas and curves that are close together into one box for each drawing. The cost depends on the raster,
 * even for thousands of boxes.
 */
export function drawnTogether(boxes: readonly Box[], page: Box): Box[] {
  const columns = Math.min(1000, Math.ceil(widthOf(page) / CELL) + 1)
  const rows = Math.min(1000, Math.ceil(heightOf(page) / CELL) + 1)
  const cells = new Int32Array(columns * rows)
  const at = (value: number, most: number) => Math.min(most - 1, Math.max(0, Math.floor(value / CELL)))
  const kept = boxes.filter((box) => !isRule(box, page))
  for (const { left, top, right, bottom } of kept)
    for (let row = at(top, rows); row <= at(bottom, rows); row++)
      cells.fill(1, row * columns + at(left, columns), row * columns + at(right, columns) + 1)
  const groups = label(cells, columns)
  const members = new Map<number, Box[]>()
  for (const box of kept) {
    const group = groups[at(box.top, rows) * columns + at(box.left, columns)] ?? 0
    const known = members.get(group)
    if (known === undefined) members.set(group, [box])
    else known.push(box)
  }
  return [...members.values()].flatMap((group) => joined(group) ?? [])
}

function isRule(box: Box, page: Box): boolean {
  return heightOf(box) <= RULE_HEIGHT && widthOf(box) >= RULE_SHARE * widthOf(page)
}

/** Labels connected cells with numbers from 2 on. */
function label(cells: Int32Array, columns: number): Int32Array {
  let next = 2
  const open: number[] = []
  for (let start = 0; start < cells.length; start++) {
    if (cells[start] !== 1) continue
    cells[start] = next
    open.push(start)
    for (let cell = open.pop(); cell !== undefined; cell = open.pop()) {
      const column = cell % columns
      for (const down of [-columns, 0, columns])
        for (const across of [-1, 0, 1]) {
          const beside = cell + down + across
          if (column + across < 0 || column + across >= columns || cells[beside] !== 1) continue
          cells[beside] = next
          open.push(beside)
        }
    }
    next++
  }
  return cells
}
