import fc from 'fast-check'
import { expect, test } from 'vitest'
import { backoffMs, parseRetryAfter } from '../../src/lib/retry.js'

const NOW = Date.UTC(2030, 0, 1, 12, 0, 0)

test.each([
  ['0', 0],
  ['120', 120_000],
  [' 1.5 ', 1500],
  ['Tue, 01 Jan 2030 12:00:30 GMT', 30_000],
  ['Tue, 01 Jan 2030 11:59:00 GMT', 0],
  ['Tuesday, 01-Jan-30 12:00:30 GMT', 30_000],
  ['-5', undefined],
  ['1e9', undefined],
  ['2030-01-01', undefined],
  ['soon', undefined],
  ['', undefined],
  [undefined, undefined],
])('Retry-After %j means %s ms', (value, expected) => {
  expect(parseRetryAfter(value, NOW)).toBe(expected)
})

test('any Retry-After results in a delay that can be waited, or in none', () => {
  fc.assert(
    fc.property(fc.string(), (value) => {
      const wait = parseRetryAfter(value, NOW)
      return wait === undefined || (Number.isFinite(wait) && wait >= 0)
    }),
  )
})

test('the backoff before a retry is random in a range that doubles up to its cap', () => {
  const most = (attempt: number) => backoffMs(attempt, { baseMs: 100, capMs: 1000, random: () => 1 })
  expect([1, 2, 3, 4, 5, 60].map(most)).toEqual([100, 200, 400, 800, 1000, 1000])
  expect(backoffMs(3, { baseMs: 100, capMs: 1000, random: () => 0 })).toBe(0)
})
