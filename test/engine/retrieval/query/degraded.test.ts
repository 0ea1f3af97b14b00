import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { ADA, ask, ingest, startEngine, type TestEngine } from '../../../helpers/engine.js'
import { type FakeOpenAi, type Fault, startFakeOpenAi } from '../../../helpers/fake-openai.js'

const KEY = 'sk-canary-77aa'
const PLUGIN = 'openai-compatible'
/** One provider for each test, because the failures of a provider count for later calls. */
const PROVIDERS = Array.from({ length: 16 }, (_, n) => `local-${n}`)
const FILES = {
  'lighthouse.md': '# Lighthouse\n\nThe lighthouse of Westerheversand was built in 1908 and is forty metres tall.\n',
  'retention.md': '# Retention\n\nAnswer traces are kept for 90 days unless the policy says otherwise.\n',
}
const QUESTION = 'When was the lighthouse built?'
const TOO_LONG = JSON.stringify({
  error: { message: "This model's maximum context length is 8192 tokens.", code: 'context_length_exceeded' },
})

const status = (code: number, body?: string): Fault[] =>
  Array.from({ length: 8 }, () => ({ kind: 'status', status: code, ...(body === undefined ? {} : { body }) }))
const FAILURES: [degradedClass: string, what: string, faults: Fault[]][] = [
  ['auth', 'the key of the model is refused', status(401)],
  ['rate-limited', 'the model is called too often', status(429)],
  ['context-too-long', 'the prompt does not fit into the window of the model', status(400, TOO_LONG)],
  ['budget-spent', 'the account of the model has no quota left', status(402)],
  ['timeout', 'the model does not answer in time', [{ kind: 'hang' }]],
  ['unavailable', 'the provider fails', status(500)],
]

let fake: FakeOpenAi
let shared: TestEngine
/** The engine of the current test. */
let test: TestEngine
let spaceId: string
let tests = 0
let model: { pluginId: string; provider: string; model: string }

const startWith = (changes: object = {}) =>
  startEngine({
    providers: PROVIDERS.map((provider) => {
      return { pluginId: PLUGIN, provider, baseUrl: fake.url, apiKey: KEY, timeoutMs: 1500 }
    }),
    ...changes,
  })

beforeAll(async () => {
  fake = await startFakeOpenAi({ apiKey: KEY, dimension: 32, answer: () => 'It was built in 1908 [1].' })
  shared = await startWith()
})
afterEach(async () => {
  fake.clear()
  if (test !== shared) await test.end()
})
afterAll(async () => {
  await shared.end()
  await fake.close()
})

async function start({ engine = shared, isEmbedded = false } = {}) {
  test = engine
  model = { pluginId: PLUGIN, provider: PROVIDERS[tests++] ?? '', model: 'some-model' }
  const profile = isEmbedded ? { embeddingProfile: model } : {}
  spaceId = (await test.engine.spaces.create(ADA, { name: 'N', slug: `n-${tests}`, ...profile })).id
  await ingest(test.engine, ADA, spaceId, FILES)
}

async function withModel() {
  await test.engine.spaces.setRetrievalProfile(ADA, spaceId, {
    defaultMode: 'fast',
    modes: ['fast', 'deep', 'research'],
    topK: 10,
    scoreThreshold: 0,
    rerank: { enabled: true },
    reasoningModel: model,
  })
}

const expectedDegradation = (part: string, degradedClass: string) => ({
  degraded: true,
  degradedClass,
  degradations: expect.arrayContaining([expect.objectContaining({ part, class: degradedClass })]),
})
const stepsOf = async (traceId: string) => (await test.engine.queries.trace(ADA, traceId)).steps

describe('a query whose chat model fails', () => {
  it.each(FAILURES)('answers extractively and reports the failure class %s if %s', async (degradedClass, _, faults) => {
    await start()
    await withModel()
    fake.script(...faults)
    const { answer, done, traceId } = await ask(test.engine, ADA, spaceId, QUESTION)
    expect(answer).toContain('1908')
    const degradation = expectedDegradation('answer', degradedClass)
    expect(done.metadata).toMatchObject({ generator: 'extractive', ...degradation, metrics: degradation })
    const steps = await stepsOf(traceId)
    expect(steps.find(({ name, status }) => name === 'query.answer' && status === 'error')?.metadata).toMatchObject(
      degradation,
    )
    expect(steps.find(({ name }) => name === 'query.generate')?.metadata).toMatchObject({
      ...degradation,
      metrics: degradation,
    })
    expect(JSON.stringify([done, steps])).not.toContain(KEY)
  })

  it('answers extractively and reports budget-spent if the token quota of the space is too small', async () => {
    await start({ engine: await startWith({ quotas: { maxLlmTokensPerDay: 1 } }) })
    await withModel()
    fake.requests.length = 0
    const { done } = await ask(test.engine, ADA, spaceId, QUESTION)
    expect(done.metadata).toMatchObject({ generator: 'extractive', degraded: true, degradedClass: 'budget-spent' })
    expect(fake.requests).toEqual([])
  })
})

describe('a query whose question cannot be embedded', () => {
  it.each(FAILURES)('searches by text and reports the failure class %s if %s', async (degradedClass, _, faults) => {
    await start({ isEmbedded: true })
    fake.script(...faults)
    const { answer, done, traceId } = await ask(test.engine, ADA, spaceId, QUESTION)
    expect(answer).toContain('1908')
    const degradation = expectedDegradation('embedding', degradedClass)
    expect(done.metadata).toMatchObject({ ...degradation, metrics: degradation })
    const steps = await stepsOf(traceId)
    expect(steps.find(({ name }) => name === 'query.embed')?.metadata).toMatchObject(degradation)
    expect(steps.find(({ name }) => name === 'query.retrieve')?.metadata).toMatchObject({ metrics: degradation })
  })
})

describe('the metadata of an answer about degradation', () => {
  it('states degraded: false if nothing failed', async () => {
    await start()
    await withModel()
    const degradation = { degraded: false, degradedReasons: [] }
    // Right after a start the indexes may still be catching up, and report it.
    await expect
      .poll(async () => (await ask(test.engine, ADA, spaceId, QUESTION)).done.metadata)
      .toMatchObject({ generator: 'model', ...degradation, metrics: degradation })
    const { done } = await ask(test.engine, ADA, spaceId, QUESTION)
    expect(done.metadata).not.toHaveProperty('degradedClass')
  })

  it('names the failure class if the model could not choose the mode', async () => {
    await start()
    await withModel()
    fake.script(...status(401).slice(0, 1))
    const { done, traceId } = await ask(test.engine, ADA, spaceId, QUESTION, { mode: 'auto' })
    expect(done.metadata).toMatchObject({
      generator: 'model',
      ...expectedDegradation('route', 'auth'),
    })
    expect((await stepsOf(traceId))[0]?.metadata).toMatchObject({ degraded: true, failure: { class: 'auth' } })
  })

  it('lists both reasons if both embedding and answer are degraded', async () => {
    await start({ isEmbedded: true })
    await withModel()
    fake.script(...status(401))
    const { done } = await ask(test.engine, ADA, spaceId, QUESTION)
    const refused = `provider "${model.provider}" refused the credentials (401)`
    const reasons = [
      `the question could not be embedded: ${refused}`,
      `the answer is a quotation of the evidence: ${refused}`,
    ]
    expect(done.metadata).toMatchObject({
      degradations: expect.arrayContaining([
        { part: 'embedding', class: 'auth', reason: reasons[0] },
        { part: 'answer', class: 'auth', reason: reasons[1] },
      ]),
      degradedReasons: expect.arrayContaining(reasons),
    })
  })
})
