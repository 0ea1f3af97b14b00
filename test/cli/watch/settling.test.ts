import { expect, test } from 'vitest'
import { GONE_MS, GROWING_MS, SETTLE_MS, Settling } from '../../../src/cli/watch/settling.js'

const NOW = 1_000_000

test('an old change is read at once', () => {
  expect(new Settling().present('a', 'one', NOW - 10_000, NOW)).toBe(0)
})

test('a new state must remain for a while', () => {
  const settling = new Settling()
  expect(settling.present('a', 'one', NOW, NOW)).toBe(SETTLE_MS)
  expect(settling.present('a', 'one', NOW, NOW + 40)).toBe(SETTLE_MS - 40)
  expect(settling.present('a', 'one', NOW, NOW + SETTLE_MS)).toBe(0)
})

test('a file that changes while waiting is waited for longer', () => {
  const settling = new Settling()
  settling.present('a', 'one', NOW, NOW)
  expect(settling.present('a', 'two', NOW + 50, NOW + 50)).toBe(GROWING_MS)
  expect(settling.present('a', 'two', NOW + 50, NOW + 50 + GROWING_MS)).toBe(0)
})

test('a file that is missing for a moment is neither deleted nor growing when it returns', () => {
  const settling = new Settling()
  expect(settling.gone('a', NOW)).toBe(GONE_MS)
  expect(settling.present('a', 'two', NOW + 100, NOW + 100)).toBe(SETTLE_MS)
  expect(settling.gone('a', NOW + 150)).toBe(GONE_MS)
  expect(settling.gone('a', NOW + 150 + GONE_MS)).toBe(0)
})
