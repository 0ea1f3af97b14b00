import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { KsError } from '../../../../src/contract/errors.js'
import { beginUpload } from '../../../../src/engine/library/documents/upload.js'
import { sql, type Write } from '../../../../src/engine/store/program.js'
import type { SpaceRow } from '../../../../src/engine/store/rows/spaces.js'
import { ADA, BOB } from '../../../helpers/engine.js'
import { openSmallStore, type SmallStore } from '../../../helpers/store.js'

let store: SmallStore
let space: SpaceRow
beforeEach(async () => {
  store = await openSmallStore()
  space = store.createSpace()
})
afterEach(() => store.end())

const SOURCE = '018f0000-0000-7000-8000-000000000001'
const LARGE = 'x'.repeat(40_000)
const file = (filename: string, text: string, more = {}) => ({
  ...{ filename, content: Readable.from([Buffer.from(text)]) },
  ...more,
})
const begin = (many = true, caller = ADA, answer?: (items: unknown) => unknown) =>
  beginUpload(store.context, caller, space.id, answer === undefined ? { many } : { many, answer })
const commits = () =>
  store.rows('SELECT status, error_code, document_id, job_id, source_id FROM staged_commits ORDER BY id')
const temporary = () => readdirSync(join(store.dataDir, 'objects', 'tmp'))

/** Object files of all tenants. */
function objects(): number {
  const entries = readdirSync(join(store.dataDir, 'objects'), { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile() && /^[0-9a-f]{64}$/.test(entry.name)).length
}

function source(id: string): void {
  store.run(
    `INSERT INTO sources (id, tenant, space_key, name, type, uri, status, permission_scope, metadata, version, created_at, updated_at)
     VALUES (?, ?, ?, ?, 'upload', 'upload:s', 'active', '[]', '{}', 1, 1, 1)`,
    ...[id, ADA.tenant, space.key, id],
  )
}

describe('an upload', () => {
  it('creates a document, a job and a commit for each file, and freezes the embedding profile of the space', async () => {
    expect(store.reload(space).frozen_at).toBeNull()
    const upload = await begin()
    await upload.add(file('notes/a.md', 'one', { metadata: { url: 'https://x.example' } }))
    await upload.add(file('b.bin', LARGE, { mimeType: 'text/plain' }))
    expect(store.rows('SELECT 1 FROM documents')).toEqual([])
    const accepted = await upload.commit({})
    const jobs = store.rows<{ id: string }>('SELECT id FROM jobs ORDER BY key')
    expect(accepted).toMatchObject([
      {
        asset: {
          ...{ knowledgeSpaceId: space.id, filename: 'notes/a.md', mimeType: 'text/markdown', sizeBytes: 3 },
          ...{ parserStatus: 'pending', metadata: { url: 'https://x.example' } },
        },
        compilationJob: { id: jobs[0]?.id, stage: 'queued' },
        statusUrl: `/jobs/${jobs[0]?.id}`,
      },
      { asset: { filename: 'b.bin', sizeBytes: 40_000, metadata: {} }, compilationJob: { id: jobs[1]?.id } },
    ])
    expect(commits()).toMatchObject(
      accepted.map(({ asset, compilationJob }) => ({
        ...{ status: 'metadata-prepared', error_code: null, document_id: asset.id, job_id: compilationJob.id },
      })),
    )
    expect([objects(), temporary()]).toEqual([2, []])
    expect(store.reload(space).frozen_at).toBeGreaterThan(0)
    const frozen = store.reload(space).frozen_at
    await store.upload(space, { 'c.md': 'three' })
    expect(store.reload(space).frozen_at).toBe(frozen)
    expect(store.wokenSpaces.length).toBeGreaterThan(0)
  })

  it('accepts one file in single mode, and up to the limit of files in bulk mode', async () => {
    const single = await begin(false)
    await single.add(file('a.md', 'one'))
    await expect(single.add(file('b.md', 'two'))).rejects.toMatchObject({ code: 'invalid-request' })
    store.context.options.limits = { ...store.context.options.limits, bulkFiles: 2 }
    const upload = await begin()
    await upload.add(file('a.md', 'one'))
    await upload.add(file('b.md', 'two'))
    await expect(upload.add(file('c.md', 'three'))).rejects.toMatchObject({ code: 'upload-too-large' })
    expect(await upload.commit({})).toHaveLength(2)
  })

  it('enforces the byte limits of one file and of all files', async () => {
    store.context.options.limits = { ...store.context.options.limits, uploadBytes: 6, bulkBytes: 10 }
    const upload = await begin()
    await expect(upload.add(file('a.md', '1234567'))).rejects.toMatchObject({ code: 'upload-too-large' })
    await upload.add(file('a.md', '123456'))
    await expect(upload.add(file('b.md', '12345'))).rejects.toMatchObject({ code: 'upload-too-large' })
    await upload.add(file('b.md', '1234'))
    await expect(upload.add(file('c.md', '1'))).rejects.toMatchObject({ code: 'upload-too-large' })
    expect((await upload.commit({})).map(({ asset }) => asset.sizeBytes)).toEqual([6, 4])
  })

  it('fails when it is empty, or for an unknown space or source', async () => {
    await expect((await begin()).commit({})).rejects.toMatchObject({ code: 'invalid-request' })
    await expect(begin(true, BOB)).rejects.toMatchObject({ code: 'not-found' })
    const upload = await begin()
    await upload.add(file('a.md', 'one'))
    await expect(upload.commit({ sourceId: '018f0000-0000-7000-8000-000000000009' })).rejects.toMatchObject({
      code: 'not-found',
    })
    source(SOURCE)
    expect(await upload.commit({ sourceId: SOURCE })).toMatchObject([{ asset: { sourceId: SOURCE } }])
    expect(commits()).toMatchObject([{ source_id: SOURCE }])
  })

  it('leaves nothing after an abort, not even of a file that arrives later', async () => {
    const upload = await begin()
    await upload.add(file('a.md', LARGE))
    expect(temporary()).toHaveLength(1)
    await upload.abort()
    await upload.add(file('b.md', LARGE))
    expect([temporary(), objects(), commits()]).toEqual([[], 0, []])
  })

  it('yields to queries before each file', async () => {
    let ways = 0
    store.betweenSteps = () => void ways++
    const upload = await begin()
    for (const name of ['a', 'b', 'c']) await upload.add(file(`${name}.md`, name))
    expect(ways).toBeGreaterThanOrEqual(3)
  })

  it('stores its reply with the idempotency key if the caller asks for it', async () => {
    const answers: unknown[] = []
    const caller = {
      ...ADA,
      *recordAnswer(answer: unknown): Write<void> {
        // A program may run more than once.
        answers[0] = answer
        yield* sql.run("INSERT INTO revoked_tokens (jti, expires_at) VALUES ('answered', 1)")
      },
    }
    const plain = await begin(true, caller)
    await plain.add(file('a.md', 'one'))
    await plain.commit({})
    expect(answers).toEqual([])
    const upload = await begin(true, caller, (items) => ({ said: items }))
    await upload.add(file('b.md', 'two'))
    const accepted = await upload.commit({})
    expect(answers).toEqual([{ said: accepted }])
    expect(store.rows('SELECT jti FROM revoked_tokens')).toEqual([{ jti: 'answered' }])
  })
})

describe('an upload of existing bytes', () => {
  it('creates no second document under the same name and cancels its commit', async () => {
    const [first] = await store.upload(space, { 'a.md': 'one' })
    const [second] = await store.upload(space, { 'a.md': 'one' })
    expect(second).toEqual(first)
    expect(commits()).toMatchObject([
      { status: 'metadata-prepared' },
      { status: 'canceled', document_id: first?.asset.id, job_id: null },
    ])
    expect(store.rows('SELECT count(*) n FROM jobs')).toEqual([{ n: 1 }])
  })

  it.each(['failed', 'canceled'])('creates a new job for its document if the last one is %s', async (stage) => {
    const [first] = await store.upload(space, { 'a.md': 'one' })
    store.run('UPDATE jobs SET stage = ?, completed_at = 1', stage)
    store.run("UPDATE documents SET parser_status = 'failed', error = 'bad', error_code = 'malformed'")
    const [second] = await store.upload(space, { 'a.md': 'one' })
    expect(second?.asset).toMatchObject({ id: first?.asset.id, parserStatus: 'pending', metadata: {} })
    expect(second?.compilationJob.id).not.toBe(first?.compilationJob.id)
    expect(store.rows('SELECT count(*) n FROM documents')).toEqual([{ n: 1 }])
  })

  it('creates a document when name or source differ, and keeps it when other bytes come under the name', async () => {
    source(SOURCE)
    const ids = new Set<string | undefined>()
    for (const [name, text, sourceId] of [
      ['a.md', 'one', undefined],
      ['b.md', 'one', undefined],
      ['a.md', 'one', SOURCE],
      ['a.md', 'two', undefined],
      ['a.md', 'one', undefined],
    ] as const) {
      const upload = await begin()
      await upload.add(file(name, text))
      ids.add((await upload.commit({ sourceId }))[0]?.asset.id)
    }
    expect(ids.size).toBe(3)
    // the bytes of the edit that was taken back are removed
    expect(objects()).toBe(1)
  })
})

describe('a failed upload', () => {
  it.each([
    ['with an error code', new KsError('quota-exceeded', 'full'), 'quota-exceeded'],
    ['without an error code', new Error('EIO'), 'internal'],
  ])('leaves nothing but a commit with the reason, when it fails %s', async (_, error, code) => {
    const upload = await begin()
    await upload.add(file('a.md', 'one'))
    await upload.add(file('b.md', LARGE))
    const { publish } = store.context.objects
    store.context.objects.publish = async (entries) => {
      await publish.call(store.context.objects, entries)
      throw error
    }
    await expect(upload.commit({})).rejects.toBe(error)
    expect(commits()).toMatchObject(Array(2).fill({ status: 'failed-terminal', error_code: code, document_id: null }))
    expect([objects(), temporary(), store.rows('SELECT 1 FROM objects')]).toEqual([0, [], []])
    expect(store.reload(space).frozen_at).toBeNull()
  })

  it('keeps bytes that a document already had', async () => {
    await store.upload(space, { 'a.md': 'one' })
    const upload = await begin()
    await upload.add(file('b.md', 'one'))
    store.run('UPDATE spaces SET deleted_at = 1')
    await expect(upload.commit({})).rejects.toMatchObject({ code: 'not-found' })
    expect(objects()).toBe(1)
  })

  it('throws the original error and logs the failed cleanup', async () => {
    const upload = await begin()
    await upload.add(file('a.md', 'one'))
    const error = new Error('EIO')
    store.context.objects.publish = async () => {
      throw error
    }
    const { discard } = store.context.objects
    let calls = 0
    store.context.objects.discard = async (id) => {
      if (calls++ > 0) throw new Error('EROFS')
      await discard.call(store.context.objects, id)
    }
    await expect(upload.commit({})).rejects.toBe(error)
    expect(store.logged.filter(({ level }) => level === 'warn')).toMatchObject([{ fields: { error: 'Error: EROFS' } }])
  })

  it('creates no commit when the disk is full', async () => {
    store.context.options.diskReserve = { isFull: true, noteError: () => undefined } as never
    const upload = await begin()
    await upload.add(file('a.md', LARGE))
    await expect(upload.commit({})).rejects.toMatchObject({ code: 'storage-full' })
    expect([commits(), temporary()]).toEqual([[], []])
  })

  it('exceeded the quota by its new bytes alone: existing bytes do not count', async () => {
    await store.upload(space, { 'a.md': '12345' })
    store.context.options.quotas = { maxRawDocumentBytes: 8 }
    expect(await store.upload(space, { 'a.md': '12345' })).toHaveLength(1)
    const before = commits()
    await expect(store.upload(space, { 'b.md': '1234' })).rejects.toMatchObject({ code: 'quota-exceeded' })
    // Nothing was written yet.
    expect(commits()).toEqual(before)
    expect(await store.upload(space, { 'b.md': '123' })).toHaveLength(1)
    await expect(store.upload(space, { 'c.md': '1' })).rejects.toMatchObject({ code: 'quota-exceeded' })
    expect(await store.upload(space, { 'b.md': '123' })).toHaveLength(1)
    // Several uploads may have passed the first check at once.
    store.context.options.quotas = { maxRawDocumentBytes: 10 }
    const uploads = [await begin(), await begin()]
    for (const [place, upload] of uploads.entries()) await upload.add(file(`${place}.md`, `${place}x`))
    const outcomes = await Promise.allSettled(uploads.map((upload) => upload.commit({})))
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  })

  it('leaves nothing when its source is deleted during the upload', async () => {
    source(SOURCE)
    const upload = await begin()
    await upload.add(file('a.md', 'one'))
    const { publish } = store.context.objects
    store.context.objects.publish = async (entries) => {
      await publish.call(store.context.objects, entries)
      store.run('DELETE FROM sources')
    }
    await expect(upload.commit({ sourceId: SOURCE })).rejects.toMatchObject({ code: 'not-found' })
    expect([store.rows('SELECT 1 FROM documents'), objects()]).toEqual([[], 0])
  })

  it('changes nothing when the database is damaged', async () => {
    const upload = await begin()
    await upload.add(file('a.md', 'one'))
    Object.defineProperty(store.db, 'damage', { value: new KsError('data-damaged', 'pages are damaged') })
    await expect(upload.commit({})).rejects.toMatchObject({ code: 'data-damaged' })
    expect(store.rows('SELECT 1 FROM staged_commits')).toEqual([])
  })
})
