import { expect, test, vi } from 'vitest'
import { createCountdown, linkAbort, sleep } from '../../src/lib/abort.js'

test('a linked abort signal follows its parent until the link is disposed', () => {
  const parent = new AbortController()
  const follows = linkAbort(parent.signal)
  const left = linkAbort(parent.signal)
  left.dispose()
  const reason = new Error('enough')
  parent.abort(reason)
  expect(follows.signal.reason).toBe(reason)
  expect(left.signal.aborted).toBe(false)
  expect(linkAbort(parent.signal).signal.reason).toBe(reason)
})

test('a sleep ends early with the reason of its abort signal', async () => {
  const controller = new AbortController()
  const reason = new Error('enough')
  setTimeout(() => controller.abort(reason), 10)
  await expect(sleep(60_000, controller.signal)).rejects.toBe(reason)
  await expect(sleep(60_000, controller.signal)).rejects.toBe(reason)
  await sleep(1)
})

test('a countdown measures time only while it runs', () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  let expired = 0
  const countdown = createCountdown(60, () => expired++)
  countdown.start()
  vi.advanceTimersByTime(20)
  countdown.stop()
  vi.advanceTimersByTime(80)
  expect([expired, countdown.remainingMs()]).toEqual([0, 40])
  countdown.start()
  vi.advanceTimersByTime(39)
  expect(expired).toBe(0)
  vi.advanceTimersByTime(1)
  expect(expired).toBe(1)
  vi.useRealTimers()
})
