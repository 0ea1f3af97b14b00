import type { Driver } from './driver.js'
import type { Write } from './program.js'

export interface Slice {
  removed: number
  /** whether another call would remove more */
  more: boolean
}

export const NOTHING: Slice = { removed: 0, more: false }

/** one transaction blocks the event loop about this long; the rest waits for the next */
const SLICE_MS = 8

/** Removes rows until none is left or the time is over. @returns the count of removed rows */
export function* takeInTime<T>(rows: readonly T[], remove: (row: T) => Write<unknown>): Write<number> {
  const started = performance.now()
  let done = 0
  for (const row of rows) {
    yield* remove(row)
    done += 1
    if (performance.now() - started > SLICE_MS) break
  }
  return done
}

/** The same in a separate transaction. */
export async function inOneWrite<T>(
  db: Driver,
  rows: readonly T[],
  batchRows: number,
  remove: (row: T) => Write<unknown>,
): Promise<Slice> {
  if (rows.length === 0) return NOTHING
  const removed = await db.write(() => takeInTime(rows, remove))
  return { removed, more: removed < rows.length || rows.length >= batchRows }
}
