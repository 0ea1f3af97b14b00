import { afterEach, expect, it, vi } from 'vitest'
import { ADA, ask, startEngine, type TestEngine, uploadOne } from '../../helpers/engine.js'
import { type FakeOpenAi, startFakeOpenAi } from '../../helpers/fake-openai.js'
import { until } from '../../helpers/until.js'

const MODEL = { pluginId: 'openai-compatible', provider: 'local', model: 'some-model' }
const TEXT = '# Lighthouse\n\nThe lighthouse of Westerheversand was built in 1908.\n'
/** longer than a lease without a heartbeat */
const SLEPT_MS = 70_000

let fake: FakeOpenAi | undefined
let test: TestEngine | undefined
afterEach(async () => {
  vi.restoreAllMocks()
  await test?.end()
  await fake?.close()
})

/** Both clocks are ahead by that much from now on, as after a process was stopped and let go on. */
function sleepThrough(milliseconds: number): void {
  const wall = Date.now.bind(Date)
  const monotonic = performance.now.bind(performance)
  vi.spyOn(Date, 'now').mockImplementation(() => wall() + milliseconds)
  vi.spyOn(performance, 'now').mockImplementation(() => monotonic() + milliseconds)
}

it('a publication whose process slept for longer than its lease is not made, and comes with the next try', async () => {
  const provider = await startFakeOpenAi({ dimension: 8 })
  fake = provider
  const failures: string[] = []
  const log = { debug() {}, info() {}, warn: (fields: object) => failures.push(JSON.stringify(fields)), error() {} }
  test = await startEngine({
    ...{ log, providers: [{ pluginId: MODEL.pluginId, provider: MODEL.provider, baseUrl: provider.url }] },
  })
  const { engine } = test
  const { id } = await engine.spaces.create(ADA, { name: 'N', slug: 'n', embeddingProfile: MODEL })
  provider.always({ kind: 'slow', ms: 700 })
  const { asset, compilationJob } = await uploadOne(engine, ADA, id, { filename: 'a.md', text: TEXT })
  await until(() => provider.requests.some(({ path }) => path.endsWith('/embeddings')))
  sleepThrough(SLEPT_MS)
  await until(() => failures.length > 0)
  expect(failures[0]).toContain(`the lease of job ${compilationJob.id} was lost`)
  expect(await engine.documents.get(ADA, id, asset.id)).toMatchObject({ parserStatus: 'pending' })
  await until(async () => (await engine.jobs.get(ADA, compilationJob.id)).stage === 'published', 25_000)
  expect((await ask(engine, ADA, id, 'When was the lighthouse built?')).answer).toContain('1908')
})
