import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { rowsOf } from '../../../helpers/databases.js'
import { ADA, ask, BOB, ingest, startEngine, type TestEngine } from '../../../helpers/engine.js'
import { startFakeOpenAi } from '../../../helpers/fake-openai.js'
import { until } from '../../../helpers/until.js'

const MINUTE = 60_000
const note = (name: string) =>
  `# ${name}\n\nThe lighthouse of ${name} was built in 1908.\n\n## Keeper\n\nIt has a keeper.\n`
const QUESTION = 'When was the lighthouse built?'

let test: TestEngine
let spaceId: string
let ahead = 0

beforeEach(async () => {
  ahead = 0
  test = await startEngine({ now: () => Date.now() + ahead })
  spaceId = (await test.engine.spaces.create(ADA, { name: 'Notes', slug: 'notes' })).id
})
afterEach(() => test.end())

const status = () => test.engine.spaces.status(ADA, spaceId)
const stats = (minutes = 60) => test.engine.spaces.stats(ADA, spaceId, { windowMinutes: minutes })
const many = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, place) => [`${place}.md`, note(`Port ${place}`)]))

describe('status and stats of a space', () => {
  it('show zeros for an empty space', async () => {
    const none = { total: 0, ready: 0, building: 0, stale: 0, failed: 0 }
    const summaries = { denseVector: none, fts: none, graph: none, metadata: none }
    expect((await status()).index).toMatchObject({ projectionVersion: 0, summaries })
    expect(await stats()).toMatchObject({
      projections: { ...summaries, projectionVersion: 0 },
      storage: { documentCount: 0, rawDocumentBytes: 0 },
      commits: { failedRetryable: 0, failedTerminal: 0, sampled: 0, truncated: false },
      runtime: { activeLeaseSampleCount: 0, activeSessionSampleCount: 0, truncated: false },
    })
  })

  it('count documents, bytes and passages correctly, even after a reindex and a deletion', async () => {
    const files = many(4)
    const [first, second] = await ingest(test.engine, ADA, spaceId, files)
    const bytes = Object.values(files).reduce((sum, text) => sum + text.length, 0)
    const { projections, storage } = await stats()
    expect(storage).toEqual({ documentCount: 4, rawDocumentBytes: bytes })
    const { ready } = projections.fts
    expect(ready).toBeGreaterThanOrEqual(4)
    expect(projections.fts).toEqual({ total: ready, ready, building: 0, stale: 0, failed: 0 })
    const { bulkJobId } = await test.engine.documents.reindex(ADA, spaceId, { documentIds: [first.asset.id] })
    await until(async () => (await test.engine.jobs.bulk(ADA, bulkJobId)).status === 'completed')
    expect((await stats()).projections.fts).toEqual(projections.fts)
    await test.engine.documents.delete(ADA, spaceId, [second.asset.id])
    expect(await stats()).toMatchObject({
      storage: { documentCount: 3, rawDocumentBytes: bytes - second.asset.sizeBytes },
      projections: { fts: { ready: (ready / 4) * 3 }, projectionVersion: (await status()).index.projectionVersion },
    })
  })

  it('count a vector as ready only for a passage of the newest version', async () => {
    const fake = await startFakeOpenAi({ dimension: 16 })
    const model = { pluginId: 'openai-compatible', provider: 'local', model: 'some-model' }
    const other = await startEngine({ providers: [{ ...model, baseUrl: fake.url }] })
    try {
      const { id } = await other.engine.spaces.create(ADA, { name: 'N', slug: 'n', embeddingProfile: model })
      const dense = async () =>
        (await other.engine.spaces.stats(ADA, id, { windowMinutes: 60 })).projections.denseVector
      const [first] = await ingest(other.engine, ADA, id, many(8))
      const { total, ...rest } = await dense()
      expect(total).toBeGreaterThanOrEqual(8)
      expect(rest).toEqual({ ready: total, building: 0, stale: 0, failed: 0 })
      // Vectors of the old versions remain for a while, and must not hide missing new ones.
      const { bulkJobId } = await other.engine.documents.reindex(ADA, id, { all: true })
      await until(async () => (await other.engine.jobs.bulk(ADA, bulkJobId)).status === 'completed')
      expect(await dense()).toEqual({ total, ...rest })
      await rowsOf(other.dataDir).run('DELETE FROM vectors WHERE node_key = (SELECT max(node_key) FROM vectors)')
      expect(await dense()).toEqual({ total, ready: total - 1, building: 1, stale: 0, failed: 0 })
      await other.engine.documents.delete(ADA, id, [first.asset.id])
      expect((await dense()).total).toBe((total / 8) * 7)
    } finally {
      await other.end()
      await fake.close()
    }
  })

  it('expect no vectors in a space too small for a model, and none of passages without known words', async () => {
    await ingest(test.engine, ADA, spaceId, many(3))
    await until(async () => (await stats()).projections.denseVector.building === 0)
    expect((await stats()).projections.denseVector).toMatchObject({ total: 0, ready: 0 })
    const text = (place: number) => Array.from({ length: 40 }, (_, word) => `subject${(place * 7 + word * word) % 90}`)
    const texts = Array.from({ length: 120 }, (_, place) => [`${place}.txt`, text(place).join(' ')])
    await ingest(test.engine, ADA, spaceId, { ...Object.fromEntries(texts), 'blank.md': 'Unheard words only\n' })
    await until(async () => {
      const { ready, building } = (await stats()).projections.denseVector
      return ready > 0 && building === 0
    })
    const { denseVector, fts } = (await stats()).projections
    expect(denseVector).toEqual({ ...denseVector, total: denseVector.ready, building: 0 })
    expect(denseVector.ready).toBeLessThan(fts.ready)
  }, 90_000)

  it('expect no model for texts with too few distinct words', async () => {
    await ingest(test.engine, ADA, spaceId, many(40))
    await until(async () => (await stats()).projections.denseVector.building === 0)
    expect((await stats()).projections.denseVector).toMatchObject({ total: 0, ready: 0 })
    // Other background work after a publication counts, too, and ends; a due model would not.
    await until(async () => (await test.engine.activity()).backgroundTasks === 0)
  }, 90_000)

  it('count failed commits within the requested window only', async () => {
    await ingest(test.engine, ADA, spaceId, { 'good.md': note('Brest'), 'bad.pdf': '%PDF-1.7 this is no pdf' })
    const { fts } = (await stats()).projections
    expect(fts).toMatchObject({ failed: 1, building: 0 })
    expect(fts.total).toBe(fts.ready + fts.building + fts.stale + fts.failed)
    expect((await status()).failedCommits).toMatchObject({
      count: 1,
      truncated: false,
      items: [{ status: 'failed-terminal', errorCode: expect.any(String) }],
    })
    expect((await stats(5)).commits).toMatchObject({ failedTerminal: 1, sampled: 1 })
    ahead = 6 * MINUTE
    const later = await stats(5)
    expect(later.commits).toMatchObject({ failedTerminal: 0, sampled: 0 })
    expect(later.window.minutes).toBe(5)
    expect(Date.parse(later.window.end) - Date.parse(later.window.start)).toBe(5 * MINUTE)
    expect((await stats(60)).commits.failedTerminal).toBe(1)
  })

  it('show at most a hundred live sessions, and count all sessions and active leases', async () => {
    for (let round = 0; round < 102; round++) await ask(test.engine, ADA, spaceId, QUESTION)
    const { activeSessions } = await status()
    expect({ ...activeSessions, items: activeSessions.items.length }).toEqual({
      count: 102,
      truncated: true,
      items: 100,
    })
    expect((await stats()).runtime).toMatchObject({ activeSessionSampleCount: 100, truncated: true })
    const body = { knowledgeSpaceId: spaceId, query: QUESTION, activeDocumentIds: [], activeEntityIds: [] }
    const run = await test.engine.queries.start(ADA, body, new AbortController().signal)
    expect((await status()).activeLeases).toMatchObject({ count: 1, truncated: false, items: [{ leaseType: 'read' }] })
    expect((await stats()).runtime.activeLeaseSampleCount).toBe(1)
    for await (const frame of run.frames()) expect(frame).toBeDefined()
    expect((await status()).activeLeases).toEqual({ count: 0, truncated: false, items: [] })
    ahead = 31 * MINUTE
    expect((await status()).activeSessions).toEqual({ count: 0, truncated: false, items: [] })
  })

  it('show a session from its first query on, with a lease under the id of the query', async () => {
    const body = { knowledgeSpaceId: spaceId, query: QUESTION, activeDocumentIds: [], activeEntityIds: [] }
    const run = await test.engine.queries.start(ADA, body, new AbortController().signal)
    const { activeSessions, activeLeases } = await status()
    expect(activeSessions).toMatchObject({
      count: 1,
      truncated: false,
      items: [{ id: run.sessionId, subjectId: ADA.subject, clientKind: 'api' }],
    })
    expect((await stats()).runtime.activeSessionSampleCount).toBe(1)
    expect(activeLeases.items).toMatchObject([{ id: run.traceId }])
    // The session is visible to its own subject before that query ends.
    const more = { ...body, sessionId: run.sessionId }
    const second = await test.engine.queries.start(ADA, more, new AbortController().signal)
    const other = await test.engine.queries.start({ ...ADA, subject: 'eve' }, more, new AbortController().signal)
    expect(second.sessionId).toBe(run.sessionId)
    expect(other.sessionId).not.toBe(run.sessionId)
    expect((await status()).activeSessions.count).toBe(2)
    for (const each of [run, second, other]) for await (const frame of each.frames()) expect(frame).toBeDefined()
    expect((await status()).activeSessions.count).toBe(2)
  })

  it('report the cache and the metrics, which are not measured, as unavailable', async () => {
    expect(await stats()).toMatchObject({
      cache: { available: false, entries: 0, totalBytes: 0 },
      metrics: { available: false, reason: expect.any(String) },
    })
    expect((await status()).storage.healthy).toBe(true)
  })

  it('cover one space only and stay hidden from other tenants', async () => {
    await ingest(test.engine, ADA, spaceId, { 'a.md': note('Brest') })
    const other = (await test.engine.spaces.create(ADA, { name: 'Other', slug: 'other' })).id
    expect((await test.engine.spaces.stats(ADA, other, { windowMinutes: 60 })).storage.documentCount).toBe(0)
    const gone = { code: 'not-found' }
    await expect(test.engine.spaces.status(BOB, spaceId)).rejects.toMatchObject(gone)
    await expect(test.engine.spaces.stats(BOB, spaceId, { windowMinutes: 60 })).rejects.toMatchObject(gone)
  })
})
