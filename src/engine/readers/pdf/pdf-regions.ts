import type { Box } from '../render/page-objects.js'

/** Drawings closer than this are merged, in points: the side of a cell of the raster. */
const CELL_PT = 8
/** A line this low, in points, and wider than this fraction of the page separates text and is not a drawing. */
const MAX_RULE_HEIGHT_PT = 2
const MIN_RULE_FRACTION = 0.45

export function getWidth({ left, right }: Box): number {
  return right - left
}

export function getHeight({ top, bottom }: Box): number {
  return bottom - top
}

export function isOverlapping(one: Box, other: Box): boolean {
  return one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom
}

/** The box around boxes; undefined without boxes. */
export function uniteBoxes(boxes: readonly Box[]): Box | undefined {
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
export function mergeTouching(boxes: readonly Box[], gap: number): Box[] {
  if (boxes.length > 400) return [...boxes]
  const open = [...boxes]
  const groups: Box[] = []
  while (open.length > 0) {
    let group = open.pop()
    for (let index = 0; group !== undefined && index < open.length; index++) {
      const other = open[index]
      if (other === undefined || !isNear(group, other, gap)) continue
      group = uniteBoxes([group, other])
      open.splice(index, 1)
      index = -1
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
export function mergeDrawings(boxes: readonly Box[], page: Box): Box[] {
  const columns = Math.min(1000, Math.ceil(getWidth(page) / CELL_PT) + 1)
  const rows = Math.min(1000, Math.ceil(getHeight(page) / CELL_PT) + 1)
  const cells = new Int32Array(columns * rows)
  const toCell = (value: number, count: number) => Math.min(count - 1, Math.max(0, Math.floor(value / CELL_PT)))
  const drawings = boxes.filter((box) => !isRule(box, page))
  for (const { left, top, right, bottom } of drawings)
    for (let row = toCell(top, rows); row <= toCell(bottom, rows); row++)
      cells.fill(1, row * columns + toCell(left, columns), row * columns + toCell(right, columns) + 1)
  const groups = labelConnectedCells(cells, columns)
  const members = new Map<number, Box[]>()
  for (const box of drawings) {
    const group = groups[toCell(box.top, rows) * columns + toCell(box.left, columns)] ?? 0
    const existing = members.get(group)
    if (existing === undefined) members.set(group, [box])
    else existing.push(box)
  }
  return [...members.values()].flatMap((group) => uniteBoxes(group) ?? [])
}

function isRule(box: Box, page: Box): boolean {
  return getHeight(box) <= MAX_RULE_HEIGHT_PT && getWidth(box) >= MIN_RULE_FRACTION * getWidth(page)
}

/** Labels connected cells with numbers from 2 on. */
function labelConnectedCells(cells: Int32Array, columns: number): Int32Array {
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
          const neighbour = cell + down + across
          if (column + across < 0 || column + across >= columns || cells[neighbour] !== 1) continue
          cells[neighbour] = next
          open.push(neighbour)
        }
    }
    next++
  }
  return cells
}
