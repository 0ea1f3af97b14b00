/** Interval of regular checks of the token. */
const CHECK_MS = 12 * 60 * 60 * 1000
/** Interval of cheap checks of the clock. */
const LOOK_MS = 5_000
/** A larger difference between wall clock and elapsed time means that the clock was set, or the machine slept. */
const JUMP_MS = 60_000

/**
 * Keeps the token of the command line fresh: checks it twice a day, and when the wall clock has jumped. Otherwise a
 * machine that slept longer than the token's lifetime, or started with a wrong clock, would lock out its user for
 * hours.
 *
 * @param renew creates a new token if the current one is not fresh
 * @param onError called with errors of `renew`
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

/** Difference between the wall clock and the monotonic clock. */
function offset(): number {
  return Date.now() - performance.now()
}
