import type { EngineContext } from '../context.js'
import type { SpaceRow } from '../rows/spaces.js'
import type { RetentionRules } from '../spaces/retention-policy.js'
import type { Slice } from '../storage/slices.js'

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

/** Removes a little of what has outlived the policy. Every step may be interrupted anywhere and repeated. */
export type Step = (scope: Scope) => Promise<Slice>
const DAY = 24 * 60 * 60 * 1000

/** What is older than this has outlived `days`. */
export function cutoff(now: number, days: number): number {
  return Math.max(0, now - days * DAY)
}
