import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { publishBatch } from '../../../../src/engine/ingest/compile/publish.js'
import type { ParsedWork } from '../../../../src/engine/ingest/compile/store-versions.js'
import type { CompileWork } from '../../../../src/engine/ingest/compile/work.js'
import { cancelJob, getJob } from '../../../../src/engine/ingest/jobs/jobs.js'
import { retryFailed, retryJob } from '../../../../src/engine/ingest/jobs/retry.js'
import { DEFAULT_POLICIES } from '../../../../src/engine/library/spaces/manifest.js'
import type { SpaceRow } from '../../../../src/engine/store/rows/spaces.js'
import { ADA, BOB } from '../../../helpers/engine.js'
import { openSmallStore, passages, preparedDocument, type SmallStore } from '../../../helpers/store.js'
import { storeAndIndex } from '../compile/store-and-index.js'

const signal = new AbortController().signal
const DAY_MS = 24 * 60 * 60 * 1000

let store: SmallStore
beforeEach(async () => {
  store = await openSmallStore()
})
afterEach(() => store.end())

async function sent(space: SpaceRow, ...names: string[]): Promise<string[]> {
  const files = Object.fromEntries(names.map((name) => [name, `text of ${name}`]))
  const accepted = await store.upload(space, files)
  store.wokenSpaces.length = 0
  return accepted.map(({ compilationJob }) => compilationJob.id)
}
async function sentOne(space: SpaceRow, name = 'a.md'): Promise<string> {
  const [id] = await sent(space, name)
  return id ?? ''
}

const retry = (id: string, caller = ADA) => retryJob(store.context, caller, id)
const cancel = (id: string, caller = ADA) => cancelJob(store.context, caller, id)
const fail = (id: string) =>
  store.run("UPDATE jobs SET stage = 'failed', completed_at = 1, claimed_by = NULL WHERE id = ?", id)
const jobIds = () => store.rows<{ id: string }>('SELECT id FROM jobs ORDER BY key').map(({ id }) => id)
const documents = () => store.rows('SELECT parser_status, error_code FROM documents ORDER BY key')
const commits = () => store.rows('SELECT job_id, status FROM staged_commits ORDER BY created_at, id')
const terminal = { code: 'already-terminal' }
const unknown = { code: 'not-found' }

/** Stores the version of a job that this gateway has claimed. */
async function build(space: SpaceRow, work: CompileWork, text = passages('one', 'two')) {
  const read: ParsedWork[] = [{ work, document: await preparedDocument(work.document.filename, text) }]
  return (await storeAndIndex(store.context, space, read, signal)).built
}

/** A document that is published. @returns the job that published it */
async function published(space: SpaceRow, name = 'a.md'): Promise<string> {
  const [work] = await store.uploadAndClaim(space, { [name]: 'one\n\ntwo' })
  if (work === undefined) throw new Error('nothing was claimed')
  await publishBatch(store.context, space, await build(space, work), undefined)
  store.wokenSpaces.length = 0
  return work.job.id
}

describe('retrying a job', () => {
  it.each(['failed', 'canceled'])('creates a new job when the old one is %s', async (how) => {
    const id = await sentOne(store.createSpace())
    if (how === 'failed') fail(id)
    else await cancel(id)
    store.wokenSpaces.length = 0
    const again = await retry(id)
    expect(again).toMatchObject({ stage: 'queued' })
    expect(store.job(again.id).attempts).toBe(0)
    expect(jobIds()).toEqual([id, again.id])
    expect(documents()).toEqual([{ parser_status: 'pending', error_code: null }])
    expect(commits()).toContainEqual({ job_id: again.id, status: 'metadata-prepared' })
    expect(store.wokenSpaces).toHaveLength(1)
  })

  it('runs a waiting job at once, without creating another one', async () => {
    const id = await sentOne(store.createSpace())
    store.run('UPDATE jobs SET run_after = ?, attempts = 3', Date.now() + DAY_MS)
    expect(await retry(id)).toMatchObject({ id, stage: 'queued' })
    expect(store.job(id)).toMatchObject({ run_after: 0, attempts: 3 })
    expect(jobIds()).toEqual([id])
    expect(store.wokenSpaces).toHaveLength(1)
  })

  it('refers to the newest job of the document, so that an old failure is not retried twice', async () => {
    const id = await sentOne(store.createSpace())
    fail(id)
    const again = await retry(id)
    store.run('UPDATE jobs SET run_after = 99 WHERE id = ?', again.id)
    expect(await retry(id)).toMatchObject({ id: again.id })
    expect(store.job(again.id).run_after).toBe(0)
    expect(jobIds()).toEqual([id, again.id])
  })

  it('fails when the document was published since, or deleted', async () => {
    const space = store.createSpace()
    await expect(retry(await published(space))).rejects.toMatchObject(terminal)
    const id = await sentOne(space, 'b.md')
    fail(id)
    const again = await retry(id)
    store.run("UPDATE jobs SET stage = 'published', completed_at = 1 WHERE id = ?", again.id)
    await expect(retry(id)).rejects.toMatchObject(terminal)
    const gone = await sentOne(space, 'c.md')
    fail(gone)
    store.run('UPDATE documents SET deleted_at = 1 WHERE key = ?', store.job(gone).doc_key)
    store.wokenSpaces.length = 0
    await expect(retry(gone)).rejects.toMatchObject(terminal)
    expect(store.wokenSpaces).toEqual([])
    expect(jobIds()).toHaveLength(4)
  })

  it('fails for another tenant', async () => {
    const id = await sentOne(store.createSpace())
    fail(id)
    await expect(retry(id, BOB)).rejects.toMatchObject(unknown)
    await expect(retry('no-such-job')).rejects.toMatchObject(unknown)
    expect(() => store.db.now(getJob(BOB, id))).toThrow()
    expect(store.db.now(getJob(ADA, id))).toMatchObject({ id, stage: 'failed' })
    expect(jobIds()).toEqual([id])
  })
})

describe('retrying all failed jobs of a space', () => {
  it('creates new jobs, runs waiting jobs at once, and touches neither published jobs nor other spaces', async () => {
    const [space, other] = [store.createSpace(), store.createSpace()]
    const [failed = '', canceled = '', waiting = '', made = ''] = await sent(space, 'f.md', 'c.md', 'w.md', 'm.md')
    const elsewhere = await sentOne(other)
    fail(failed)
    fail(elsewhere)
    await cancel(canceled)
    store.run("UPDATE jobs SET stage = 'published', completed_at = 1 WHERE id = ?", made)
    store.run('UPDATE jobs SET run_after = 99 WHERE id = ?', waiting)
    store.wokenSpaces.length = 0
    const asked: number[] = []
    store.context.vectors.retryNow = async (key) => void asked.push(key)
    const { total, jobs, bulkJobId } = await retryFailed(store.context, ADA, space.id)
    expect(total).toBe(2)
    expect(jobs.map(({ stage }) => stage)).toEqual(['queued', 'queued'])
    expect(jobs.map(({ id }) => store.job(id).doc_key)).toEqual([failed, canceled].map((id) => store.job(id).doc_key))
    expect(store.job(waiting).run_after).toBe(0)
    expect(jobIds()).toHaveLength(7)
    expect(store.rows('SELECT job_id FROM bulk_items WHERE bulk_id = ? ORDER BY place', bulkJobId)).toEqual(
      jobs.map(({ id }) => ({ job_id: id })),
    )
    expect(asked).toEqual([space.key])
    expect(store.wokenSpaces).toHaveLength(1)
    expect((await retryFailed(store.context, ADA, space.id)).total).toBe(0)
  })

  it('skips jobs of documents that have a newer job or are deleted', async () => {
    const space = store.createSpace()
    const [again = '', gone = ''] = await sent(space, 'a.md', 'b.md')
    fail(again)
    fail(gone)
    await retry(again)
    store.run('UPDATE documents SET deleted_at = 1 WHERE key = ?', store.job(gone).doc_key)
    expect(await retryFailed(store.context, ADA, space.id)).toMatchObject({ total: 0, jobs: [] })
  })

  it('fails without new jobs when old and new passages together exceed the quota', async () => {
    const quotaPolicy = { ...DEFAULT_POLICIES.quotaPolicy, maxNodeCount: 3 }
    const space = store.createSpace({ policies: { quotaPolicy } })
    const id = await published(space)
    fail(id)
    await expect(retryFailed(store.context, ADA, space.id)).rejects.toMatchObject({ code: 'reindex-over-quota' })
    expect(jobIds()).toEqual([id])
    expect(store.rows('SELECT id FROM bulk_jobs')).toEqual([])
  })

  it('fails for another tenant', async () => {
    const space = store.createSpace()
    const id = await sentOne(space)
    fail(id)
    await expect(retryFailed(store.context, BOB, space.id)).rejects.toMatchObject(unknown)
    expect(jobIds()).toEqual([id])
  })
})

describe('canceling a job', () => {
  it('ends the job, its commit and the claim of its gateway', async () => {
    const [work] = await store.uploadAndClaim(store.createSpace(), { 'a.md': 'text' })
    const id = work?.job.id ?? ''
    store.wokenSpaces.length = 0
    const before = Date.now()
    expect(await cancel(id)).toMatchObject({ id, stage: 'canceled', completedAt: expect.any(Number) })
    expect(store.job(id)).toMatchObject({ stage: 'canceled', claimed_by: null })
    expect(documents()).toEqual([{ parser_status: 'failed', error_code: 'canceled' }])
    const [commit] = store.rows<{ status: string; expires_at: number }>('SELECT status, expires_at FROM staged_commits')
    expect(commit?.status).toBe('canceled')
    expect(Math.round(((commit?.expires_at ?? 0) - before) / DAY_MS)).toBe(
      DEFAULT_POLICIES.retentionPolicy.failedCommitRetentionDays,
    )
    expect(store.wokenSpaces).toHaveLength(1)
  })

  it('removes the unpublished version of the job from rows and index', async () => {
    const space = store.createSpace()
    const [work] = await store.uploadAndClaim(space, { 'a.md': 'text' })
    if (work === undefined) throw new Error('nothing was claimed')
    const built = await build(space, work)
    expect(store.indexes.texts(space.id)).toEqual(['one', 'two'])
    await cancel(work.job.id)
    expect(store.rows('SELECT key FROM nodes')).toEqual([])
    expect(store.indexes.texts(space.id)).toEqual([])
    // The compiling gateway no longer publishes it.
    await publishBatch(store.context, space, built, undefined)
    expect(store.rows('SELECT key FROM versions WHERE from_revision IS NOT NULL')).toEqual([])
    expect(store.job(work.job.id).stage).toBe('canceled')
  })

  it('keeps the previously published version and the status of its document', async () => {
    const space = store.createSpace()
    const first = await published(space)
    store.run("UPDATE documents SET parser_status = 'parsed'")
    store.addJob(space, store.job(first).doc_key)
    const second = jobIds().at(-1) ?? ''
    await cancel(second)
    expect(
      store.rows('SELECT key FROM versions WHERE from_revision IS NOT NULL AND until_revision IS NULL'),
    ).toHaveLength(1)
    expect(store.indexes.texts(space.id)).toEqual(['one', 'two'])
  })

  it('fails when the job has ended in any way', async () => {
    const space = store.createSpace()
    const [failed = '', canceled = ''] = await sent(space, 'f.md', 'c.md')
    fail(failed)
    await cancel(canceled)
    const done = await published(space, 'p.md')
    for (const id of [failed, canceled, done]) await expect(cancel(id)).rejects.toMatchObject(terminal)
    expect([failed, canceled, done].map((id) => store.job(id).stage)).toEqual(['failed', 'canceled', 'published'])
  })

  it('fails for another tenant', async () => {
    const id = await sentOne(store.createSpace())
    await expect(cancel(id, BOB)).rejects.toMatchObject(unknown)
    expect(store.job(id)).toMatchObject({ stage: 'queued', completed_at: null })
    expect(store.wokenSpaces).toEqual([])
  })
})
