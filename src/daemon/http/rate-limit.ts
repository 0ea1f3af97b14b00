import { LRUCache } from 'lru-cache'
import { KsError } from '../../contract/errors.js'

const MAX_BUCKETS = 10_000
const MINUTE_MS = 60_000

interface TokenBucket {
  tokens: number
  updatedAt: number
}

/**
 * Counts a request for a key.
 * @throws KsError `rate-limited` with the seconds to wait
 */
export type RateLimit = (key: string) => void

/**
 * A token bucket for each key: `perMinute` requests in a burst, refilled evenly. With several gateways, each gets an
 * equal part, at least one request: together they allow as much as one.
 *
 * @param perMinute 0 is no limit
 * @param gateways current number of gateways
 */
export function createRateLimit(perMinute: number, gateways: () => number = () => 1): RateLimit {
  if (perMinute === 0) return () => {}
  const buckets = new LRUCache<string, TokenBucket>({ max: MAX_BUCKETS })
  return (key) => {
    const now = performance.now()
    const gatewayLimit = perMinute / gateways()
    const capacity = Math.max(1, gatewayLimit)
    const bucket = buckets.get(key) ?? { tokens: capacity, updatedAt: now }
    const tokens = Math.min(capacity, bucket.tokens + ((now - bucket.updatedAt) / MINUTE_MS) * gatewayLimit)
    if (tokens < 1) {
      const retryAfter = Math.ceil(((1 - tokens) * MINUTE_MS) / gatewayLimit / 1000)
      throw new KsError('rate-limited', `a token may make ${perMinute} requests a minute`, { retryAfter })
    }
    buckets.set(key, { tokens: tokens - 1, updatedAt: now })
  }
}
