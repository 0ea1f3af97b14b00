export interface BackoffOptions {
  baseMs: number
  capMs: number
  /** 0 to below 1; for tests */
  random?: () => number
}

/**
 * Wait before attempt `attempt + 1`: uniform between 0 and `baseMs * 2^(attempt - 1)`, at most `capMs`. Full jitter,
 * after M. Brooker, "Exponential Backoff And Jitter" (2015): fewest calls for the same work.
 *
 * @param attempt 1 for the first attempt, which has just failed
 */
export function backoffMs(attempt: number, options: BackoffOptions): number {
  const ceiling = Math.min(options.capMs, options.baseMs * 2 ** (attempt - 1))
  return (options.random ?? Math.random)() * ceiling
}

/**
 * Parses a `Retry-After` header (RFC 9110, 10.2.3: seconds or an HTTP date).
 *
 * @returns milliseconds to wait; undefined if the header is absent or invalid
 */
export function parseRetryAfter(value: string | undefined, now: number): number | undefined {
  const text = value?.trim() ?? ''
  // The RFC does not allow fractions, but some model servers send them.
  if (/^\d{1,9}(\.\d{1,6})?$/.test(text)) return Math.ceil(Number(text) * 1000)
  // Every HTTP date starts with the name of a day. `Date.parse` would accept guesses for other texts.
  if (!/^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)/.test(text)) return undefined
  const date = Date.parse(text)
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}
