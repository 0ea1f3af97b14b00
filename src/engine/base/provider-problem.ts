import type { DegradedClass } from './degraded.js'
import { MAX_RETRY_DELAY_MS } from './runs.js'

/** a failing provider is retried after a second, then with growing delays */
const BACKOFF = { firstMs: 1000, longestMs: 5 * 60_000 }
/** Permanent errors can be fixed on the provider's side without notice: retry every 15 min. */
const PERMANENT_RETRY_MS = 15 * 60_000

/** What keeps a provider from working. */
export interface ProviderProblem {
  class: DegradedClass
  /** the same call fails until the operator changes something: a key, the name of a model, a setting */
  isPermanent: boolean
  /** one sentence; for a permanent failure with advice */
  message: string
  /** `Retry-After` of the provider, in milliseconds */
  retryAfterMs?: number
}

/** Milliseconds until a provider is called again. */
export function computeRetryDelayMs({ isPermanent, retryAfterMs = 0 }: ProviderProblem, attempts: number): number {
  if (isPermanent) return PERMANENT_RETRY_MS
  const backoff = Math.min(BACKOFF.firstMs * 2 ** attempts, BACKOFF.longestMs)
  return Math.min(MAX_RETRY_DELAY_MS, Math.max(retryAfterMs, Math.round(backoff * (0.5 + Math.random() / 2))))
}
