import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { EvidenceBundle } from '../../src/contract/gateway/queries.js'
import { ADA, ask, ingest, startEngine, type TestEngine } from '../helpers/engine.js'
import { type FakeOpenAi, startFakeOpenAi } from '../helpers/fake-openai.js'

const KEY = 'sk-canary-8d1f'
const MODEL = { pluginId: 'openai-compatible', provider: 'local', model: 'some-model' }
const FILES = {
  'lighthouse.md': '# Lighthouse\n\nThe lighthouse of Westerheversand was built in 1908 and is forty metres tall.\n',
  'retention.md': '# Retention\n\nAnswer traces are kept for 90 days unless the policy says otherwise.\n',
}

let fake: FakeOpenAi
let test: TestEngine
let spaceId: string
let reply: string

beforeEach(async () => {
  reply = 'It was built in 1908 [1], some say [7].'
  fake = await startFakeOpenAi({ apiKey: KEY, dimension: 32, answer: () => reply })
  test = await startEngine({
    providers: [
      { pluginId: MODEL.pluginId, provider: MODEL.provider, baseUrl: fake.url, apiKey: KEY, timeoutMs: 3000 },
    ],
  })
  spaceId = (await test.engine.spaces.create(ADA, { name: 'N', slug: 'n', embeddingProfile: MODEL })).id
  await ingest(test.engine, ADA, spaceId, FILES)
})
afterEach(async () => {
  await test.end()
  await fake.close()
})

const withModel = (modes: ('fast' | 'deep' | 'research')[] = ['fast', 'deep', 'research']) =>
  test.engine.spaces.setRetrievalProfile(ADA, spaceId, {
    defaultMode: 'fast',
    modes,
    topK: 10,
    scoreThreshold: 0,
    rerank: { enabled: true },
    reasoningModel: MODEL,
  })
const bundleOf = (metadata: Record<string, unknown> | undefined) =>
  (metadata as { evidenceBundle: EvidenceBundle }).evidenceBundle

describe('a space with a configured embedding model', () => {
  it('stores the dimension of the first vector and finds passages by vectors', async () => {
    const manifest = await test.engine.spaces.manifest(ADA, spaceId)
    expect(manifest.embeddingProfile).toMatchObject({ ...MODEL, dimension: 32, revision: 1 })
    // Shortly after the first vectors the index may still be loading them and reports that.
    await expect
      .poll(async () => {
        const asked = await ask(test.engine, ADA, spaceId, 'When was the lighthouse built?')
        expect(asked.answer).toContain('1908')
        const trace = await test.engine.queries.trace(ADA, asked.traceId)
        expect(trace.steps[1].metadata).toMatchObject({ dimension: 32, model: MODEL })
        return trace.steps[2].metadata
      })
      .toMatchObject({ metrics: { denseCandidateCount: 2, degraded: false } })
  })

  it('answers from text alone, marked as degraded, when the provider fails during a query', async () => {
    fake.script(...Array.from({ length: 8 }, () => ({ kind: 'status' as const, status: 500, body: `no ${KEY}` })))
    const asked = await ask(test.engine, ADA, spaceId, 'When was the lighthouse built?')
    expect(asked.answer).toContain('1908')
    const trace = await test.engine.queries.trace(ADA, asked.traceId)
    expect(trace.steps[2].metadata).toMatchObject({
      metrics: { degraded: true, degradedClass: 'unavailable', degradations: [{ part: 'embedding' }] },
    })
    expect(JSON.stringify(trace)).not.toContain(KEY)
  })

  it('cannot be created with a provider that the daemon does not have', async () => {
    const unknown = { ...MODEL, provider: 'elsewhere' }
    await expect(
      test.engine.spaces.create(ADA, { name: 'M', slug: 'm', embeddingProfile: unknown }),
    ).rejects.toMatchObject({ code: 'provider-not-configured' })
  })
})

describe('a space with a reasoning model', () => {
  it('A83: streams its answer and keeps only citations of passages that the model received', async () => {
    await withModel()
    const asked = await ask(test.engine, ADA, spaceId, 'When was the lighthouse built?')
    expect(asked.answer).toBe('It was built in 1908 [1], some say.')
    expect(asked.done.metadata).toMatchObject({ generator: 'model', provider: 'local', cited: [1] })
    const prompt = fake.requests.findLast((request) => request.path.endsWith('/chat/completions'))
    expect(JSON.stringify(prompt?.body.messages)).toContain('Westerheversand')
  })

  it('passes the turns of the session to the model', async () => {
    await withModel()
    const first = await ask(test.engine, ADA, spaceId, 'When was the lighthouse built?')
    await ask(test.engine, ADA, spaceId, 'How tall is the lighthouse?', { sessionId: first.sessionId })
    const prompt = fake.requests.findLast((request) => request.path.endsWith('/chat/completions'))
    expect(prompt?.body.messages?.map((message) => message.role)).toEqual(['system', 'user', 'assistant', 'user'])
    expect(prompt?.body.messages?.[1].content).toBe('When was the lighthouse built?')
  })

  it('answers from the evidence when the model fails before its first word, and records both attempts', async () => {
    await withModel()
    fake.script({ kind: 'ok' }, ...Array.from({ length: 8 }, () => ({ kind: 'status' as const, status: 500 })))
    const asked = await ask(test.engine, ADA, spaceId, 'When was the lighthouse built?')
    expect(asked.answer).toContain('1908')
    expect(asked.done.metadata).toMatchObject({ generator: 'extractive' })
    const trace = await test.engine.queries.trace(ADA, asked.traceId)
    const attempts = trace.steps.filter((step) => step.name === 'query.answer').map((step) => step.status)
    expect(attempts).toEqual(['error', 'ok'])
  })

  it('asks the model for the mode of a query in auto mode, and uses a fallback if its choice is invalid', async () => {
    await withModel()
    const routed = async () => {
      const asked = await ask(test.engine, ADA, spaceId, 'When was the lighthouse built?', { mode: 'auto' })
      return (await test.engine.queries.trace(ADA, asked.traceId)).steps[0].metadata
    }
    reply = '{"mode":"fast"}'
    expect(await routed()).toMatchObject({ resolver: 'llm', resolvedMode: 'fast', degraded: false })
    reply = 'fast, I think'
    expect(await routed()).toMatchObject({ resolver: 'fallback', errorClass: 'invalid-reply', degraded: true })
    reply = '{"mode":"research"}'
    expect(await routed()).toMatchObject({ resolver: 'llm', resolvedMode: 'research', degraded: false })
    await withModel(['fast', 'deep'])
    expect(await routed()).toMatchObject({ resolver: 'fallback', resolvedMode: 'fast', errorClass: 'mode-unavailable' })
  })

  it('F45: stores no trace of a run that was aborted', async () => {
    await withModel()
    fake.script({ kind: 'ok' }, { kind: 'hang' })
    const abandon = new AbortController()
    const run = await test.engine.queries.start(
      ADA,
      { knowledgeSpaceId: spaceId, query: 'When?', activeDocumentIds: [], activeEntityIds: [] },
      abandon.signal,
    )
    setTimeout(() => abandon.abort(), 100)
    const frames = []
    for await (const frame of run.frames()) frames.push(frame.event)
    expect(frames).not.toContain('answer.done')
    await expect(test.engine.queries.trace(ADA, run.traceId)).rejects.toMatchObject({ code: 'not-found' })
  })
})

describe('the evidence of an answer', () => {
  it('carries scores that are not negative, in descending order', async () => {
    const asked = await ask(test.engine, ADA, spaceId, 'lighthouse traces policy metres')
    const scores = bundleOf(asked.done.metadata).items.map((item) => item.score)
    expect(scores).toEqual([...scores].sort((a, b) => b - a))
    for (const score of scores) expect(score).toBeGreaterThanOrEqual(0)
  })
})
