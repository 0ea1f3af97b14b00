import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { StartQueue } from '../../../../src/engine/answers/chat/start-queue.js'
import { WriteCoalescer } from '../../../../src/engine/answers/chat/write-coalescer.js'

/** Records the order in which waits end. */
function noted(waits: Promise<void>[]): number[] {
  const ended: number[] = []
  for (const [index, wait] of waits.entries()) void wait.then(() => ended.push(index))
  return ended
}

test('the write coalescer releases a lone write at once, and the writes that follow closely as a batch', async () => {
  const writes = new WriteCoalescer({ quietMs: 20, maxMs: 500 })
  const first = writes.wait()
  expect(writes.isOpen).toBe(false)
  const others = [writes.wait(), writes.wait(), writes.wait()]
  const ended = noted([first, ...others])
  await first
  expect(writes.isOpen).toBe(true)
  await nextTurn()
  expect(ended).toEqual([0])
  await Promise.all(others)
  expect(ended).toEqual([0, 1, 2, 3])
  expect(writes.isOpen).toBe(false)
})

test('the write coalescer releases a batch after the maximal wait, even before its quiet period is over', async () => {
  const writes = new WriteCoalescer({ quietMs: 10_000, maxMs: 30 })
  await writes.wait()
  await writes.wait()
  expect(writes.isOpen).toBe(false)
})

test('the start queue of chat turns releases starts in order, at most one per event loop iteration', async () => {
  const line = new StartQueue(() => false, 1000)
  const ended = noted([line.wait(), line.wait(), line.wait()])
  const seen: number[] = []
  while (ended.length < 3) {
    await nextTurn()
    seen.push(ended.length)
  }
  expect(ended).toEqual([0, 1, 2])
  expect(seen.every((count, index) => count - (seen[index - 1] ?? 0) <= 1)).toBe(true)
})

test('the start queue of chat turns delays starts while the process is busy, up to its timeout', async () => {
  let busy = true
  const line = new StartQueue(() => busy, 60_000)
  const ended = noted([line.wait(), line.wait()])
  // Nothing starts meanwhile.
  await new Promise((resolve) => setTimeout(resolve, 30))
  expect(ended).toEqual([])
  busy = false
  const late = line.wait()
  await late
  expect(ended).toEqual([0, 1])
  const impatient = new StartQueue(() => true, 20)
  await Promise.all([impatient.wait(), impatient.wait()])
})
