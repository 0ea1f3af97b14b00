import { expect, it } from 'vitest'
import { countExtraJobs, filterCompiling, type RunningBatch } from '../../../../src/engine/ingest/jobs/running.js'

const batch = (spaceKey: number, jobs: number, state: 'read' | 'stored' | 'waiting' = 'read'): RunningBatch => ({
  spaceKey,
  jobs,
  isAlone: false,
  isStored: state !== 'read',
  isWaiting: state === 'waiting',
})

it('a batch counts as compiling until it only waits for its publication', () => {
  const running = [batch(1, 3), batch(1, 1, 'stored'), batch(2, 5, 'waiting')]
  expect(filterCompiling(running)).toEqual(running.slice(0, 2))
})

it('jobs with a stored version are extra jobs of their space while the space compiles others', () => {
  expect(countExtraJobs([batch(1, 3), batch(1, 1, 'stored'), batch(1, 2, 'stored'), batch(2, 5)])).toEqual(
    new Map([[1, 3]]),
  )
})

it('a space with 640 jobs waiting for publication gets no further jobs', () => {
  const waiting = Array.from({ length: 20 }, () => batch(1, 32, 'waiting'))
  expect(countExtraJobs(waiting.slice(1))).toEqual(new Map())
  expect(countExtraJobs([...waiting, batch(1, 1, 'stored'), batch(2, 40, 'waiting')])).toEqual(
    new Map([[1, Number.POSITIVE_INFINITY]]),
  )
})
