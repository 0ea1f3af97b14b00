import { expect, test } from 'vitest'
import {
  ChangeDebouncer,
  GROWING_SETTLE_MS,
  MISSING_SETTLE_MS,
  SETTLE_MS,
} from '../../../src/cli/watch/change-debouncer.js'

const NOW = 1_000_000

test('a watched file that changed 10 s ago is read without delay', () => {
  expect(new ChangeDebouncer().getPresentDelay('a', 'one', NOW - 10_000, NOW)).toBe(0)
})

test('a watched file that changed just now is read once it stayed the same for 100 ms', () => {
  const settling = new ChangeDebouncer()
  expect(settling.getPresentDelay('a', 'one', NOW, NOW)).toBe(SETTLE_MS)
  expect(settling.getPresentDelay('a', 'one', NOW, NOW + 40)).toBe(SETTLE_MS - 40)
  expect(settling.getPresentDelay('a', 'one', NOW, NOW + SETTLE_MS)).toBe(0)
})

test('a watched file that changes again within the delay must stay the same for 1 s', () => {
  const settling = new ChangeDebouncer()
  settling.getPresentDelay('a', 'one', NOW, NOW)
  expect(settling.getPresentDelay('a', 'two', NOW + 50, NOW + 50)).toBe(GROWING_SETTLE_MS)
  expect(settling.getPresentDelay('a', 'two', NOW + 50, NOW + 50 + GROWING_SETTLE_MS)).toBe(0)
})

test('a watched file that is missing for a moment counts neither as deleted nor as growing when it returns', () => {
  const settling = new ChangeDebouncer()
  expect(settling.getMissingDelay('a', NOW)).toBe(MISSING_SETTLE_MS)
  expect(settling.getPresentDelay('a', 'two', NOW + 100, NOW + 100)).toBe(SETTLE_MS)
  expect(settling.getMissingDelay('a', NOW + 150)).toBe(MISSING_SETTLE_MS)
  expect(settling.getMissingDelay('a', NOW + 150 + MISSING_SETTLE_MS)).toBe(0)
})
