import type { RowBlock } from './table-regions.js'
import type { SegmentRow, TextSegment } from './table-words.js'

/** Minimal gap between two tables side by side, in text sizes, and its minimal ratio to the next widest gap. */
const MIN_GAP = 3
const MIN_GAP_RATIO = 1.5
/** Minimal fraction of the rows, and minimal count, that have cells of both tables, with row names in both. */
const MIN_ROW_FRACTION = 0.7
const MIN_ROWS = 3

interface HorizontalRange {
  left: number
  right: number
}

/** Splits a block into the tables that are side by side in it, from left to right. */
export function splitSideBySide(block: RowBlock): RowBlock[] {
  const middle = findTableGap(block.rows)
  if (middle === undefined) return [block]
  const left = selectSegments(block, (segment) => segment.right <= middle)
  const right = selectSegments(block, (segment) => segment.left >= middle)
  return [left, ...splitSideBySide(right)]
}

function selectSegments(block: RowBlock, isIncluded: (segment: TextSegment) => boolean): RowBlock {
  const filterRows = (rows: readonly SegmentRow[]): SegmentRow[] =>
    rows.flatMap((row) => {
      const segments = row.segments.filter(isIncluded)
      return segments.length === 0 ? [] : [{ ...row, segments }]
    })
  return { above: filterRows(block.above), rows: filterRows(block.rows), below: filterRows(block.below) }
}

/** The middle of the gap that separates two tables: much wider than other gaps, with row names to the right of it. */
function findTableGap(rows: readonly SegmentRow[]): number | undefined {
  if (rows.length < MIN_ROWS) return undefined
  const size = rows[0]?.size ?? 10
  const ranges = mergeRanges(rows)
  if (ranges.length < 4) return undefined
  const gaps = ranges
    .slice(1)
    .map(({ left }, index) => ({ at: ranges[index]?.right ?? left, width: left - (ranges[index]?.right ?? left) }))
  const [widest, next] = [...gaps].sort((a, b) => b.width - a.width)
  if (widest === undefined || next === undefined) return undefined
  if (widest.width < MIN_GAP * size || widest.width < MIN_GAP_RATIO * next.width) return undefined
  const middle = widest.at + widest.width / 2
  const sharedRows = rows.filter((row) => hasCellsOnBothSides(row, middle))
  return sharedRows.length >= MIN_ROW_FRACTION * rows.length && sharedRows.length >= MIN_ROWS ? middle : undefined
}

/** Whether a row has at least two cells on both sides, each side starting with words. */
function hasCellsOnBothSides({ segments }: SegmentRow, middle: number): boolean {
  const right = segments.filter((segment) => segment.left >= middle)
  const left = segments.length - right.length
  return left >= 2 && right.length >= 2 && right[0]?.numeric === false && segments[0]?.numeric === false
}

/** Horizontal ranges that any row covers, from left to right. */
function mergeRanges(rows: readonly SegmentRow[]): HorizontalRange[] {
  const ranges: HorizontalRange[] = []
  for (const { left, right } of rows.flatMap((row) => row.segments).sort((a, b) => a.left - b.left)) {
    const last = ranges.at(-1)
    if (last !== undefined && left <= last.right) last.right = Math.max(last.right, right)
    else ranges.push({ left, right })
  }
  return ranges
}
