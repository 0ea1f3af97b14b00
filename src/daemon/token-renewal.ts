/** how often a token that ages as it should is looked at */
const CHECK_MS = 12 * 60 * 60 * 1000
/** how often the clock is looked at, which costs no more than that */
const LOOK_MS = 5_000
/** a wall clock that went this much more or less than time did was set, or the machine slept */
const JUMP_MS = 60_000

/**
 * Keeps the token of the command line fresh: twice a day, and when the wall clock has jumped. A machine that slept for
 * longer than the token lives, or whose clock was wrong at the start, would lock its user out for hours.
 *
 * @param renew makes a new token when the present one is not fresh
 * @param failed is told what it threw
 */
export function keepTokenFresh(renew: () => Promise<void>, failed: (error: unknown) => void): { close(): void } {
  let seen = offset()
  let checked = performance.now()
  const timer = setInterval(() => {
    const now = offset()
    const isDue = Math.abs(now - seen) > JUMP_MS || performance.now() - checked > CHECK_MS
    seen = now
    if (!isDue) return
    checked = performance.now()
    renew().catch(failed)
  }, LOOK_MS)
  timer.unref()
  return { close: () => clearInterval(timer) }
}

/** By how much the wall clock is ahead of the one that only grows. */
function offset(): number {
  return Date.now() - performance.now()
}
