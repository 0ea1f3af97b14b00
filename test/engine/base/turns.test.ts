import { setTimeout as sleep, setImmediate as soon } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createTurns } from '../../../src/engine/base/turns.js'
import { until } from '../../helpers/until.js'

function never(error: unknown): void {
  throw error
}

test('many wakes before a turn are one turn, and a wake within it is the next', async () => {
  let turns = 0
  const runner = createTurns(() => {
    turns++
    if (turns === 1) runner.wake()
  }, never)
  for (let times = 0; times < 5; times++) runner.wake()
  expect(turns).toBe(0)
  await soon()
  await sleep(20)
  expect(turns).toBe(2)
  runner.wake()
  await sleep(20)
  expect(turns).toBe(3)
  await runner.stop()
})

test('no turn is taken after the end, also not one that was waited for', async () => {
  let turns = 0
  const runner = createTurns(() => {
    turns++
  }, never)
  runner.wake()
  await runner.stop()
  runner.wake()
  await sleep(20)
  expect(turns).toBe(0)
})

test('a turn that throws is told of, and the next ones are taken', async () => {
  let turns = 0
  const told: unknown[] = []
  const full = new Error('the disk is full')
  const runner = createTurns(
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

test('the end waits for the turn that is under way', async () => {
  const steps: string[] = []
  let end = () => {}
  const runner = createTurns(async () => {
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
