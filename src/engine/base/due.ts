/**
 * Whether what was planned for a time of the wall clock still waits. A plan that lies further ahead than any is made was
 * made before the clock was set back, and is due: it would wait for as long as the clock went.
 *
 * @param at, now milliseconds since the epoch
 * @param longest the furthest ahead that plans of this kind are made, in milliseconds
 */
export function stillWaits(at: number, now: number, longest: number): boolean {
  return at > now && at <= now + longest
}
