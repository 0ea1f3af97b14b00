import { expect, test } from 'vitest'
import { createRateLimit, type RateLimit } from '../../../src/daemon/http/rate-limit.js'

function letThrough(limit: RateLimit, most = 100): number {
  for (let sent = 0; sent < most; sent++)
    try {
      limit('key')
    } catch (error) {
      expect(error).toMatchObject({ code: 'rate-limited', retryAfter: expect.any(Number) })
      return sent
    }
  return most
}

test('several gateways together allow the rate limit of a single gateway, and each at least one request', () => {
  expect(letThrough(createRateLimit(9))).toBe(9)
  const three = () => 3
  expect([1, 2, 3].map(() => letThrough(createRateLimit(9, three)))).toEqual([3, 3, 3])
  expect(letThrough(createRateLimit(1, three))).toBe(1)
  expect(letThrough(createRateLimit(0, three))).toBe(100)
})

test('a gateway allows a smaller share of the rate limit as soon as further gateways join', () => {
  let count = 1
  const limit = createRateLimit(10, () => count)
  for (let sent = 0; sent < 4; sent++) limit('key')
  count = 5
  // Six are left, but its share is two.
  expect(letThrough(limit)).toBe(2)
})
