import type { EngineContext, RetentionRules } from '../../library/index.js'
import type { Read, Write } from '../../store/program.js'
import type { SpaceRow } from '../../store/rows/spaces.js'
import { type RemovalSlice, removeInOneWrite } from '../../store/slices.js'

/** The input of one step of the clean-up. */
export interface RetentionScope {
  context: EngineContext
  space: SpaceRow
  rules: RetentionRules
  /** milliseconds since the epoch, the same for a whole run */
  now: number
  batchRows: number
  signal: AbortSignal
}

/** Removes a slice of what has outlived the policy. Every step may be interrupted anywhere and repeated. */
export type RetentionStep = (scope: RetentionScope) => Promise<RemovalSlice>

/**
 * Creates a step that removes the rows of a space which have outlived a number of days.
 *
 * @param maxRows maximum number of rows in a slice, for rows with many dependent rows
 */
export function createAgeStep<T>(
  list: (spaceKey: number, before: number, limit: number) => Read<readonly T[]>,
  remove: (row: T) => Write<unknown>,
  getDays: (rules: RetentionRules) => number,
  maxRows = Number.POSITIVE_INFINITY,
): RetentionStep {
  return async ({ context: { db }, space, rules, now, batchRows }) => {
    const limit = Math.min(batchRows, maxRows)
    const rows = await db.read(list(space.key, getCutoff(now, getDays(rules)), limit))
    return removeInOneWrite(db, rows, limit, remove)
  }
}

export const DAY_MS = 24 * 60 * 60 * 1000

/** The time before which data have outlived `days`. */
export function getCutoff(now: number, days: number): number {
  return Math.max(0, now - days * DAY_MS)
}
