import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ExplainBody } from '../../../../src/contract/gateway/explain.js'
import type { EvidenceBundle } from '../../../../src/contract/gateway/queries.js'
import { ADA, ask, ingest, startEngine, type TestEngine } from '../../../helpers/engine.js'
import { type FakeOpenAi, startFakeOpenAi } from '../../../helpers/fake-openai.js'

const RERANKER = { pluginId: 'openai-compatible', provider: 'local', model: 'cross-encoder' }
const ABSENT = { ...RERANKER, provider: 'elsewhere' }
const FILES = {
  'height.md': '# Lighthouse height\n\nThe lighthouse of Westerheversand is forty metres tall.\n',
  'keeper.md': '# Keeper\n\nThe keeper of the lighthouse of Westerheversand lived there until 1978.\n',
}
const QUESTION = 'How tall is the lighthouse of Westerheversand?'

let fake: FakeOpenAi
let test: TestEngine
let spaceId: string

beforeEach(async () => {
  fake = await startFakeOpenAi({ answer: () => 'The lighthouse of Westerheversand is forty metres tall [1].' })
})
afterEach(async () => {
  await test.end()
  await fake.close()
})

async function start({ changes = {}, timeoutMs = 60_000 }: { changes?: object; timeoutMs?: number } = {}) {
  const { pluginId, provider } = RERANKER
  const entry = { pluginId, provider, baseUrl: fake.url, timeoutMs }
  test = await startEngine({ providers: [entry], ...changes })
  spaceId = (await test.engine.spaces.create(ADA, { name: 'N', slug: 'n' })).id
  await ingest(test.engine, ADA, spaceId, FILES)
}

const setProfile = (rerank: object, more: object = {}) =>
  test.engine.spaces.setRetrievalProfile(ADA, spaceId, {
    defaultMode: 'fast',
    modes: ['fast', 'deep', 'research'],
    topK: 10,
    scoreThreshold: 0,
    rerank: { enabled: true, ...rerank },
    ...more,
  })
const reranks = () => fake.requests.filter(({ path }) => path.endsWith('/rerank'))

async function asked(mode: 'fast' | 'deep' | 'research' = 'fast') {
  const { answer, done, traceId } = await ask(test.engine, ADA, spaceId, QUESTION, { mode })
  const { evidenceBundle, metrics } = done.metadata as {
    evidenceBundle: EvidenceBundle
    metrics: Record<string, unknown>
  }
  const files = evidenceBundle.items.map(({ metadata }) => String(metadata.filename))
  const { items } = await test.engine.quality.traces(ADA, spaceId, { limit: 10 })
  const listed = items.find(({ id }) => id === traceId)?.profile
  return { answer, files, scores: evidenceBundle.items.map(({ scores }) => scores), metrics, done, listed }
}

/** Scripts a model that prefers the passage that the comparison of words ranks second. */
async function preferKeeper() {
  const before = await asked()
  expect(before.files).toEqual(['height.md', 'keeper.md'])
  expect(before.listed).not.toHaveProperty('rerankModel')
  await setProfile({ model: RERANKER })
  fake.script({ kind: 'scores', scores: [0.2, 0.8] })
}

describe('the rerank model of a profile', () => {
  it.each(['fast', 'deep'] as const)('runs once in mode %s and decides the order of passages', async (mode) => {
    await start()
    await preferKeeper()
    const { files, scores, metrics, listed } = await asked(mode)
    expect(files).toEqual(['keeper.md', 'height.md'])
    expect(scores.map(({ rerank }) => rerank)).toEqual([0.8, 0.2])
    expect(scores[1]?.final).toBeCloseTo((scores[0]?.final ?? 0) / 4)
    expect(metrics).toMatchObject({ rerankMethod: 'model', rerankModel: RERANKER, rerankCandidateCount: 2 })
    expect(listed).toMatchObject({ rerankModel: RERANKER })
    expect(reranks()).toHaveLength(1)
    const { query, documents, model } = reranks()[0]?.body ?? {}
    expect([query, model]).toEqual([QUESTION, 'cross-encoder'])
    expect(documents?.map((text) => text.split('\n')[0])).toEqual(
      expect.arrayContaining([expect.stringContaining('Lighthouse height'), expect.stringContaining('Keeper')]),
    )
  })

  it('makes a passage answerable that it scores high, and lowers the confidence if all scores are low', async () => {
    await start()
    const weak = 'Until which decade did anyone stay in that tower as a guardian of the lighthouse?'
    const judged = async (query: string) => {
      const { done } = await ask(test.engine, ADA, spaceId, query)
      const { state, items } = (done.metadata as { evidenceBundle: EvidenceBundle }).evidenceBundle
      const score = items[0]?.score ?? 0
      return { state, odds: score / (1 - score) }
    }
    const before = await judged(QUESTION)
    expect((await judged(weak)).state).not.toBe('answerable')
    await setProfile({ model: RERANKER })
    fake.script({ kind: 'scores', scores: [0.97, 0.01] })
    expect((await judged(weak)).state).toBe('answerable')
    fake.script({ kind: 'scores', scores: [0.002, 0.001] })
    expect((await judged(QUESTION)).odds).toBeLessThan(before.odds / 10)
  })

  it('stays unused in mode research and if reranking is disabled, and no listed trace names it', async () => {
    await start()
    await setProfile({ model: RERANKER })
    expect((await asked('research')).listed).not.toHaveProperty('rerankModel')
    await setProfile({ enabled: false, model: RERANKER })
    const { metrics, listed } = await asked()
    expect(metrics).toMatchObject({ rerankMethod: 'none', rerankCandidateCount: 0 })
    expect(listed).not.toHaveProperty('rerankModel')
    expect(reranks()).toEqual([])
  })

  it('leaves the order unchanged if it fails, and the answer reports degraded', async () => {
    await start()
    await setProfile({ model: RERANKER })
    fake.script({ kind: 'status', status: 401 })
    const { files, metrics, done, listed } = await asked()
    expect(files).toEqual(['height.md', 'keeper.md'])
    const degradation = {
      degraded: true,
      degradedClass: 'auth',
      degradations: expect.arrayContaining([expect.objectContaining({ part: 'rerank', class: 'auth' })]),
    }
    expect(metrics).toMatchObject({ ...degradation, rerankMethod: 'builtin' })
    expect(done.metadata).toMatchObject(degradation)
    expect(listed).not.toHaveProperty('rerankModel')
  })

  it('times out early, even if its provider has a timeout of ten minutes', async () => {
    await start({ timeoutMs: 600_000 })
    await setProfile({ model: RERANKER })
    fake.script({ kind: 'hang' })
    const { files, metrics } = await asked()
    expect(files).toEqual(['height.md', 'keeper.md'])
    expect(metrics).toMatchObject({ degraded: true, degradedClass: 'timeout' })
  })

  it('stays unused after the quota of rerank requests per day is spent', async () => {
    await start({ changes: { quotas: { maxRerankRequestsPerDay: 1 } } })
    await setProfile({ model: RERANKER })
    expect((await asked()).metrics).toMatchObject({ rerankMethod: 'model' })
    expect((await asked()).metrics).toMatchObject({ rerankMethod: 'builtin', degradedClass: 'budget-spent' })
    expect(reranks()).toHaveLength(1)
  })

  it('appears in the explanation of a ranking', async () => {
    await start()
    await setProfile({ model: RERANKER })
    const body = ExplainBody.parse({ query: QUESTION, path: 'keeper.md' })
    const explained = await test.engine.queries.explain(ADA, spaceId, body)
    const stage = explained.stages.find(({ stage: name }) => name === 'rerank')
    expect(stage?.text).toContain('the rerank model local/cross-encoder gives it')
  })
})

describe('a retrieval profile', () => {
  it('cannot name a rerank or reasoning model that the daemon cannot call for that purpose', async () => {
    await start()
    const builtin = { pluginId: 'builtin', provider: 'lsa', model: 'lsa-200' }
    for (const model of [ABSENT, builtin])
      await expect(setProfile({ model })).rejects.toMatchObject({ code: 'provider-not-configured' })
    await expect(setProfile({}, { reasoningModel: builtin })).rejects.toMatchObject({ code: 'provider-not-configured' })
  })

  it('makes queries fail with provider-not-configured if the daemon no longer has its rerank model', async () => {
    await start()
    await setProfile({ model: RERANKER })
    await test.engine.close()
    const { openEngine } = await import('../../../../src/engine/index.js')
    const { engineOptions } = await import('../../../helpers/engine.js')
    test.engine = await openEngine(engineOptions(test.dataDir))
    await expect(asked()).rejects.toMatchObject({ code: 'provider-not-configured' })
  })
})

describe('a trace in the quality list', () => {
  it('does not name a chat model that failed', async () => {
    await start()
    await setProfile({}, { reasoningModel: RERANKER })
    fake.script({ kind: 'status', status: 401 })
    const { done, listed } = await asked()
    expect(done.metadata).toMatchObject({ generator: 'extractive', degradedClass: 'auth' })
    expect(listed).not.toHaveProperty('reasoningModel')
    expect((await asked()).listed).toMatchObject({ reasoningModel: RERANKER })
  })
})
