import { Readable } from 'node:stream'
import { afterEach, describe, expect, it } from 'vitest'
import type { EngineOptions } from '../../../../src/engine/index.js'
import { ADA, ask, BOB, engineOptions, ingest, startEngine, type TestEngine } from '../../../helpers/engine.js'
import { until } from '../../../helpers/until.js'

const QUESTION = 'When was the lighthouse built?'
const note = (name: string) => `# ${name}\n\nThe lighthouse of ${name} was built in 1908.\n`

let test: TestEngine
let spaceId: string
const quotas: Record<string, number> = {}

afterEach(async () => {
  await test.end()
  for (const name of Object.keys(quotas)) delete quotas[name]
})

async function start(changes: Partial<EngineOptions> = {}): Promise<void> {
  test = await startEngine({ quotas, ...changes })
  spaceId = (await test.engine.spaces.create(ADA, { name: 'Notes', slug: 'notes' })).id
}

const put = (files: Record<string, string>) => ingest(test.engine, ADA, spaceId, files)
const stats = () => test.engine.spaces.stats(ADA, spaceId, { windowMinutes: 60 })
const refused = (name: string) => ({ code: 'quota-exceeded', message: expect.stringContaining(name) })

/** Uploads without waiting for the compilation. */
async function send(filename: string, text: string) {
  const upload = await test.engine.documents.upload(ADA, spaceId, { many: false })
  await upload.add({ filename, content: Readable.from([Buffer.from(text)]) })
  return upload.commit({})
}

describe('the daily quota of parsed pages', () => {
  it('rejects uploads above the budget until the next day, and still accepts existing bytes', async () => {
    let ahead = 0
    await start({ now: () => Date.now() + ahead })
    quotas.maxParserPagesPerDay = 2
    expect((await test.engine.spaces.manifest(ADA, spaceId)).quotaPolicy.providerBudgets.maxParserPagesPerDay).toBe(2)
    await put({ 'a.md': note('Brest'), 'b.md': note('Emden') })
    const refusal = await put({ 'c.md': note('Kiel') }).catch((error) => error)
    expect(refusal).toMatchObject(refused('maxParserPagesPerDay'))
    expect(refusal.retryAfter).toBeGreaterThan(0)
    await put({ 'a.md': note('Brest') })
    ahead = 24 * 60 * 60 * 1000
    await put({ 'c.md': note('Kiel') })
  })
})

describe('the quota of document bytes', () => {
  it('rejects uploads above the quota until some documents are deleted', async () => {
    await start()
    const size = note('Brest').length
    quotas.maxRawDocumentBytes = 2 * size
    const [first] = await put({ 'a.md': note('Brest'), 'b.md': note('Emden') })
    await expect(put({ 'c.md': 'x' })).rejects.toMatchObject(refused('maxRawDocumentBytes'))
    expect((await stats()).storage).toEqual({ documentCount: 2, rawDocumentBytes: 2 * size })
    // Existing bytes count once.
    expect((await put({ 'a.md': note('Brest') }))[0].asset.id).toBe(first.asset.id)
    await test.engine.documents.delete(ADA, spaceId, [first.asset.id])
    expect((await stats()).storage).toEqual({ documentCount: 1, rawDocumentBytes: size })
    await put({ 'c.md': 'x'.repeat(size) })
    await test.reopen()
    expect((await stats()).storage).toEqual({ documentCount: 2, rawDocumentBytes: 2 * size })
  })

  it('holds for concurrent uploads, too', async () => {
    await start()
    quotas.maxRawDocumentBytes = 1000
    const results = await Promise.allSettled(
      Array.from({ length: 20 }, (_, place) => send(`${place}.txt`, `${place} `.padEnd(300, 'x'))),
    )
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(3)
    expect((await stats()).storage).toEqual({ documentCount: 3, rawDocumentBytes: 900 })
  })
})

describe('quotas of compiled content', () => {
  it.each([
    ['maxNodeCount', 1],
    ['maxProjectionCount', 2],
    ['maxSegmentCount', 2],
  ])('accept one document and reject the next if %s is %i', async (name, limit) => {
    await start()
    quotas[name] = limit
    const [item] = await put({ 'a.md': note('Brest') })
    expect((await test.engine.documents.get(ADA, spaceId, item.asset.id)).parserStatus).toBe('parsed')
    await expect(put({ 'b.md': note('Emden') })).rejects.toMatchObject(refused(name))
    expect((await stats()).storage.documentCount).toBe(1)
  })

  it('fail only the document that exceeds them, with the reason, until they are raised', async () => {
    await start()
    quotas.maxSegmentCount = 5
    const [small, large] = await put({
      'a.md': note('Brest'),
      'b.md': Array.from({ length: 9 }, (_, place) => `# Part ${place}\n\nText of it.\n`).join('\n'),
    })
    expect((await test.engine.documents.get(ADA, spaceId, small.asset.id)).parserStatus).toBe('parsed')
    const failed = await test.engine.documents.get(ADA, spaceId, large.asset.id)
    expect(failed.metadata.error).toMatchObject(refused('maxSegmentCount is 5'))
    const job = await test.engine.jobs.get(ADA, large.compilationJob.id)
    expect(job).toMatchObject({ stage: 'failed', error: expect.stringContaining('maxSegmentCount') })
    quotas.maxSegmentCount = 1000
    await test.engine.documents.reindex(ADA, spaceId, { documentIds: [large.asset.id] })
    await until(async () => (await test.engine.documents.get(ADA, spaceId, large.asset.id)).parserStatus === 'parsed')
  })

  it('fail a document whose artifact exceeds maxArtifactBytes', async () => {
    await start()
    quotas.maxArtifactBytes = 1
    const [item] = await put({ 'a.md': note('Brest') })
    const failed = await test.engine.documents.get(ADA, spaceId, item.asset.id)
    expect(failed.metadata.error).toMatchObject(refused('maxArtifactBytes is 1'))
    quotas.maxArtifactBytes = 100_000
    await put({ 'b.md': note('Emden') })
  })

  it('reject a reindex whose old and new passages together exceed them', async () => {
    await start()
    const [first, second] = await put({ 'a.md': note('Brest'), 'b.md': note('Emden') })
    quotas.maxNodeCount = 3
    const all = test.engine.documents.reindex(ADA, spaceId, { all: true })
    await expect(all).rejects.toMatchObject({ code: 'reindex-over-quota' })
    const one = await test.engine.documents.reindex(ADA, spaceId, { documentIds: [first.asset.id] })
    expect(one.items).toMatchObject([{ status: 'queued' }])
    await until(async () => (await test.engine.jobs.bulk(ADA, one.bulkJobId)).status === 'completed')
    expect((await test.engine.documents.get(ADA, spaceId, second.asset.id)).version).toBe(1)
  })
})

describe('quotas of queries', () => {
  it('reject a query when traces fill their quota', async () => {
    await start()
    await ask(test.engine, ADA, spaceId, QUESTION)
    quotas.maxTraceBytes = 100_000
    await ask(test.engine, ADA, spaceId, QUESTION)
    quotas.maxTraceBytes = 10
    await expect(ask(test.engine, ADA, spaceId, QUESTION)).rejects.toMatchObject(refused('maxTraceBytes'))
  })

  it('limit open sessions; a new session replaces one with a single query, but no conversation', async () => {
    await start()
    quotas.maxActiveSessionCount = 2
    const talk = async () => {
      const { sessionId } = await ask(test.engine, ADA, spaceId, QUESTION)
      return (await ask(test.engine, ADA, spaceId, 'And the other?', { sessionId })).sessionId
    }
    const active = async () => (await test.engine.spaces.status(ADA, spaceId)).activeSessions
    const first = await talk()
    const oneOff = await ask(test.engine, ADA, spaceId, QUESTION)
    expect((await active()).items.map(({ id }) => id)).toEqual([first, oneOff.sessionId])
    const next = await ask(test.engine, ADA, spaceId, QUESTION)
    expect((await active()).items.map(({ id }) => id)).toEqual([first, next.sessionId])
    await ask(test.engine, ADA, spaceId, 'And the other?', { sessionId: next.sessionId })
    await expect(ask(test.engine, ADA, spaceId, QUESTION)).rejects.toMatchObject(refused('maxActiveSessionCount'))
    // A rejected query occupies no session: the conversations continue.
    for (let round = 0; round < 10; round++)
      await ask(test.engine, ADA, spaceId, QUESTION).catch((error) => expect(error.code).toBe('quota-exceeded'))
    expect((await ask(test.engine, ADA, spaceId, QUESTION, { sessionId: first })).sessionId).toBe(first)
    expect((await test.engine.activity()).runningQueries).toBe(0)
  })

  it('count running queries as sessions', async () => {
    await start()
    quotas.maxActiveSessionCount = 1
    const body = { knowledgeSpaceId: spaceId, query: QUESTION, activeDocumentIds: [], activeEntityIds: [] }
    const run = await test.engine.queries.start(ADA, body, new AbortController().signal)
    await expect(ask(test.engine, ADA, spaceId, QUESTION)).rejects.toMatchObject(refused('maxActiveSessionCount'))
    for await (const frame of run.frames()) expect(frame).toBeDefined()
    expect((await ask(test.engine, ADA, spaceId, QUESTION)).error).toBeUndefined()
  })
})

describe('other limits', () => {
  it('limit the spaces of each tenant separately', async () => {
    await start({ limits: { ...engineOptions('').limits, spacesPerTenant: 2 } })
    await test.engine.spaces.create(ADA, { name: 'Two', slug: 'two' })
    const third = { name: 'Three', slug: 'three' }
    await expect(test.engine.spaces.create(ADA, third)).rejects.toMatchObject({ code: 'capacity-exceeded' })
    await test.engine.spaces.create(BOB, third)
    await test.engine.spaces.delete(ADA, spaceId)
    await test.engine.spaces.create(ADA, third)
  })

  it('limit concurrent compilations of a space, and all of them finish', async () => {
    await start()
    quotas.maxActiveJobCount = 2
    let most = 0
    const sampling = setInterval(async () => {
      const { activeJobs } = await test.engine.activity()
      most = Math.max(most, activeJobs)
    }, 1)
    await put(Object.fromEntries(Array.from({ length: 12 }, (_, place) => [`${place}.md`, note(`Port ${place}`)])))
    clearInterval(sampling)
    expect(most).toBeGreaterThan(0)
    expect(most).toBeLessThanOrEqual(2)
    expect((await stats()).projections.fts).toMatchObject({ ready: 12, building: 0, failed: 0 })
  })

  it('appear in the manifest with the values of the deployment', async () => {
    quotas.maxNodeCount = 7
    await start()
    const { quotaPolicy } = await test.engine.spaces.manifest(ADA, spaceId)
    expect(quotaPolicy).toMatchObject({ maxNodeCount: 7, maxSegmentCount: 5_000_000 })
  })
})
