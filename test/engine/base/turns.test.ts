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
  runner.stop()
})

test('no turn is taken after the end, also not one that was waited for', async () => {
  let turns = 0
  const runner = createTurns(() => {
    turns++
  }, never)
  runner.wake()
  runner.stop()
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
  runner.stop()
})
