/** Interval of regular checks of the token. */
const RENEWAL_CHECK_MS = 12 * 60 * 60 * 1000
/** Interval of cheap checks of the clock. */
const CLOCK_CHECK_MS = 5_000
/** A larger difference between wall clock and elapsed time means that the clock was set, or the machine slept. */
const MIN_CLOCK_JUMP_MS = 60_000

/**
 * Keeps the token of the command line fresh: checks it twice a day, and when the wall clock has jumped. Otherwise a
 * machine that slept longer than the token's lifetime, or started with a wrong clock, would lock out its user for
 * hours.
 *
 * @param renew creates a new token if the current one is not fresh
 * @param onError called with errors of `renew`
 */
export function keepTokenFresh(renew: () => Promise<void>, onError: (error: unknown) => void): { close(): void } {
  let lastOffset = getClockOffset()
  let lastCheckAt = performance.now()
  const timer = setInterval(() => {
    const offset = getClockOffset()
    const isDue =
      Math.abs(offset - lastOffset) > MIN_CLOCK_JUMP_MS || performance.now() - lastCheckAt > RENEWAL_CHECK_MS
    lastOffset = offset
    if (!isDue) return
    lastCheckAt = performance.now()
    renew().catch(onError)
  }, CLOCK_CHECK_MS)
  timer.unref()
  return { close: () => clearInterval(timer) }
}

/** Difference between the wall clock and the monotonic clock. */
function getClockOffset(): number {
  return Date.now() - performance.now()
}
