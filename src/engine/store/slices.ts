import type { Driver } from './driver.js'
import type { Write } from './program.js'

export interface RemovalSlice {
  removed: number
  /** whether another call would remove more */
  more: boolean
}

export const NOTHING_REMOVED: RemovalSlice = { removed: 0, more: false }

/** one transaction blocks the event loop about this long; the rest waits for the next */
const MAX_SLICE_MS = 8

/** Removes rows until none is left or the time is over. @returns the count of removed rows */
export function* removeWithinTime<T>(rows: readonly T[], remove: (row: T) => Write<unknown>): Write<number> {
  const started = performance.now()
  let done = 0
  for (const row of rows) {
    yield* remove(row)
    done += 1
    if (performance.now() - started > MAX_SLICE_MS) break
  }
  return done
}

/** The same in a separate transaction. */
export async function removeInOneWrite<T>(
  db: Driver,
  rows: readonly T[],
  batchRows: number,
  remove: (row: T) => Write<unknown>,
): Promise<RemovalSlice> {
  if (rows.length === 0) return NOTHING_REMOVED
  const removed = await db.write(() => removeWithinTime(rows, remove))
  return { removed, more: removed < rows.length || rows.length >= batchRows }
}
