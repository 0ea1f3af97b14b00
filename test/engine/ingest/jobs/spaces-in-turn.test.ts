import { Readable } from 'node:stream'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { ADA, BOB, startEngine, type TestEngine, uploadOne } from '../../../helpers/engine.js'
import { until } from '../../../helpers/until.js'

/** More than four batches of a space, two of which run at once. */
const MANY = 192

let test: TestEngine
let spaces: string[]

beforeEach(async () => {
  test = await startEngine()
  spaces = []
  for (const slug of ['first', 'second', 'third'])
    spaces.push((await test.engine.spaces.create(ADA, { name: slug, slug })).id)
})
afterEach(() => test.end())

async function uploadMany(spaceId: string): Promise<void> {
  const upload = await test.engine.documents.upload(ADA, spaceId, { many: true })
  for (let n = 0; n < MANY; n++)
    await upload.add({ filename: `${n}.md`, content: Readable.from([Buffer.from(`# Note ${n}\n\nIt has a line.\n`)]) })
  await upload.commit({})
}

it.each([
  ['after', 0, 1],
  ['before', 1, 0],
])('a document uploaded %s hundreds of another space is compiled before those are done', async (_, busy, small) => {
  await uploadMany(String(spaces[busy]))
  const accepted = await uploadOne(test.engine, ADA, String(spaces[small]), {
    filename: 'one.md',
    text: '# One\n\nA line.\n',
  })
  await test.engine.documents.settled(ADA, String(spaces[small]), accepted)
  const { items } = await test.engine.jobs.list(ADA, String(spaces[busy]), { limit: MANY, state: 'open' })
  expect(items.length).toBeGreaterThanOrEqual(MANY / 3)
})

it('open jobs are counted as active or waiting, for their tenant only, and none after all have ended', async () => {
  const { engine } = test
  await uploadMany(String(spaces[0]))
  const { activeJobs, waitingJobs } = await engine.activity()
  expect(waitingJobs).toBeGreaterThan(0)
  expect(activeJobs + waitingJobs).toBeLessThanOrEqual(MANY)
  expect(await engine.jobsOf(BOB.tenant)).toEqual({ activeJobs: 0, waitingJobs: 0 })
  await until(async () => (await engine.activity()).activeJobs > 0 || (await engine.activity()).waitingJobs === 0)
  await until(
    async () => (await engine.activity()).waitingJobs === 0 && (await engine.activity()).activeJobs === 0,
    25_000,
  )
  expect(await engine.jobsOf(ADA.tenant)).toEqual({ activeJobs: 0, waitingJobs: 0 })
})
