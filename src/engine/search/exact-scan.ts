import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  createBlockScanner,
  createTopRows,
  findKthBestScore,
  listRowsWithScore,
  offerRow,
  type RowFilter,
  type TopRows,
} from './scan.kernel.js'
import type { Sketch } from './sketch.kernel.js'
import { BLOCK_ROWS, MAX_RUN_ROWS, type VectorRows } from './vector-rows.js'

/** 16,384 rows of full comparison take a few milliseconds; then the event loop gets a turn. */
const BLOCKS_PER_TURN = 32
/** About 1.5 ms of sketch comparison. */
const SKETCHED_ROWS_PER_TURN = MAX_RUN_ROWS
/** Up to this count, full comparison is faster than sketches. */
const MAX_FULL_ROWS = 64

/** The rows to compare: those whose masked flags equal `wanted` and, with `allow`, that are set there. */
export type RowChoice = Omit<RowFilter, 'flags'>

/** The best `k` of the chosen rows, with exact cosines. Sketches only exclude rows that cannot be among them. */
export async function scanRows(rows: VectorRows, query: Float32Array, k: number, choice: RowChoice): Promise<TopRows> {
  const filter = { ...choice, flags: rows.flags }
  const { end, sketch } = rows
  if (sketch === undefined) return scanInFull(rows, query, k, filter)
  const { scores, error } = await compareSketches(sketch, query, end)
  const top = createTopRows(k)
  // a row whose sketch is worse than the k-th best by more than twice the error cannot be among the best
  const minScore = findKthBestScore(scores, end, filter, k) - 2 * error
  for (const row of listRowsWithScore(scores, end, filter, minScore)) {
    const cosine = rows.cosine(query, row)
    if (cosine !== undefined) offerRow(top, row, cosine)
  }
  return top
}

/** The approximate cosines of all rows, and their maximal error. */
async function compareSketches(sketch: Sketch, query: Float32Array, end: number) {
  const scores = new Float32Array(end)
  let error = 0
  for (let first = 0; first < end; first += SKETCHED_ROWS_PER_TURN) {
    const last = Math.min(end, first + SKETCHED_ROWS_PER_TURN)
    error = Math.max(error, sketch.compare(query, first, last, scores))
    if (last < end) await nextTurn()
  }
  return { scores, error }
}

/**
 * Offers the rows outside of the graph that may be among the best. The cost grows with their number, not with the
 * space.
 */
export async function offerRowsOutside(rows: VectorRows, query: Float32Array, top: TopRows): Promise<void> {
  const runs = rows.outsideRuns()
  const listed: number[] = []
  for (let i = 0; i < runs.length; i += 2)
    for (let row = runs[i] ?? 0; row < (runs[i + 1] ?? 0); row++) listed.push(row)
  const { sketch } = rows
  if (sketch === undefined || listed.length <= MAX_FULL_ROWS) return offerRows(rows, query, listed, top)
  const scores = new Float32Array(listed.length)
  const best = createTopRows(top.capacity)
  let error = 0
  for (let i = 0, position = 0, untilTurn = SKETCHED_ROWS_PER_TURN; i < runs.length; ) {
    // another search may have set its query during the wait; rows added since then can only increase the error
    error = Math.max(error, sketch.setQuery(query))
    for (; i < runs.length && position < untilTurn; i += 2) {
      const [first = 0, end = 0] = runs.subarray(i, i + 2)
      sketch.compareWithSet(first, end, scores, position)
      for (let j = position; j < position + end - first; j++) offerRow(best, j, scores[j] ?? 0)
      position += end - first
    }
    untilTurn = position + SKETCHED_ROWS_PER_TURN
    if (i < runs.length) await nextTurn()
  }
  const minScore = best.size < best.capacity ? Number.NEGATIVE_INFINITY : (best.scores[0] ?? 0) - 2 * error
  await offerRows(
    rows,
    query,
    listed.filter((_, index) => (scores[index] ?? 0) >= minScore),
    top,
  )
}

async function scanInFull(rows: VectorRows, query: Float32Array, k: number, filter: RowFilter): Promise<TopRows> {
  const top = createTopRows(k)
  const scanBlock = createBlockScanner(query, filter, top)
  const { end } = rows
  for (const [index, block] of rows.blocks.entries()) {
    const first = index * BLOCK_ROWS
    scanBlock(block, first, Math.min(BLOCK_ROWS, end - first))
    if (index % BLOCKS_PER_TURN === BLOCKS_PER_TURN - 1) await nextTurn()
  }
  return top
}

/** Compares the listed rows one by one in full. */
export async function offerRows(
  rows: VectorRows,
  query: Float32Array,
  listed: readonly number[],
  top: TopRows,
): Promise<void> {
  for (const [index, row] of listed.entries()) {
    const cosine = rows.cosine(query, row)
    if (cosine !== undefined) offerRow(top, row, cosine)
    if (index % (BLOCKS_PER_TURN * BLOCK_ROWS) === BLOCKS_PER_TURN * BLOCK_ROWS - 1) await nextTurn()
  }
}
