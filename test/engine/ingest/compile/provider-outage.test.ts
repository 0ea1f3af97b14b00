import { createHash } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { EngineOptions } from '../../../../src/engine/index.js'
import { ADA, ask, ingest, startEngine, type TestEngine } from '../../../helpers/engine.js'
import { type FakeOpenAi, type Fault, startFakeOpenAi } from '../../../helpers/fake-openai.js'

const KEY = 'sk-canary-41aa'
const MODEL = { pluginId: 'openai-compatible', provider: 'local', model: 'embedder' }
const FILES = {
  'lighthouse.md': '# Lighthouse\n\nThe lighthouse of Westerheversand was built in 1908 and is forty metres tall.\n',
  'retention.md': '# Retention\n\nAnswer traces are kept for 90 days unless the policy says otherwise.\n',
}
const QUESTION = 'When was the lighthouse built?'

let fake: FakeOpenAi
let test: TestEngine
let spaceId: string

const provider = (apiKey = KEY) => ({
  providers: [{ pluginId: MODEL.pluginId, provider: MODEL.provider, baseUrl: fake.url, apiKey, timeoutMs: 3000 }],
})

beforeEach(async () => {
  fake = await startFakeOpenAi({ apiKey: KEY, dimension: 32, models: [MODEL.model], poison: 'indigestible' })
  test = await startEngine(provider())
  spaceId = (await test.engine.spaces.create(ADA, { name: 'N', slug: 'n', embeddingProfile: MODEL })).id
})
afterEach(async () => {
  await test.end()
  await fake.close()
})

/** Reopens the same data with other settings. */
async function restart(options: Partial<EngineOptions>): Promise<void> {
  await test.engine.close()
  const { openEngine } = await import('../../../../src/engine/index.js')
  const { engineOptions } = await import('../../../helpers/engine.js')
  test.engine = await openEngine(engineOptions(test.dataDir, options))
}

const status = async () => (await test.engine.spaces.status(ADA, spaceId)).index
const degraded = async () => {
  const { traceId, answer } = await ask(test.engine, ADA, spaceId, QUESTION)
  const { steps } = await test.engine.queries.trace(ADA, traceId)
  const retrieve = steps.find(({ name }) => name === 'query.retrieve')?.metadata as { metrics: Metrics } | undefined
  return { answer, metrics: retrieve?.metrics }
}
interface Metrics {
  degraded: boolean
  degradedReasons: string[]
  denseCandidateCount: number
}
const vectorsFollow = () =>
  expect
    .poll(async () => (await status()).summaries.denseVector, { interval: 100 })
    .toMatchObject({ total: 2, ready: 2, building: 0, failed: 0 })

describe('F39: documents that arrive while the embedding provider is unavailable', () => {
  const outages: [string, Fault][] = [
    ['limits the rate of calls', { kind: 'status', status: 429 }],
    ['reports a server error', { kind: 'status', status: 503 }],
    ['accepts calls and never responds', { kind: 'hang' }],
    ['cuts its connections', { kind: 'reset' }],
  ]
  it.each(outages)(
    'appear in text search when the provider %s, and get their vectors after it recovers',
    async (_, fault) => {
      fake.always(fault)
      for (const accepted of await ingest(test.engine, ADA, spaceId, FILES))
        expect(await test.engine.documents.get(ADA, spaceId, accepted.asset.id)).toMatchObject({
          parserStatus: 'parsed',
        })
      const { summaries, missingVectors } = await status()
      expect(summaries.fts).toMatchObject({ total: 2, ready: 2 })
      expect(summaries.denseVector).toMatchObject({ total: 2, ready: 0, building: 2 })
      expect(missingVectors).toMatchObject({ passages: 2, refused: 0, documents: { count: 2, truncated: false } })
      expect(missingVectors?.documents.items.map(({ filename }) => filename).sort()).toEqual(Object.keys(FILES))
      const during = await degraded()
      expect(during.answer).toContain('1908')
      expect(during.metrics?.degraded).toBe(true)
      expect(during.metrics?.degradedReasons.join()).toContain('vectors of 2 passages are missing')
      fake.always()
      await vectorsFollow()
      expect((await status()).missingVectors).toBeUndefined()
      await expect
        .poll(async () => (await degraded()).metrics)
        .toMatchObject({ degraded: false, denseCandidateCount: 2 })
    },
    90_000,
  )

  it('report since when and why their vectors are missing, and when the next attempt is due', async () => {
    fake.always({ kind: 'status', status: 429 })
    await ingest(test.engine, ADA, spaceId, FILES)
    await expect
      .poll(async () => (await status()).missingVectors)
      .toMatchObject({
        errorClass: 'rate-limited',
        error: 'provider "local" is limiting the rate of calls (429)',
        permanent: false,
        since: expect.any(String),
        nextAttemptAt: expect.any(String),
      })
    expect((await degraded()).metrics).toMatchObject({
      degraded: true,
      degradedClass: 'rate-limited',
      degradations: expect.arrayContaining([
        { part: 'vectors', class: 'rate-limited', reason: 'vectors of 2 passages are missing' },
      ]),
    })
  })

  it('keep the daemon running until their vectors exist', async () => {
    fake.always({ kind: 'status', status: 503 })
    await ingest(test.engine, ADA, spaceId, FILES)
    expect((await test.engine.activity()).backgroundTasks).toBeGreaterThan(0)
    fake.always()
    await vectorsFollow()
    await expect.poll(async () => (await test.engine.activity()).backgroundTasks).toBe(0)
  })

  it('get their vectors after a restart during the outage', async () => {
    fake.always({ kind: 'status', status: 503 })
    await ingest(test.engine, ADA, spaceId, FILES)
    await test.reopen()
    expect((await status()).missingVectors).toMatchObject({ passages: 2 })
    fake.always()
    await vectorsFollow()
  })

  it('need no vectors after they were deleted or replaced', async () => {
    fake.always({ kind: 'status', status: 503 })
    const accepted = await ingest(test.engine, ADA, spaceId, FILES)
    const [lighthouse] = accepted
    await test.engine.documents.delete(ADA, spaceId, [lighthouse?.asset.id ?? ''])
    await ingest(test.engine, ADA, spaceId, { 'retention.md': '# Retention\n\nTraces are kept for a century.\n' })
    expect((await status()).missingVectors).toMatchObject({ passages: 1, documents: { count: 1 } })
    fake.always()
    fake.requests.length = 0
    await expect.poll(async () => (await status()).summaries.denseVector).toMatchObject({ total: 1, ready: 1 })
    const sent = JSON.stringify(fake.requests.map(({ body }) => body.input))
    expect(sent).toContain('century')
    expect(sent).not.toContain('Westerheversand')
  })

  it('appear with their vectors at once if the provider works instead, and each text is sent once', async () => {
    await ingest(test.engine, ADA, spaceId, FILES)
    expect((await status()).summaries.denseVector).toMatchObject({ total: 2, ready: 2 })
    expect((await test.engine.spaces.manifest(ADA, spaceId)).embeddingProfile).toMatchObject({ dimension: 32 })
    const texts = fake.requests.flatMap(({ body }) => [body.input ?? []].flat())
    expect(new Set(texts).size).toBe(texts.length)
  })
})

describe('an embedding provider that fails permanently', () => {
  it('works again after its wrong key was corrected; until then the status explains the fix', async () => {
    await restart(provider('sk-wrong'))
    await ingest(test.engine, ADA, spaceId, FILES)
    await expect
      .poll(async () => (await status()).missingVectors)
      .toMatchObject({ passages: 2, errorClass: 'auth', permanent: true })
    const { missingVectors } = await status()
    expect(missingVectors?.error).toMatch(
      /refused the credentials \(401\): its key is wrong .*; correct `providers` in the configuration of the daemon/,
    )
    expect(missingVectors?.error).not.toMatch(/sk-wrong|`ks /)
    // Only a person can fix this: the daemon may exit.
    await expect.poll(async () => (await test.engine.activity()).backgroundTasks).toBe(0)
    await restart(provider())
    await vectorsFollow()
    expect((await status()).missingVectors).toBeUndefined()
  })

  it('appears in the status with the name of the model that it may not have', async () => {
    const other = { ...MODEL, model: 'mistyped' }
    spaceId = (await test.engine.spaces.create(ADA, { name: 'M', slug: 'm', embeddingProfile: other })).id
    await ingest(test.engine, ADA, spaceId, FILES)
    await expect
      .poll(async () => (await status()).missingVectors)
      .toMatchObject({ errorClass: 'unavailable', permanent: true })
    expect((await status()).missingVectors?.error).toContain('it may not have model "mistyped"')
    expect((await degraded()).answer).toContain('1908')
  })

  it('does not block publication after its removal from the settings, and supplies vectors after its return', async () => {
    fake.always({ kind: 'status', status: 503 })
    await ingest(test.engine, ADA, spaceId, FILES)
    await restart({ providers: [] })
    await ingest(test.engine, ADA, spaceId, { 'new.md': '# New\n\nA new lamp was put into the tower.\n' })
    await expect.poll(async () => (await status()).missingVectors).toMatchObject({ passages: 3, permanent: true })
    expect((await status()).missingVectors?.error).toContain('is not configured in this daemon')
    fake.always()
    await restart(provider())
    await expect.poll(async () => (await status()).summaries.denseVector).toMatchObject({ total: 3, ready: 3 })
  })
})

describe('a text that the embedding model rejects', () => {
  it('stays findable by text search, counts as refused, and all other texts get their vectors', async () => {
    const files = { ...FILES, 'long.md': '# Long\n\nAn indigestible passage about the lighthouse keeper.\n' }
    await ingest(test.engine, ADA, spaceId, files)
    await expect
      .poll(async () => (await status()).summaries.denseVector)
      .toEqual({ total: 3, ready: 2, building: 0, stale: 0, failed: 1 })
    expect((await status()).missingVectors).toMatchObject({
      passages: 0,
      refused: 1,
      documents: { items: [{ filename: 'long.md', passages: 0, refused: 1 }] },
    })
    const { answer } = await ask(test.engine, ADA, spaceId, 'What is said about the lighthouse keeper?')
    expect(answer).toContain('keeper')
    await expect.poll(async () => (await test.engine.activity()).backgroundTasks).toBe(0)
  })
})

describe('a single unusable response of an embedding provider', () => {
  const ONE = { 'lighthouse.md': FILES['lighthouse.md'] }

  it.each([
    ['is broken', { kind: 'malformed' }],
    ['holds no number', { kind: 'number', text: 'null' }],
  ] as const)('rejects no passage permanently when it %s', async (_, fault) => {
    fake.script(fault)
    await ingest(test.engine, ADA, spaceId, ONE)
    await expect
      .poll(async () => (await status()).summaries.denseVector)
      .toMatchObject({ total: 1, ready: 1, failed: 0 })
  })

  it('does not change the expected dimension after a restart when its vector has another dimension', async () => {
    await ingest(test.engine, ADA, spaceId, ONE)
    await test.reopen()
    fake.script({ kind: 'dimension', dimension: 7 })
    const first = (await degraded()).metrics
    expect(first).toMatchObject({ degraded: true, denseCandidateCount: 0 })
    await expect.poll(async () => (await degraded()).metrics).toMatchObject({ degraded: false, denseCandidateCount: 1 })
  })
})

describe('bytes that were published during an outage of the embedding provider', () => {
  it('count as unchanged in the check before they are uploaded again', async () => {
    fake.always({ kind: 'status', status: 429 })
    await ingest(test.engine, ADA, spaceId, FILES)
    const sha256 = createHash('sha256').update(FILES['lighthouse.md']).digest('hex')
    const { items } = await test.engine.documents.check(ADA, spaceId, {
      items: [{ filename: 'lighthouse.md', sha256 }],
    })
    expect(items[0]).toMatchObject({ status: 'unchanged', parserStatus: 'parsed' })
  })
})
