import { createHash } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ADA, ask, ingest, startEngine, type TestEngine, uploadOne } from '../../../helpers/engine.js'

let test: TestEngine
let spaceId: string

beforeEach(async () => {
  test = await startEngine()
  spaceId = (await test.engine.spaces.create(ADA, { name: 'N', slug: 'n' })).id
})
afterEach(() => test.end())

const TEXT = '# Lighthouse\n\nThe lighthouse of Westerheversand was built in 1908.\n'

const send = (filename: string, text: string) => uploadOne(test.engine, ADA, spaceId, { filename, text })

async function check(filename: string, text: string) {
  const sha256 = createHash('sha256').update(text).digest('hex')
  const { items } = await test.engine.documents.check(ADA, spaceId, { items: [{ filename, sha256 }] })
  return items[0]
}

describe('uploaded bytes that a space already has', () => {
  it('get a new job when the last job was canceled', async () => {
    const first = await send('lighthouse.md', TEXT)
    await test.engine.jobs.cancel(ADA, first.compilationJob.id)
    expect(await check('lighthouse.md', TEXT)).toMatchObject({ status: 'failed' })
    const second = await send('lighthouse.md', TEXT)
    expect(second.asset.id).toBe(first.asset.id)
    expect(second.asset).toMatchObject({ parserStatus: 'pending', metadata: {} })
    expect(second.compilationJob.id).not.toBe(first.compilationJob.id)
    expect(await test.engine.documents.settled(ADA, spaceId, second)).toMatchObject({ parserStatus: 'parsed' })
    expect((await ask(test.engine, ADA, spaceId, 'When was the lighthouse built?')).answer).toContain('1908')
    expect((await test.engine.jobs.get(ADA, first.compilationJob.id)).stage).toBe('canceled')
  })

  it('get a new job when the last job failed, and the new job reports its own result', async () => {
    const [first] = await ingest(test.engine, ADA, spaceId, { 'empty.md': '' })
    expect(await check('empty.md', '')).toMatchObject({ status: 'failed', error: 'empty.md is empty' })
    const second = await send('empty.md', '')
    expect(second.asset.id).toBe(first?.asset.id)
    expect(second.compilationJob.id).not.toBe(first?.compilationJob.id)
    await test.engine.documents.settled(ADA, spaceId, second)
    expect(await test.engine.jobs.get(ADA, second.compilationJob.id)).toMatchObject({
      stage: 'failed',
      error: 'empty.md is empty',
    })
    const commits = (await test.engine.spaces.status(ADA, spaceId)).failedCommits
    expect(commits.count).toBe(2)
  })

  it('keep an open job, and are not compiled again after publication', async () => {
    const first = await send('lighthouse.md', TEXT)
    const second = await send('lighthouse.md', TEXT)
    expect(second.compilationJob.id).toBe(first.compilationJob.id)
    await test.engine.documents.settled(ADA, spaceId, first)
    expect((await send('lighthouse.md', TEXT)).compilationJob).toMatchObject({
      id: first.compilationJob.id,
      stage: 'published',
    })
    expect(await check('lighthouse.md', TEXT)).toMatchObject({ status: 'unchanged', parserStatus: 'parsed' })
  })

  it('keep the published version readable while a canceled reindex starts again', async () => {
    const [first] = await ingest(test.engine, ADA, spaceId, { 'lighthouse.md': TEXT })
    const ids = [first?.asset.id ?? '']
    const { items } = await test.engine.documents.reindex(ADA, spaceId, { documentIds: ids })
    const [queued] = items
    if (queued?.status !== 'queued') throw new Error('no reindex was queued')
    await test.engine.jobs.cancel(ADA, queued.compilationJob.id)
    const again = await send('lighthouse.md', TEXT)
    expect(again.asset).toMatchObject({ parserStatus: 'parsed', version: 1 })
    expect(await test.engine.documents.settled(ADA, spaceId, again)).toMatchObject({
      parserStatus: 'parsed',
      version: 2,
    })
  })
})
