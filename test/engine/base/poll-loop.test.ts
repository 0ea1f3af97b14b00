import { setTimeout as sleep, setImmediate as soon } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createPollLoop } from '../../../src/engine/base/poll-loop.js'
import { until } from '../../helpers/until.js'

function never(error: unknown): void {
  throw error
}

test('several wakes before a tick cause one tick, and a wake during a tick causes the next', async () => {
  let turns = 0
  const runner = createPollLoop(() => {
    turns++
    if (turns === 1) runner.wake()
  }, never)
  for (let times = 0; times < 5; times++) runner.wake()
  expect(turns).toBe(0)
  await soon()
  await sleep(20)
  expect(turns).toBe(2)
  runner.wake()
  await until(() => turns === 3)
  await runner.stop()
})

test('no tick runs after the stop, not even a pending one', async () => {
  let turns = 0
  const runner = createPollLoop(() => {
    turns++
  }, never)
  runner.wake()
  await runner.stop()
  runner.wake()
  await sleep(20)
  expect(turns).toBe(0)
})

test('an error of a tick is reported and the next tick runs', async () => {
  let turns = 0
  const told: unknown[] = []
  const full = new Error('the disk is full')
  const runner = createPollLoop(
    () => {
      turns++
      if (turns === 1) throw full
    },
    (error) => told.push(error),
  )
  runner.wake()
  await until(() => turns === 1)
  expect(told).toEqual([full])
  runner.wake()
  await until(() => turns === 2)
  await runner.stop()
})

test('stop waits for the tick that is running', async () => {
  const steps: string[] = []
  let end = () => {}
  const runner = createPollLoop(async () => {
    steps.push('begun')
    await new Promise<void>((resolve) => {
      end = resolve
    })
    steps.push('ended')
  }, never)
  runner.wake()
  await until(() => steps.length === 1)
  const stopped = runner.stop().then(() => steps.push('stopped'))
  await sleep(20)
  expect(steps).toEqual(['begun'])
  end()
  await stopped
  expect(steps).toEqual(['begun', 'ended', 'stopped'])
})
