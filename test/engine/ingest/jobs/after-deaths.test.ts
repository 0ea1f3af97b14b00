import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { rowsOf } from '../../../helpers/databases.js'
import { ADA, ask, ingest, startEngine, type TestEngine, uploadOne } from '../../../helpers/engine.js'
import { until } from '../../../helpers/until.js'

const TEXT = '# Lighthouse\n\nThe lighthouse of Westerheversand was built in 1908.\n'

let test: TestEngine
let spaceId: string
let failures: { at: number; jobs: number }[]

beforeEach(async () => {
  failures = []
  const warn = (fields: { jobs?: number }, message: string) => {
    if (message.includes('failed and is retried')) failures.push({ at: performance.now(), jobs: fields.jobs ?? 0 })
  }
  test = await startEngine({ log: { debug() {}, info() {}, warn, error() {} } })
  spaceId = (await test.engine.spaces.create(ADA, { name: 'N', slug: 'n' })).id
})
afterEach(() => test.end())

const change = (sql: string, ...values: (string | number)[]) => rowsOf(test.dataDir).run(sql, ...values)

/** Makes the database reject everything stored for these files until the returned function is called. */
async function refuse(pattern: string): Promise<() => Promise<unknown>> {
  await change(`CREATE TRIGGER refused BEFORE INSERT ON versions
    WHEN (SELECT filename FROM documents WHERE key = NEW.doc_key) LIKE '${pattern}'
    BEGIN SELECT RAISE(ABORT, 'refused by the test'); END`)
  return () => change('DROP TRIGGER refused')
}

/** An engine that was killed a number of times while it compiled the file. */
async function killedWhileAt(filename: string, times: number) {
  const allow = await refuse(filename)
  const accepted = await uploadOne(test.engine, ADA, spaceId, { filename, text: TEXT })
  await until(() => failures.length > 0)
  await test.engine.close()
  await allow()
  const claimed = await change(
    "UPDATE jobs SET claimed_by = 'the dead', unclean_ends = ?, run_after = 0, attempts = 0 WHERE id = ?",
    ...[times - 1, accepted.compilationJob.id],
  )
  expect(claimed).toBe(1)
  await test.reopen()
  return accepted
}

describe('a job during which the process died', () => {
  it('continues after four deaths, and its document is found', async () => {
    const { compilationJob } = await killedWhileAt('a.md', 4)
    await until(async () => (await test.engine.jobs.get(ADA, compilationJob.id)).stage === 'published')
    expect((await ask(test.engine, ADA, spaceId, 'When was the lighthouse built?')).answer).toContain('1908')
  })

  it('fails with a reason at the fifth death, while the document of another job stays published', async () => {
    const [other] = await ingest(test.engine, ADA, spaceId, { 'other.md': TEXT })
    const { asset, compilationJob } = await killedWhileAt('a.md', 5)
    expect(await test.engine.jobs.get(ADA, compilationJob.id)).toMatchObject({
      ...{ stage: 'failed', error: expect.stringMatching(/crashed repeatedly/), completedAt: expect.any(Number) },
    })
    expect(await test.engine.documents.get(ADA, spaceId, asset.id)).toMatchObject({
      ...{ parserStatus: 'failed', metadata: { error: { code: 'crash-loop' } } },
    })
    expect((await test.engine.documents.get(ADA, spaceId, String(other?.asset.id))).parserStatus).toBe('parsed')
    const { failedCommits } = await test.engine.spaces.status(ADA, spaceId)
    expect(failedCommits.items).toMatchObject([{ status: 'failed-terminal', errorCode: 'crash-loop' }])
    const again = await test.engine.jobs.retry(ADA, compilationJob.id)
    await until(async () => (await test.engine.jobs.get(ADA, again.id)).stage === 'published')
  })
})

describe('a job that fails in a batch', () => {
  it('runs alone from its third attempt on, so that the other jobs of the batch are published', async () => {
    await refuse('bad.md')
    const upload = ['bad.md', ...Array.from({ length: 5 }, (_, n) => `${n}.md`)]
    const accepted = await Promise.all(
      upload.map((filename) => uploadOne(test.engine, ADA, spaceId, { filename, text: `${TEXT}\n${filename}\n` })),
    )
    const stages = () => Promise.all(accepted.map(({ compilationJob: { id } }) => test.engine.jobs.get(ADA, id)))
    await until(async () => (await stages()).slice(1).every(({ stage }) => stage === 'published'))
    const [bad] = (await test.engine.jobs.list(ADA, spaceId, { limit: 10, state: 'open' })).items
    expect(bad).toMatchObject({ filename: 'bad.md', error: expect.stringMatching(/refused by the test/) })
    expect(bad?.attempts).toBeLessThan(5)
    await until(() => failures.length >= 3)
    expect(failures.slice(2).map(({ jobs }) => jobs)).toEqual(failures.slice(2).map(() => 1))
  })

  it('reports the time of its next attempt, runs at once on request, and fails at the fifth attempt', async () => {
    await refuse('bad.md')
    const { asset, compilationJob } = await uploadOne(test.engine, ADA, spaceId, { filename: 'bad.md', text: TEXT })
    const before = Date.now()
    const newest = async () => (await test.engine.jobs.list(ADA, spaceId, { limit: 1 })).items[0]
    /** Whether the given number of attempts has failed, and the next time is stored. */
    const failed = async (tries: number) => {
      const job = await newest()
      return job?.attempts === tries && (job.retryAt ?? 0) > 0
    }
    await until(() => failed(1))
    const listed = await newest()
    expect(listed?.retryAt).toBeGreaterThanOrEqual(before + 500)
    expect(listed?.retryAt).toBeLessThanOrEqual(Date.now() + 1000)
    expect(listed).not.toHaveProperty('waitingSince')
    for (let tries = 2; tries <= 5; tries++) {
      expect((await test.engine.jobs.retry(ADA, compilationJob.id)).id).toBe(compilationJob.id)
      if (tries < 5) await until(() => failed(tries))
    }
    await until(async () => (await test.engine.jobs.get(ADA, compilationJob.id)).stage === 'failed')
    expect(await test.engine.documents.get(ADA, spaceId, asset.id)).toMatchObject({
      ...{ parserStatus: 'failed', metadata: { error: { code: 'internal' } } },
    })
    expect(failures).toHaveLength(5)
    expect(await newest()).not.toHaveProperty('retryAt')
    expect((await test.engine.jobs.list(ADA, spaceId, { limit: 5, state: 'open' })).items).toEqual([])
  })
})

it('a bulk job runs while one of its jobs is open, fails when all have failed, and lists the failures', async () => {
  const allow = await refuse('bad.md')
  const accepted = await ingest(test.engine, ADA, spaceId, { 'empty.md': '' })
  accepted.push(await uploadOne(test.engine, ADA, spaceId, { filename: 'bad.md', text: TEXT }))
  const { bulkJobId } = await test.engine.documents.bulkUpload(ADA, spaceId, accepted)
  const bulk = () => test.engine.jobs.bulk(ADA, bulkJobId)
  expect(await bulk()).toMatchObject({ status: 'running', totalItems: 2, completedItems: 0, failedItems: 1 })
  await test.engine.jobs.cancel(ADA, String(accepted[1]?.compilationJob.id))
  expect(await bulk()).toMatchObject({
    ...{ status: 'failed', failedItems: 2, failedItemIds: accepted.map(({ asset }) => asset.id) },
    ...{ knowledgeSpaceId: spaceId, type: 'document_upload' },
  })
  expect(Date.parse((await bulk()).updatedAt)).toBeGreaterThanOrEqual(Date.parse((await bulk()).createdAt))
  await allow()
  const failed = await test.engine.jobs.retryFailed(ADA, spaceId)
  expect(failed.total).toBe(2)
})
