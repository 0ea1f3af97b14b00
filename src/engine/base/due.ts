/**
 * Whether a planned time of the wall clock is still ahead. A time further ahead than `maxAheadMs` was planned before
 * the clock was set back, and counts as due: otherwise it would wait for as long as the clock was moved.
 *
 * @param plannedAt, now milliseconds since the epoch
 * @param maxAheadMs the furthest ahead that such a time is planned, in milliseconds
 */
export function isStillAhead(plannedAt: number, now: number, maxAheadMs: number): boolean {
  return plannedAt > now && plannedAt <= now + maxAheadMs
}
