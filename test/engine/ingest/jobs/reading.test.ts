import { afterEach, beforeEach, expect, it } from 'vitest'
import { ADA, BOB, startEngine, type TestEngine, uploadOne } from '../../../helpers/engine.js'
import { until } from '../../../helpers/until.js'

/** The reader process has the lowest priority on a busy machine. */
const LONG_MS = 120_000

let test: TestEngine

beforeEach(async () => {
  process.env.KS_FAULT = 'parse'
  test = await startEngine()
})
afterEach(async () => {
  delete process.env.KS_FAULT
  await test.end()
})

it('a job reports the page that is being read, and no progress after its publication', {
  timeout: LONG_MS,
}, async () => {
  const { id } = await test.engine.spaces.create(ADA, { name: 'Slow', slug: 'slow' })
  await uploadOne(test.engine, ADA, id, { filename: 'ks-fault-work-3000.md', text: '# Slow\n\nA long file.\n' })
  const listed = async (state?: 'reading') => (await test.engine.jobs.list(ADA, id, { limit: 10, state })).items
  await until(async () => (await listed('reading'))[0]?.progress !== undefined, LONG_MS)
  const [job] = await listed()
  expect(job).toMatchObject({ stage: 'queued', progress: { unit: 'page', total: 7 } })
  // The space belongs to another tenant.
  await expect(test.engine.jobs.list(BOB, id, { limit: 10, state: 'reading' })).rejects.toThrow()
  await until(async () => (await listed())[0]?.stage === 'published', LONG_MS)
  expect(await listed('reading')).toEqual([])
  expect((await listed())[0]?.progress).toBeUndefined()
})
