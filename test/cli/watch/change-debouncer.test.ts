import { expect, test } from 'vitest'
import {
  ChangeDebouncer,
  GROWING_SETTLE_MS,
  MISSING_SETTLE_MS,
  SETTLE_MS,
} from '../../../src/cli/watch/change-debouncer.js'

const NOW = 1_000_000

test('an old change is read at once', () => {
  expect(new ChangeDebouncer().getPresentDelay('a', 'one', NOW - 10_000, NOW)).toBe(0)
})

test('a new state must remain for a while', () => {
  const settling = new ChangeDebouncer()
  expect(settling.getPresentDelay('a', 'one', NOW, NOW)).toBe(SETTLE_MS)
  expect(settling.getPresentDelay('a', 'one', NOW, NOW + 40)).toBe(SETTLE_MS - 40)
  expect(settling.getPresentDelay('a', 'one', NOW, NOW + SETTLE_MS)).toBe(0)
})

test('a file that changes while waiting is waited for longer', () => {
  const settling = new ChangeDebouncer()
  settling.getPresentDelay('a', 'one', NOW, NOW)
  expect(settling.getPresentDelay('a', 'two', NOW + 50, NOW + 50)).toBe(GROWING_SETTLE_MS)
  expect(settling.getPresentDelay('a', 'two', NOW + 50, NOW + 50 + GROWING_SETTLE_MS)).toBe(0)
})

test('a file that is missing for a moment is neither deleted nor growing when it returns', () => {
  const settling = new ChangeDebouncer()
  expect(settling.getMissingDelay('a', NOW)).toBe(MISSING_SETTLE_MS)
  expect(settling.getPresentDelay('a', 'two', NOW + 100, NOW + 100)).toBe(SETTLE_MS)
  expect(settling.getMissingDelay('a', NOW + 150)).toBe(MISSING_SETTLE_MS)
  expect(settling.getMissingDelay('a', NOW + 150 + MISSING_SETTLE_MS)).toBe(0)
})
