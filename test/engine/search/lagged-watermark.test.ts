import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { LaggedWatermark } from '../../../src/engine/search/watermark.js'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

function lagged(): { watermarks: LaggedWatermark; stored: number[] } {
  const stored: number[] = []
  const watermarks = new LaggedWatermark({ lagMs: 2000, store: (seq) => void stored.push(seq), onError: () => {} })
  return { watermarks, stored }
}

test('a watermark is written one lag after its change was noted, even if an earlier watermark is pending', async () => {
  const { watermarks, stored } = lagged()
  watermarks.note(1)
  await vi.advanceTimersByTimeAsync(1500)
  watermarks.note(2)
  expect(stored).toEqual([])
  await vi.advanceTimersByTimeAsync(510)
  expect(stored).toEqual([1])
  await vi.advanceTimersByTimeAsync(1500)
  expect(stored).toEqual([1, 2])
})

test('watermarks that are noted within one lag are written once, and none is written after the stop', async () => {
  const { watermarks, stored } = lagged()
  watermarks.note(3)
  watermarks.note(4)
  await vi.advanceTimersByTimeAsync(2010)
  expect(stored).toEqual([4])
  watermarks.note(5)
  await watermarks.stop()
  await vi.advanceTimersByTimeAsync(5000)
  expect(stored).toEqual([4])
})
