import type { EngineContext } from '../context.js'
import type { SpaceRow } from '../spaces/store.js'
import type { Database } from '../storage/database.js'
import type { RetentionRules } from './policy.js'

/** What one step of the clean-up works on. */
export interface Scope {
  context: EngineContext
  space: SpaceRow
  rules: RetentionRules
  /** milliseconds since the epoch, the same for a whole run */
  now: number
  batchRows: number
  signal: AbortSignal
}

export interface Slice {
  removed: number
  /** whether the step should be called again */
  more: boolean
}

/** Removes a little of what has outlived the policy. Every step may be interrupted anywhere and repeated. */
export type Step = (scope: Scope) => Promise<Slice>

export const NOTHING: Slice = { removed: 0, more: false }

const DAY = 24 * 60 * 60 * 1000
/** one transaction holds the event loop about this long, then the rest waits for the next */
const SLICE_MS = 8

/** What is older than this has outlived `days`. */
export function cutoff(now: number, days: number): number {
  return Math.max(0, now - days * DAY)
}

/** Removes rows inside the caller's transaction until they end or its time is over. @returns how many it took */
export function takeInTime<T>(rows: readonly T[], remove: (row: T) => void): number {
  const started = performance.now()
  let done = 0
  for (const row of rows) {
    remove(row)
    done += 1
    if (performance.now() - started > SLICE_MS) break
  }
  return done
}

/** The same in a transaction of its own. */
export async function inOneWrite<T>(
  db: Database,
  rows: readonly T[],
  batchRows: number,
  remove: (row: T) => void,
): Promise<Slice> {
  if (rows.length === 0) return NOTHING
  const removed = await db.write(() => takeInTime(rows, remove))
  return { removed, more: removed < rows.length || rows.length >= batchRows }
}
