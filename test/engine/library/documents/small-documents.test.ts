import { createHash } from 'node:crypto'
import { existsSync, rmSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { compileBatch } from '../../../../src/engine/ingest/compile/pipeline.js'
import { deleteDocuments } from '../../../../src/engine/library/documents/delete.js'
import { checkDocuments, getDocument, listDocuments } from '../../../../src/engine/library/documents/documents.js'
import { reindexDocuments } from '../../../../src/engine/library/documents/reindex.js'
import { DEFAULT_POLICIES } from '../../../../src/engine/library/spaces/manifest.js'
import { sql, type Write } from '../../../../src/engine/store/program.js'
import type { SpaceRow } from '../../../../src/engine/store/rows/spaces.js'
import { ADA, BOB } from '../../../helpers/engine.js'
import { openSmallStore, passages, type SmallStore } from '../../../helpers/store.js'

const EVE = { tenant: ADA.tenant, subject: 'eve' }
const DAY_MS = 24 * 60 * 60 * 1000
const SECRET = '018f0000-0000-7000-8000-000000000001'
const NOWHERE = '018f0000-0000-7000-8000-000000000000'

let store: SmallStore
let space: SpaceRow
beforeEach(async () => {
  store = await openSmallStore()
  space = store.createSpace()
})
afterEach(() => store.end())

/** Publishes files and returns the ids of their documents. */
async function published(files: Record<string, string>, of = space): Promise<string[]> {
  const work = await store.uploadAndClaim(of, files)
  await compileBatch(store.context, of, work, { signal: new AbortController().signal })
  return work.map(({ document }) => document.id)
}

/** Moves a document to a source that only Eve may read. */
function hide(id: string): void {
  store.run("INSERT INTO source_readers (source_id, subject, space_key) VALUES (?, 'eve', ?)", SECRET, space.key)
  store.run('UPDATE documents SET source_id = ? WHERE id = ?', SECRET, id)
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
const objectOf = (id: string) =>
  join(
    store.dataDir,
    'objects',
    store.rows<{ k: string }>('SELECT object_key k FROM documents WHERE id = ?', id)[0]?.k ?? '',
  )
const one = (text: string, ...values: string[]) => store.rows(text, ...values)[0]

describe('deleting documents', () => {
  const remove = (ids: string[], caller = ADA) => deleteDocuments(store.context, caller, space.id, ids)

  it('reports how much of each document was deleted, and removes it from rows, index and object store', async () => {
    const [first = '', second = ''] = await published({ 'a.md': passages('one', 'two'), 'b.md': 'three' })
    const path = objectOf(first)
    store.wokenSpaces.length = 0
    const report = await remove([first, NOWHERE])
    expect(report).toEqual({
      bulkJobId: expect.any(String),
      total: 2,
      items: [
        {
          ...{ documentId: first, status: 'deleted', objectDeleted: true },
          ...{ artifactsDeleted: 1, nodesDeleted: 2, projectionsDeleted: 4 },
        },
        {
          ...{ documentId: NOWHERE, status: 'not_found', objectDeleted: false },
          ...{ artifactsDeleted: 0, nodesDeleted: 0, projectionsDeleted: 0 },
        },
      ],
    })
    expect(existsSync(path)).toBe(false)
    expect(store.indexes.texts(space.id)).toEqual(['three'])
    expect(store.wokenSpaces.length).toBeGreaterThan(0)
    expect(store.db.now(listDocuments(ADA, space.id, { limit: 9 })).items.map(({ id }) => id)).toEqual([second])
    expect(store.rows('SELECT id, type FROM bulk_jobs')).toEqual([{ id: report.bulkJobId, type: 'document_delete' }])
    expect(store.rows('SELECT document_id, outcome FROM bulk_items ORDER BY place')).toEqual([
      { document_id: first, outcome: 'completed' },
      { document_id: NOWHERE, outcome: 'failed' },
    ])
    expect((await remove([first])).items).toMatchObject([{ status: 'not_found', objectDeleted: false }])
  })

  it('adds one revision for all documents, and none when nothing is deleted', async () => {
    const ids = await published({ 'a.md': 'one', 'b.md': 'two' })
    const revision = () => store.reload(space).head_revision
    const before = revision()
    await remove([NOWHERE])
    expect(revision()).toBe(before)
    await remove(ids)
    expect(revision()).toBe(before + 1)
    expect(store.rows('SELECT until_revision FROM versions')).toEqual([
      { until_revision: before + 1 },
      { until_revision: before + 1 },
    ])
  })

  it('keeps bytes that another document uses until the other document is deleted, too', async () => {
    const other = store.createSpace()
    const [first = ''] = await published({ 'a.md': 'the same' })
    const [second = ''] = await published({ 'b.md': 'the same' }, other)
    const path = objectOf(first)
    expect((await remove([first])).items).toMatchObject([{ status: 'deleted', objectDeleted: false }])
    expect(existsSync(path)).toBe(true)
    expect((await deleteDocuments(store.context, ADA, other.id, [second])).items).toMatchObject([
      { objectDeleted: true },
    ])
    expect(existsSync(path)).toBe(false)
  })

  it('cancels the open job of a document and keeps its commit as long as the retention policy requires', async () => {
    const policies = { retentionPolicy: { ...DEFAULT_POLICIES.retentionPolicy, failedCommitRetentionDays: 3 } }
    space = store.createSpace({ policies })
    const [work] = await store.uploadAndClaim(space, { 'a.md': 'one' })
    const before = Date.now()
    expect((await remove([work?.document.id ?? ''])).items).toMatchObject([
      { status: 'deleted', artifactsDeleted: 0, nodesDeleted: 0, projectionsDeleted: 0 },
    ])
    expect(store.job(work?.job.id ?? '')).toMatchObject({ stage: 'canceled', claimed_by: null })
    expect(store.job(work?.job.id ?? '').completed_at).toBeGreaterThanOrEqual(before)
    const [commit] = store.rows<{ status: string; expires_at: number }>('SELECT * FROM staged_commits')
    expect(commit?.status).toBe('canceled')
    expect(commit?.expires_at).toBeGreaterThanOrEqual(before + 3 * DAY_MS)
    expect(commit?.expires_at).toBeLessThan(Date.now() + 3 * DAY_MS + 1)
  })

  it('shows a lease only while the deletion runs, even if the deletion fails', async () => {
    const [first = ''] = await published({ 'a.md': 'one' })
    const seen: unknown[] = []
    const { follow } = store.indexes
    store.indexes.follow = async (...args) => {
      seen.push(...store.context.leases.listBySpace(space.key).map((lease) => ({ ...lease })))
      await follow.apply(store.indexes, args)
      throw new Error('the index is gone')
    }
    await expect(remove([first])).rejects.toThrow('the index is gone')
    expect(seen).toMatchObject([
      {
        ...{ type: 'delete', targetType: 'document', targetId: first, targetVersion: 1, sessionId: first },
        virtualPath: `/knowledge/documents/${first}`,
      },
    ])
    expect(store.context.leases.listBySpace(space.key)).toEqual([])
  })

  it('fails for other tenants and for callers who may not read the document', async () => {
    const [first = ''] = await published({ 'a.md': 'one' })
    await expect(remove([first], BOB)).rejects.toMatchObject({ code: 'not-found' })
    hide(first)
    expect((await remove([first])).items).toMatchObject([{ status: 'not_found' }])
    expect(existsSync(objectOf(first))).toBe(true)
    expect((await remove([first], EVE)).items).toMatchObject([{ status: 'deleted' }])
  })

  it('stores its reply with the idempotency key, with objectDeleted false for each document', async () => {
    const [first = ''] = await published({ 'a.md': 'one' })
    const answers: unknown[] = []
    function* answered(answer: unknown): Write<void> {
      // A program may run more than once.
      answers[0] = answer
      yield* sql.run("INSERT INTO revoked_tokens (jti, expires_at) VALUES ('answered', 1)")
    }
    const report = await remove([first], { ...ADA, recordAnswer: answered })
    expect(store.rows('SELECT jti FROM revoked_tokens')).toEqual([{ jti: 'answered' }])
    expect(answers).toEqual([{ ...report, items: report.items.map((item) => ({ ...item, objectDeleted: false })) }])
    expect(report.items).toMatchObject([{ objectDeleted: true }])
  })
})

describe('compiling documents again', () => {
  const again = (which: { all: true } | { documentIds: string[] }, caller = ADA) =>
    reindexDocuments(store.context, caller, space.id, which)

  it('creates a job for the next version of each document, with its commit', async () => {
    const [first = ''] = await published({ 'a.md': 'one' })
    store.wokenSpaces.length = 0
    const report = await again({ documentIds: [first, NOWHERE] })
    const [job] = store.rows<{ id: string }>('SELECT * FROM jobs WHERE completed_at IS NULL')
    expect(report).toEqual({
      bulkJobId: expect.any(String),
      total: 2,
      items: [
        {
          // The document still shows metadata of the published version.
          asset: { ...store.db.now(getDocument(ADA, space.id, first)), metadata: { title: 'a.md' } },
          compilationJob: { id: job?.id, stage: 'queued' },
          ...{ status: 'queued', statusUrl: `/jobs/${job?.id}` },
        },
        { documentId: NOWHERE, status: 'not_found' },
      ],
    })
    expect(job).toMatchObject({ version: 2, stage: 'queued' })
    expect(
      store.rows('SELECT status, document_id, operation_type FROM staged_commits WHERE job_id = ?', job?.id ?? ''),
    ).toEqual([{ status: 'metadata-prepared', document_id: first, operation_type: 'bulk-reindex' }])
    expect(store.rows('SELECT document_id, job_id, outcome FROM bulk_items ORDER BY place')).toEqual([
      { document_id: first, job_id: job?.id, outcome: null },
      { document_id: NOWHERE, job_id: null, outcome: 'failed' },
    ])
    expect(store.rows('SELECT id, type FROM bulk_jobs')).toEqual([{ id: report.bulkJobId, type: 'document_reindex' }])
    expect(store.wokenSpaces.length).toBeGreaterThan(0)
  })

  it('keeps an open job, and creates a new job when the last one has ended', async () => {
    const [accepted] = await store.upload(space, { 'a.md': 'one' })
    const id = accepted?.asset.id ?? ''
    expect((await again({ documentIds: [id] })).items).toMatchObject([
      { status: 'queued', compilationJob: { id: accepted?.compilationJob.id } },
    ])
    store.run("UPDATE jobs SET completed_at = 1, stage = 'failed'")
    store.run("UPDATE documents SET parser_status = 'failed', error = 'it is empty', error_code = 'empty'")
    await again({ documentIds: [id] })
    expect(store.rows('SELECT stage FROM jobs ORDER BY key')).toEqual([{ stage: 'failed' }, { stage: 'queued' }])
    expect(one('SELECT parser_status, error, error_code FROM documents')).toEqual({
      ...{ parser_status: 'pending', error: null, error_code: null },
    })
  })

  it('includes all documents of the space that the caller may read', async () => {
    const ids = await published({ 'a.md': 'one', 'b.md': 'two', 'c.md': 'three' })
    await published({ 'd.md': 'four' }, store.createSpace())
    hide(ids[1] ?? '')
    store.run('UPDATE documents SET deleted_at = 1 WHERE id = ?', ids[2] ?? '')
    const named = async (caller: typeof ADA) =>
      (await again({ all: true }, caller)).items.map((item) => (item.status === 'queued' ? item.asset.id : item.status))
    expect(await named(ADA)).toEqual([ids[0]])
    expect(await named(EVE)).toEqual([ids[0], ids[1]])
    await expect(named(BOB)).rejects.toMatchObject({ code: 'not-found' })
  })

  it('fails without creating jobs when old and new passages together exceed the quota', async () => {
    const ids = await published({ 'a.md': passages('one', 'two'), 'b.md': passages('three', 'four') })
    store.context.options.quotas = { maxNodeCount: 6 }
    await expect(again({ all: true })).rejects.toMatchObject({ code: 'reindex-over-quota' })
    expect(store.rows('SELECT 1 FROM jobs WHERE completed_at IS NULL')).toEqual([])
    expect((await again({ documentIds: [ids[0] ?? '', NOWHERE] })).items).toMatchObject([{ status: 'queued' }, {}])
  })
})

describe('checking files before an upload', () => {
  const check = async (items: Record<string, string>, more: { sourceId?: string; caller?: typeof ADA } = {}) => {
    const body = { items: Object.entries(items).map(([filename, text]) => ({ filename, sha256: sha256(text) })) }
    const { sourceId, caller = ADA } = more
    const checked = await checkDocuments(
      store.context,
      caller,
      space.id,
      sourceId === undefined ? body : { ...body, sourceId },
    )
    return checked.items
  }

  it('reports new, changed and unchanged files in the order of the request', async () => {
    const [first = '', second = ''] = await published({ 'a.md': 'one', 'b.md': 'two' })
    expect(await check({ 'b.md': 'two!', 'a.md': 'one', 'c.md': 'three' })).toEqual([
      { filename: 'b.md', status: 'changed', documentId: second },
      { filename: 'a.md', status: 'unchanged', documentId: first, parserStatus: 'parsed' },
      { filename: 'c.md', status: 'new' },
    ])
  })

  it('reports a document as changed when its stored bytes are missing or truncated, so that an upload repairs it', async () => {
    const [first = '', second = ''] = await published({ 'a.md': 'one', 'b.md': 'two' })
    rmSync(objectOf(first))
    truncateSync(objectOf(second), 1)
    expect((await check({ 'a.md': 'one', 'b.md': 'two' })).map(({ status }) => status)).toEqual(['changed', 'changed'])
  })

  it('reports a file as failed with the reason when its last job failed or was canceled', async () => {
    const [accepted] = await store.upload(space, { 'a.md': 'one' })
    const documentId = accepted?.asset.id
    const state = async () => (await check({ 'a.md': 'one' }))[0]
    expect(await state()).toEqual({ filename: 'a.md', status: 'unchanged', documentId, parserStatus: 'pending' })
    store.run("UPDATE jobs SET stage = 'canceled', completed_at = 1")
    expect(await state()).toMatchObject({ status: 'failed' })
    store.run("UPDATE jobs SET stage = 'failed'")
    store.run("UPDATE documents SET parser_status = 'failed', error = 'it is empty'")
    expect(await state()).toEqual({
      ...{ filename: 'a.md', status: 'failed', documentId, parserStatus: 'failed', error: 'it is empty' },
    })
    // Other bytes get no report of the failure.
    expect((await check({ 'a.md': 'more' }))[0]).toEqual({ filename: 'a.md', status: 'changed', documentId })
  })

  it('covers the documents of one source, or documents without a source', async () => {
    const [first = ''] = await published({ 'a.md': 'one' })
    hide(first)
    store.run(
      `INSERT INTO sources (id, tenant, space_key, name, type, uri, status, permission_scope, metadata, version, created_at, updated_at)
       VALUES (?, ?, ?, 's', 'upload', 'upload:s', 'active', '["eve"]', '{}', 1, 1, 1)`,
      ...[SECRET, ADA.tenant, space.key],
    )
    expect(await check({ 'a.md': 'one' })).toEqual([{ filename: 'a.md', status: 'new' }])
    expect(await check({ 'a.md': 'one' }, { sourceId: SECRET, caller: EVE })).toMatchObject([{ status: 'unchanged' }])
    await expect(check({ 'a.md': 'one' }, { sourceId: SECRET })).rejects.toMatchObject({ code: 'not-found' })
    await expect(check({ 'a.md': 'one' }, { caller: BOB })).rejects.toMatchObject({ code: 'not-found' })
  })

  it('covers every file of a long request', async () => {
    const files = Object.fromEntries(Array.from({ length: 70 }, (_, place) => [`${place}.md`, `text ${place}`]))
    await store.upload(space, files)
    const items = await check({ ...files, 'z.md': 'new' })
    expect(items.map(({ filename }) => filename)).toEqual([...Object.keys(files), 'z.md'])
    expect(items.map(({ status }) => status)).toEqual([...Array(70).fill('unchanged'), 'new'])
  })

  it('finds a file by the normalized form of its name', async () => {
    await store.upload(space, { './folder//a.md': 'one' })
    expect(await check({ './folder//a.md': 'one' })).toMatchObject([
      { filename: './folder//a.md', status: 'unchanged' },
    ])
  })
})

describe('listing documents', () => {
  it('returns pages in the order of ids, with at most a hundred documents', async () => {
    await store.upload(
      space,
      Object.fromEntries(Array.from({ length: 103 }, (_, place) => [`${place}.md`, `${place}`])),
    )
    await store.upload(store.createSpace(), { 'a.md': 'of another space' })
    const page = (limit: number, cursor?: string, caller = ADA) =>
      store.db.now(listDocuments(caller, space.id, { limit, ...(cursor === undefined ? {} : { cursor }) }))
    const first = page(500)
    expect([first.items.length, first.nextCursor]).toEqual([100, first.items.at(-1)?.id])
    expect(page(500, first.nextCursor).items).toHaveLength(3)
    expect(page(2, first.items[0]?.id).items.map(({ id }) => id)).toEqual([first.items[1]?.id, first.items[2]?.id])
    expect(page(3, first.nextCursor).nextCursor).toBeUndefined()
    expect(() => page(1, undefined, BOB)).toThrow(expect.objectContaining({ code: 'not-found' }))
  })
})
