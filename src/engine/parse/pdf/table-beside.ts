import type { Block } from './table-regions.js'
import type { Row, Segment } from './table-words.js'

/** Minimal gap between two tables side by side, in text sizes, and its minimal ratio to the next widest gap. */
const MIN_GAP = 3
const WIDER = 1.5
/** Minimal fraction of the rows, and minimal count, that have cells of both tables, with row names in both. */
const SHARE = 0.7
const MIN_ROWS = 3

interface Stretch {
  left: number
  right: number
}

/** Splits a block into the tables that are side by side in it, from left to right. */
export function besideEachOther(block: Block): Block[] {
  const at = gapBetween(block.rows)
  if (at === undefined) return [block]
  const left = part(block, (one) => one.right <= at)
  const right = part(block, (one) => one.left >= at)
  return [left, ...besideEachOther(right)]
}

function part(block: Block, holds: (one: Segment) => boolean): Block {
  const of = (rows: readonly Row[]): Row[] =>
    rows.flatMap((row) => {
      const segments = row.segments.filter(holds)
      return segments.length === 0 ? [] : [{ ...row, segments }]
    })
  return { above: of(block.above), rows: of(block.rows), below: of(block.below) }
}

/** The middle of the gap that separates two tables: much wider than other gaps, with row names to the right of it. */
function gapBetween(rows: readonly Row[]): number | undefined {
  if (rows.length < MIN_ROWS) return undefined
  const size = rows[0]?.size ?? 10
  const taken = stretches(rows)
  if (taken.length < 4) return undefined
  const gaps = taken
    .slice(1)
    .map(({ left }, index) => ({ at: taken[index]?.right ?? left, width: left - (taken[index]?.right ?? left) }))
  const [widest, next] = [...gaps].sort((a, b) => b.width - a.width)
  if (widest === undefined || next === undefined) return undefined
  if (widest.width < MIN_GAP * size || widest.width < WIDER * next.width) return undefined
  const at = widest.at + widest.width / 2
  const both = rows.filter((row) => isTwice(row, at))
  return both.length >= SHARE * rows.length && both.length >= MIN_ROWS ? at : undefined
}

/** Whether a row has at least two cells on both sides, each side starting with words. */
function isTwice({ segments }: Row, at: number): boolean {
  const right = segments.filter((one) => one.left >= at)
  const left = segments.length - right.length
  return left >= 2 && right.length >= 2 && right[0]?.numeric === false && segments[0]?.numeric === false
}

/** Horizontal ranges that any row covers, from left to right. */
function stretches(rows: readonly Row[]): Stretch[] {
  const taken: Stretch[] = []
  for (const { left, right } of rows.flatMap((row) => row.segments).sort((a, b) => a.left - b.left)) {
    const last = taken.at(-1)
    if (last !== undefined && left <= last.right) last.right = Math.max(last.right, right)
    else taken.push({ left, right })
  }
  return taken
}
