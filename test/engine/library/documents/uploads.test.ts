import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ADA, BOB, engineOptions, ingest, startEngine, type TestEngine, uploadOne } from '../../../helpers/engine.js'

const LIMITS = { ...engineOptions('').limits, uploadBytes: 1000, bulkFiles: 3, bulkBytes: 2500 }

let test: TestEngine
let spaceId: string

beforeEach(async () => {
  test = await startEngine({ limits: LIMITS })
  spaceId = (await test.engine.spaces.create(ADA, { name: 'N', slug: 'n' })).id
})
afterEach(() => test.end())

const text = (size: number) => '# Long\n\n'.padEnd(size, 'word ')
const file = (filename: string, content: string) => ({ filename, content: Readable.from([Buffer.from(content)]) })
const begin = (many = true) => test.engine.documents.upload(ADA, spaceId, { many })
const names = async () =>
  (await test.engine.documents.list(ADA, spaceId, { limit: 10 })).items.map(({ filename }) => filename)

/** Files of the object store, including temporary ones. */
function stored(): number {
  const entries = readdirSync(join(test.dataDir, 'objects'), { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).length
}

describe('an upload', () => {
  it('accepts files up to the limits per file and per upload, and rejects the rest', async () => {
    const upload = await begin()
    await upload.add(file('a.md', text(1000)))
    await expect(upload.add(file('b.md', text(1001)))).rejects.toMatchObject({ code: 'upload-too-large' })
    await upload.add(file('c.md', text(1000)))
    await expect(upload.add(file('d.md', text(501)))).rejects.toMatchObject({ code: 'upload-too-large' })
    await upload.add(file('e.md', text(500)))
    await expect(upload.add(file('f.md', ''))).rejects.toMatchObject({ code: 'upload-too-large' })
    const accepted = await upload.commit({})
    expect(accepted.map(({ asset }) => [asset.filename, asset.sizeBytes])).toEqual([
      ...[
        ['a.md', 1000],
        ['c.md', 1000],
        ['e.md', 500],
      ],
    ])
    expect(accepted.map(({ statusUrl, compilationJob }) => statusUrl === `/jobs/${compilationJob.id}`)).toEqual([
      ...[true, true, true],
    ])
  })

  it('rejects a second file in single mode', async () => {
    const upload = await begin(false)
    await upload.add(file('a.md', text(100)))
    await expect(upload.add(file('b.md', text(100)))).rejects.toMatchObject({ code: 'invalid-request' })
  })

  it('fails when it has no file', async () => {
    await expect((await begin()).commit({})).rejects.toMatchObject({ code: 'invalid-request' })
  })

  it('fails for a space of another tenant and for an unknown source, and leaves nothing', async () => {
    await expect(test.engine.documents.upload(BOB, spaceId, { many: true })).rejects.toMatchObject({
      code: 'not-found',
    })
    const before = stored()
    const upload = await begin()
    await upload.add(file('a.md', text(100)))
    const sourceId = '018f22aa-0000-7000-8000-000000000000'
    await expect(upload.commit({ sourceId })).rejects.toMatchObject({ code: 'not-found' })
    await upload.abort()
    expect(stored()).toBe(before)
    expect(await names()).toEqual([])
  })

  it('leaves no file and no document after an abort, not even of files that arrive later', async () => {
    const before = stored()
    const upload = await begin()
    await upload.add(file('a.md', text(100)))
    await upload.abort()
    await upload.add(file('b.md', text(200)))
    expect(stored()).toBe(before)
    expect(await names()).toEqual([])
  })

  it('stores bytes with two names once, and one name written in two ways as one document', async () => {
    const accepted = await ingest(test.engine, ADA, spaceId, { 'a.md': text(300), 'b.md': text(300) })
    expect(new Set(accepted.map(({ asset }) => asset.objectKey)).size).toBe(1)
    const objects = stored()
    const [again] = await ingest(test.engine, ADA, spaceId, { './a.md': text(300) })
    expect(again?.asset.id).toBe(accepted[0]?.asset.id)
    expect(stored()).toBe(objects)
    expect(await names()).toEqual(['a.md', 'b.md'])
  })

  it('becomes a failed document when its job is canceled, and other documents stay unchanged', async () => {
    const [kept] = await ingest(test.engine, ADA, spaceId, { 'kept.md': text(200) })
    const { asset, compilationJob } = await uploadOne(test.engine, ADA, spaceId, { filename: 'a.md', text: text(300) })
    const canceled = await test.engine.jobs.cancel(ADA, compilationJob.id)
    expect(canceled).toMatchObject({ stage: 'canceled', documentAssetId: asset.id, completedAt: expect.any(Number) })
    await expect(test.engine.jobs.cancel(ADA, compilationJob.id)).rejects.toMatchObject({ code: 'already-terminal' })
    expect(await test.engine.documents.get(ADA, spaceId, asset.id)).toMatchObject({
      parserStatus: 'failed',
      metadata: { error: { code: 'canceled' } },
    })
    expect((await test.engine.documents.get(ADA, spaceId, String(kept?.asset.id))).parserStatus).toBe('parsed')
    await expect(test.engine.jobs.cancel(BOB, compilationJob.id)).rejects.toMatchObject({ code: 'not-found' })
  })
})

describe('a bulk job', () => {
  it('counts published, failed and open items, and completes with the last item', async () => {
    const accepted = await ingest(test.engine, ADA, spaceId, { 'a.md': text(200), 'empty.md': '' })
    const bulk = await test.engine.documents.bulkUpload(ADA, spaceId, accepted)
    expect(await test.engine.jobs.bulk(ADA, bulk.bulkJobId)).toMatchObject({
      ...{ status: 'completed', totalItems: 2, completedItems: 1, failedItems: 1 },
    })
    await expect(test.engine.jobs.bulk(BOB, bulk.bulkJobId)).rejects.toMatchObject({ code: 'not-found' })
    const ids = [...accepted.map(({ asset }) => asset.id), '018f22aa-0000-7000-8000-000000000000']
    const again = await test.engine.documents.reindex(ADA, spaceId, { documentIds: [...ids, ...ids] })
    expect(again.items.map(({ status }) => status)).toEqual(['queued', 'queued', 'not_found'])
    const read = () => test.engine.jobs.bulk(ADA, again.bulkJobId)
    expect(await read()).toMatchObject({ totalItems: 3 })
    await expect.poll(async () => (await read()).status).toBe('completed')
    expect(await read()).toMatchObject({ completedItems: 1, failedItems: 2 })
  })
})
