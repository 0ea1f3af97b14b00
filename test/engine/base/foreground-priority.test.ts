import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { ForegroundPriority } from '../../../src/engine/base/foreground-priority.js'

/** Runs everything that is due now, for some turns of the event loop. */
async function someTurns(): Promise<void> {
  for (let i = 0; i < 10; i++) await turn()
}

/** Whether a promise is still pending after some turns. */
async function waits(promise: Promise<unknown>): Promise<boolean> {
  let isOpen = true
  void promise.then(() => {
    isOpen = false
  })
  await someTurns()
  return isOpen
}

it('background work continues at once while no query runs', async () => {
  const way = new ForegroundPriority()
  expect(await waits(way.yieldToQueries())).toBe(false)
  way.beginQuery()()
  expect(await waits(way.yieldToQueries())).toBe(false)
})

it('background work waits until the last running query has ended', async () => {
  const way = new ForegroundPriority()
  const first = way.beginQuery()
  const second = way.beginQuery()
  const work = way.yieldToQueries()
  expect(await waits(work)).toBe(true)
  first()
  first()
  expect(await waits(work)).toBe(true)
  second()
  await work
})

it('background work advances even while queries never stop', async () => {
  const way = new ForegroundPriority()
  way.beginQuery()
  await way.yieldToQueries()
  await way.yieldToQueries()
})

it('a query that runs longer than 300 ms blocks background work no more', async () => {
  const way = new ForegroundPriority()
  way.beginQuery()
  await sleep(300)
  expect(await waits(way.yieldToQueries())).toBe(false)
})

it('background tasks that waited for a query resume one after another, not in one turn of the event loop', async () => {
  const way = new ForegroundPriority()
  const done: string[] = []
  const end = way.beginQuery()
  const piece = async (name: string) => {
    await way.yieldToQueries()
    done.push(name)
    const until = performance.now() + 20
    setImmediate(() => {
      while (performance.now() < until);
    })
  }
  const pieces = [piece('one'), piece('two')]
  end()
  way.beginQuery()
  await pieces[0]
  await someTurns()
  expect(done).toEqual(['one'])
  await Promise.all(pieces)
})

it('background work that backs off pauses during a query and shortly after it, until its signal aborts', async () => {
  const way = new ForegroundPriority()
  expect(await waits(way.backOff(1000))).toBe(false)
  const end = way.beginQuery()
  expect(await waits(way.backOff(1000))).toBe(true)
  end()
  const closing = new AbortController()
  const resting = way.backOff(1000, closing.signal)
  expect(await waits(resting)).toBe(true)
  closing.abort()
  await resting
})
