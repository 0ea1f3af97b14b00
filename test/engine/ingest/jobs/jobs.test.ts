import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { rowsOf } from '../../../helpers/databases.js'
import { ADA, ask, BOB, ingest, startEngine, type TestEngine, uploadOne } from '../../../helpers/engine.js'

let test: TestEngine
let spaceId: string

beforeEach(async () => {
  test = await startEngine()
  spaceId = (await test.engine.spaces.create(ADA, { name: 'N', slug: 'n' })).id
})
afterEach(() => test.end())

const TEXT = '# Lighthouse\n\nThe lighthouse of Westerheversand was built in 1908.\n'

const send = (filename: string, text: string) => uploadOne(test.engine, ADA, spaceId, { filename, text })
const list = async (state?: 'open' | 'failed') =>
  (await test.engine.jobs.list(ADA, spaceId, { limit: 10, state })).items

describe('the jobs of a space', () => {
  it('appear newest first, page by page, with the names of their documents', async () => {
    await ingest(test.engine, ADA, spaceId, { 'a.md': TEXT, 'b.md': TEXT, 'empty.md': '' })
    expect((await list()).map(({ filename, stage }) => [filename, stage])).toEqual([
      ['empty.md', 'failed'],
      ['b.md', 'published'],
      ['a.md', 'published'],
    ])
    const first = await test.engine.jobs.list(ADA, spaceId, { limit: 2 })
    const rest = await test.engine.jobs.list(ADA, spaceId, { limit: 2, cursor: first.nextCursor })
    expect(rest.items.map(({ filename }) => filename)).toEqual(['a.md'])
    expect(rest.nextCursor).toBeUndefined()
    await expect(test.engine.jobs.list(BOB, spaceId, { limit: 2 })).rejects.toMatchObject({ code: 'not-found' })
  })

  it('count as failed until a newer job of the same document succeeds', async () => {
    const accepted = await send('lighthouse.md', TEXT)
    await test.engine.jobs.cancel(ADA, accepted.compilationJob.id)
    expect((await list('failed')).map(({ id, stage }) => [id, stage])).toEqual([
      [accepted.compilationJob.id, 'canceled'],
    ])
    await test.engine.documents.settled(ADA, spaceId, await send('lighthouse.md', TEXT))
    expect(await list('failed')).toEqual([])
    expect(await list()).toHaveLength(2)
  })
})

describe('a retried job', () => {
  it('starts over after its cancellation, and its document is found', async () => {
    const accepted = await send('lighthouse.md', TEXT)
    await test.engine.jobs.cancel(ADA, accepted.compilationJob.id)
    const again = await test.engine.jobs.retry(ADA, accepted.compilationJob.id)
    expect(again.id).not.toBe(accepted.compilationJob.id)
    await expect.poll(async () => (await test.engine.jobs.get(ADA, again.id)).stage).toBe('published')
    expect((await ask(test.engine, ADA, spaceId, 'When was the lighthouse built?')).answer).toContain('1908')
    await expect(test.engine.jobs.retry(ADA, accepted.compilationJob.id)).rejects.toMatchObject({
      code: 'already-terminal',
    })
    await expect(test.engine.jobs.retry(BOB, again.id)).rejects.toMatchObject({ code: 'not-found' })
  })

  it('can be retried together with all failed jobs of its space, without any other job', async () => {
    await ingest(test.engine, ADA, spaceId, { 'a.md': TEXT, 'empty.md': '', 'void.md': '' })
    const retried = await test.engine.jobs.retryFailed(ADA, spaceId)
    expect(retried.total).toBe(2)
    await expect.poll(async () => (await list('failed')).length).toBe(2)
    const failed = await list('failed')
    expect(failed.map(({ filename }) => filename).sort()).toEqual(['empty.md', 'void.md'])
    expect(failed.map(({ id }) => id).sort()).toEqual(retried.jobs.map(({ id }) => id).sort())
  })
})

describe('an index process that cannot work', () => {
  const indexes = () => join(test.dataDir, 'indexes')

  /** Puts a file at the path of the index folder and restarts the engine. */
  async function breakIndexes(): Promise<void> {
    await test.engine.close()
    if (existsSync(indexes())) renameSync(indexes(), `${indexes()}.away`)
    writeFileSync(indexes(), 'not a folder')
    const { openEngine } = await import('../../../../src/engine/index.js')
    const { engineOptions } = await import('../../../helpers/engine.js')
    test.engine = await openEngine(engineOptions(test.dataDir))
  }

  const change = (sql: string, ...values: number[]) => rowsOf(test.dataDir).run(sql, ...values)
  const row = () => rowsOf(test.dataDir).get('SELECT attempts, waits, stage, error FROM jobs') ?? {}

  it('delays a job for more than five attempts, none of which counts, until the process has recovered', async () => {
    await breakIndexes()
    const accepted = await send('lighthouse.md', TEXT)
    for (let waits = 1; waits <= 6; waits++) {
      await expect.poll(() => row().waits).toBeGreaterThanOrEqual(waits)
      await change('UPDATE jobs SET run_after = 0 WHERE claimed_by IS NULL')
    }
    expect(row()).toMatchObject({ attempts: 0, error: expect.any(String) })
    const [job] = await list('open')
    expect(job).toMatchObject({ filename: 'lighthouse.md', attempts: 0, waitingSince: expect.any(Number) })
    await expect
      .poll(async () => (await test.engine.spaces.status(ADA, spaceId)).failedCommits.items)
      .toMatchObject([{ status: 'failed-retryable' }])
    rmSync(indexes())
    await test.reopen()
    await test.engine.jobs.retry(ADA, accepted.compilationJob.id)
    await expect.poll(() => row().stage).toBe('published')
  }, 180_000)

  it('fails a waiting job after seven days, with the reason', async () => {
    await breakIndexes()
    await send('lighthouse.md', TEXT)
    await expect.poll(() => row().waits).toBeGreaterThanOrEqual(1)
    await change('UPDATE jobs SET run_after = 0, waiting_since = ?', Date.now() - 7 * 24 * 60 * 60 * 1000 - 1000)
    await expect.poll(() => row().stage).toBe('failed')
    expect(row().error).toMatch(/: not resolved within 7 days$/)
  }, 120_000)
})
