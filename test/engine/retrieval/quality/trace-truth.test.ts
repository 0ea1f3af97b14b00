import { afterEach, beforeEach, expect, it } from 'vitest'
import { ADA, ask, ingest, startEngine, type TestEngine } from '../../../helpers/engine.js'
import { type FakeOpenAi, startFakeOpenAi } from '../../../helpers/fake-openai.js'

const PLACE = { pluginId: 'openai-compatible', provider: 'local' }
const [EMBEDDER, RERANKER, GENERATOR] = ['an-embedder', 'a-reranker', 'a-generator'].map((model) => ({
  ...PLACE,
  model,
}))
const FILES = {
  'height.md': '# Height\n\nThe lighthouse of Westerheversand is forty metres tall.\n',
  'keeper.md': '# Keeper\n\nThe keeper of the lighthouse of Westerheversand lived there until 1978.\n',
  'bread.md': '# Bread\n\nThe bakery sells bread from six in the morning.\n',
}
const QUESTION = 'How tall is the lighthouse of Westerheversand?'

let fake: FakeOpenAi
let test: TestEngine
let spaceId: string

beforeEach(async () => {
  fake = await startFakeOpenAi({ dimension: 32, answer: () => 'It is forty metres tall [1].' })
  test = await startEngine({ providers: [{ ...PLACE, baseUrl: fake.url }], defaultGenerator: GENERATOR })
  spaceId = (await test.engine.spaces.create(ADA, { name: 'N', slug: 'n', embeddingProfile: EMBEDDER })).id
  await ingest(test.engine, ADA, spaceId, FILES)
  await expect
    .poll(async () => (await test.engine.spaces.status(ADA, spaceId)).index.summaries.denseVector.ready, {
      timeout: 60_000,
    })
    .toBe(3)
})
afterEach(async () => {
  await test.end()
  await fake.close()
})

const setProfile = () =>
  test.engine.spaces.setRetrievalProfile(ADA, spaceId, {
    defaultMode: 'fast',
    modes: ['fast', 'deep', 'research'],
    topK: 10,
    scoreThreshold: 0,
    rerank: { enabled: true, model: RERANKER },
  })

/** The listed trace of a question, and the requests to providers for it. */
async function asked() {
  const from = fake.requests.length
  const { traceId, done } = await ask(test.engine, ADA, spaceId, QUESTION)
  const { items } = await test.engine.quality.traces(ADA, spaceId, { limit: 10 })
  const { steps } = await test.engine.queries.trace(ADA, traceId)
  const models = fake.requests.slice(from).map(({ path, body }) => [path.split('/').at(-1), body.model])
  return { told: items.find(({ id }) => id === traceId), models: Object.fromEntries(models), done, steps }
}

it('a listed trace names the models that were called, and the searched publication', async () => {
  const profile = await setProfile()
  const { told, models, done } = await asked()
  expect(models).toEqual({ embeddings: EMBEDDER?.model, rerank: RERANKER?.model, completions: GENERATOR?.model })
  expect(told?.profile).toEqual({
    embeddingModel: EMBEDDER,
    rerankModel: RERANKER,
    reasoningModel: GENERATOR,
    embeddingVectorSpaceId: expect.any(String),
    retrievalProfileRevision: profile.revision,
    projectionPublicationId: expect.any(String),
    projectionVersion: expect.any(Number),
  })
  const bundle = done.metadata?.evidenceBundle
  expect(told?.evidenceBundleId).toBe(bundle?.id)
  const best = bundle?.items[0]?.scores
  expect(told?.finalScore).toBe(best?.final)
  expect(told?.scores).toEqual({ retrieval: best?.retrieval, rerank: best?.rerank, final: best?.final })
  expect(told).toMatchObject({ query: QUESTION, mode: 'fast', completed: true, evidenceState: 'answerable' })
})

it('a listed trace names no model that failed', async () => {
  await setProfile()
  await fake.close()
  const { told, done } = await asked()
  expect(done.metadata).toMatchObject({ degraded: true })
  expect(told?.profile).not.toHaveProperty('embeddingModel')
  expect(told?.profile).not.toHaveProperty('embeddingVectorSpaceId')
  expect(told?.profile).not.toHaveProperty('rerankModel')
  expect(told?.profile).not.toHaveProperty('reasoningModel')
  expect(told?.completed).toBe(true)
})

it('a listed trace contains the profile revision, publication, stages and candidate count of its query', async () => {
  const first = await asked()
  const { revision } = await setProfile()
  await ingest(test.engine, ADA, spaceId, { 'more.md': '# More\n\nThe lighthouse has nine floors.\n' })
  const second = await asked()
  expect(second.told?.profile.retrievalProfileRevision).toBe(revision)
  expect(first.told?.profile.retrievalProfileRevision).toBe(revision - 1)
  expect(second.told?.profile.projectionPublicationId).not.toBe(first.told?.profile.projectionPublicationId)
  expect(second.told?.profile.embeddingVectorSpaceId).toBe(first.told?.profile.embeddingVectorSpaceId)
  for (const { told, steps } of [first, second]) {
    expect(told?.stages.map(({ name, status }) => [name, status])).toEqual(
      steps.map(({ name, status }) => [name, status]),
    )
    const retrieve = told?.stages.find(({ name }) => name === 'query.retrieve')
    const metrics = steps.find(({ name }) => name === 'query.retrieve')?.metadata?.metrics
    expect(metrics).toMatchObject({ fusionCandidateCount: retrieve?.candidateCount })
  }
  const counts = [first, second].map(({ told }) => told?.stages.find(({ name }) => name === 'query.retrieve'))
  expect(counts.map((stage) => stage?.candidateCount)).toEqual([3, 4])
})
