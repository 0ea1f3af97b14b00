import { afterAll, beforeAll, expect, test } from 'vitest'
import { ADA, ask, ingest, startEngine, type TestEngine } from '../../helpers/engine.js'
import { type FakeOpenAi, startFakeOpenAi } from '../../helpers/fake-openai.js'
import { until } from '../../helpers/until.js'

const MODEL = { pluginId: 'openai-compatible', provider: 'local', model: 'some-model' }
let fake: FakeOpenAi
let test_: TestEngine
let reply = ''

beforeAll(async () => {
  fake = await startFakeOpenAi({ apiKey: 'k', dimension: 32, answer: () => reply })
  const { pluginId, provider } = MODEL
  test_ = await startEngine({
    providers: [{ pluginId, provider, baseUrl: fake.url, apiKey: 'k', timeoutMs: 3000 }],
    defaultGenerator: MODEL,
  })
})
afterAll(async () => {
  await test_.end()
  await fake.close()
})

test('an answer of a model that cites no passage is an abstention, and triage knows that the passage is there', async () => {
  const { engine } = test_
  const { id } = await engine.spaces.create(ADA, { name: 'L', slug: 'l' })
  await ingest(engine, ADA, id, { 'a.md': '# Lighthouse\n\nThe lighthouse of Westerhever was built in 1908.\n' })
  reply = 'It was built in 1908 [1].'
  await ask(engine, ADA, id, 'When was the lighthouse of Westerhever built?')
  reply = 'The passages do not say.'
  const { traceId } = await ask(engine, ADA, id, 'In which year was the Westerhever lighthouse built?')
  const { failed } = engine.quality
  await until(async () => (await failed.list(ADA, id, { limit: 9 })).items.length > 0)
  expect((await failed.list(ADA, id, { limit: 9 })).items).toMatchObject([
    { trigger: 'abstained', answerTraceId: traceId, metadata: { occurrences: 1 } },
  ])
  expect(await failed.triage(ADA, id, 9)).toMatchObject({ triaged: 1, verdicts: { 'retrieval-miss': 1 } })
})
