import { Readable } from 'node:stream'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { AcceptedDocument } from '../../../../src/contract/gateway/documents.js'
import type { Caller } from '../../../../src/engine/base/caller.js'
import { ADA, startEngine, type TestEngine } from '../../../helpers/engine.js'
import { page, type Site, startSite } from '../../../helpers/site.js'
import { until } from '../../../helpers/until.js'

const CAROL = { ...ADA, subject: 'carol' }
const GONE = { code: 'not-found' }
const PAGE = { limit: 50 }

let running: TestEngine
let site: Site
let spaceId: string
let now: number
let sourceId: string
let secret: AcceptedDocument

beforeEach(async () => {
  now = Date.now()
  const sources = { egressAllow: ['127.0.0.2'], tickMs: 50 }
  running = await startEngine({ sources, retention: { intervalMs: 50, batchRows: 200 }, now: () => now })
  site = await startSite({ '/': page('Vault', 'The code of the vault is changed every ninety days.') })
  const { engine } = running
  spaceId = (await engine.spaces.create(ADA, { name: 'Notes', slug: 'notes' })).id
  const about = { name: 'Vault', type: 'web' as const, uri: `${site.url}/`, metadata: {} }
  sourceId = (await engine.sources.create(ADA, spaceId, { ...about, permissionScope: ['ada', 'grace'] })).id
  secret = await send(ADA, 'secret.md', 'The vault stands below the harbour.', sourceId)
})
afterEach(async () => {
  await site.end()
  await running.end()
})

async function send(caller: Caller, filename: string, text: string, into?: string): Promise<AcceptedDocument> {
  const { documents } = running.engine
  const upload = await documents.upload(caller, spaceId, { many: false })
  await upload.add({ filename, content: Readable.from([Buffer.from(text)]) })
  const [accepted] = await upload.commit({ sourceId: into }).catch(async (error: unknown) => {
    await upload.abort()
    throw error
  })
  await documents.settled(caller, spaceId, accepted!)
  return accepted!
}

test('every operation on a source fails with not-found for a subject outside its scope', async () => {
  const { sources } = running.engine
  const deeds = [
    () => sources.get(CAROL, spaceId, sourceId),
    () => sources.update(CAROL, spaceId, sourceId, { name: 'Mine', status: 'disabled' }),
    () => sources.delete(CAROL, spaceId, sourceId, { documents: 'cascade' }),
    () => sources.delete(CAROL, spaceId, sourceId, { documents: 'keep' }),
    () => sources.crawl(CAROL, spaceId, sourceId),
    () => sources.pages(CAROL, spaceId, sourceId),
    () => sources.files(CAROL, spaceId, sourceId, { maxKeys: 10 }),
    () => sources.importPages(CAROL, spaceId, sourceId, { pages: [] }),
    () => sources.importFiles(CAROL, spaceId, sourceId, { files: [] }),
    () => sources.test(CAROL, spaceId, sourceId),
    () => send(CAROL, 'secret.md', 'Replaced.', sourceId),
  ]
  for (const deed of deeds) await expect(deed()).rejects.toMatchObject(GONE)
  expect((await sources.list(CAROL, spaceId, PAGE)).items).toEqual([])
  expect(site.hits).toEqual([])
  expect(await sources.get(ADA, spaceId, sourceId)).toMatchObject({ name: 'Vault', status: 'active', version: 1 })
  expect((await sources.crawl(ADA, spaceId, sourceId)).pages).toHaveLength(1)
  expect((await sources.list({ ...ADA, subject: 'grace' }, spaceId, PAGE)).items).toHaveLength(1)
})

test('documents of a source cannot be deleted, recompiled or replaced by a subject outside its scope', async () => {
  const { documents } = running.engine
  const id = secret.asset.id
  expect((await documents.delete(CAROL, spaceId, [id])).items).toMatchObject([{ documentId: id, status: 'not_found' }])
  expect((await documents.reindex(CAROL, spaceId, { documentIds: [id] })).items).toEqual([
    { documentId: id, status: 'not_found' },
  ])
  expect((await documents.reindex(CAROL, spaceId, { all: true })).items).toEqual([])
  const item = { filename: 'secret.md', sha256: secret.asset.sha256 }
  await expect(documents.check(CAROL, spaceId, { sourceId, items: [item] })).rejects.toMatchObject(GONE)
  // The same name without a source is another document.
  const own = await send(CAROL, 'secret.md', 'The vault stands below the harbour.')
  expect(own.asset.id).not.toBe(id)
  expect((await documents.list(CAROL, spaceId, PAGE)).items.map((one) => one.id)).toEqual([own.asset.id])
  expect(await documents.get(ADA, spaceId, id)).toMatchObject({ parserStatus: 'parsed', version: 1 })
})

test('jobs, bulk jobs and commits of a source stay hidden from a subject outside its scope, also after its deletion', async () => {
  const { documents, jobs, integrity, sources } = running.engine
  const open = await send(ADA, 'open.md', 'The library opens at noon.')
  const mixed = await documents.bulkUpload(ADA, spaceId, [secret, open])
  const hidden = await documents.bulkUpload(ADA, spaceId, [secret])
  const job = secret.compilationJob.id
  const look = async () => {
    for (const deed of [jobs.get, jobs.cancel]) await expect(deed(CAROL, job)).rejects.toMatchObject(GONE)
    await expect(jobs.bulk(CAROL, hidden.bulkJobId)).rejects.toMatchObject(GONE)
    expect(await jobs.bulk(CAROL, mixed.bulkJobId)).toMatchObject({ totalItems: 1, completedItems: 1 })
    const commits = await integrity.commits(CAROL, spaceId, PAGE)
    expect(commits.items.map((one) => one.documentAssetId)).toEqual([open.asset.id])
  }
  await look()
  expect((await jobs.get(ADA, job)).stage).toBe('published')
  expect((await jobs.bulk(ADA, mixed.bulkJobId)).totalItems).toBe(2)
  await sources.delete(ADA, spaceId, sourceId, { documents: 'cascade' })
  await look()
})

test('a source stays hidden from its creator if its scope does not contain the creator', async () => {
  const { sources } = running.engine
  const about = { name: 'Other', type: 'upload' as const, uri: 'upload:other', metadata: {} }
  const another = await sources.create(ADA, spaceId, { ...about, permissionScope: ['grace'] })
  await expect(sources.get(ADA, spaceId, another.id)).rejects.toMatchObject({ code: 'not-found' })
})

test('documents kept after the deletion of their source stay restricted to its readers, also after a restart', async () => {
  const { sources } = running.engine
  const about = { name: 'Other', type: 'upload' as const, uri: 'upload:other', metadata: {} }
  const open = await sources.create(ADA, spaceId, { ...about, permissionScope: ['ada', '*'] })
  const shared = await send(ADA, 'shared.md', 'The ferry leaves at noon.', open.id)
  for (const id of [sourceId, open.id]) await sources.delete(ADA, spaceId, id, { documents: 'keep' })
  const id = secret.asset.id
  const look = async () => {
    const { documents, fs } = running.engine
    for (const caller of [ADA, { ...ADA, subject: 'grace' }]) {
      const ids = (await documents.list(caller, spaceId, PAGE)).items.map((one) => [one.id, one.sourceId])
      expect(ids).toEqual([
        [id, undefined],
        [shared.asset.id, undefined],
      ])
    }
    expect((await documents.list(CAROL, spaceId, PAGE)).items.map((one) => one.id)).toEqual([shared.asset.id])
    await expect(documents.get(CAROL, spaceId, id)).rejects.toMatchObject(GONE)
    const folders = async (caller: Caller, path: string) =>
      (await fs.ls(caller, spaceId, { path, limit: 10 })).items.map(({ name, targetId }) => [name, targetId])
    expect(await folders(ADA, '/sources')).toEqual([
      [`kept-${sourceId}`, undefined],
      ['uploads', undefined],
    ])
    expect(await folders(ADA, `/sources/kept-${sourceId}`)).toEqual([['secret.md', id]])
    expect(await folders(CAROL, '/sources')).toEqual([['uploads', undefined]])
    await expect(folders(CAROL, `/sources/kept-${sourceId}`)).rejects.toMatchObject(GONE)
  }
  await look()
  await running.reopen()
  await look()
  const { documents } = running.engine
  const own = await send(CAROL, 'secret.md', 'The vault is empty.')
  expect((await documents.list(ADA, spaceId, PAGE)).items.map((one) => one.id)).toContain(id)
  expect((await documents.delete(CAROL, spaceId, [id])).items).toMatchObject([{ documentId: id, status: 'not_found' }])
  await documents.delete(ADA, spaceId, [id])
  const left = (await documents.list(ADA, spaceId, PAGE)).items.map((one) => one.id)
  expect(left).toEqual([shared.asset.id, own.asset.id])
})

test('the schedule and the retention of the daemon apply to sources that only some subjects may read', async () => {
  const { sources, retention } = running.engine
  const syncPolicy = { everyHours: 1 }
  await sources.update(ADA, spaceId, sourceId, { metadata: { syncPolicy } })
  now += 3_700_000
  const synced = async () => (await sources.get(ADA, spaceId, sourceId)).metadata.sync
  await until(async () => (await synced()) !== undefined)
  expect(await synced()).toMatchObject({ trigger: 'schedule', imported: 1, failed: 0 })
  await sources.update(ADA, spaceId, sourceId, { status: 'disabled' })
  await retention.setSpace(ADA, spaceId, { rawDocumentRetentionDays: 1 })
  now += 3 * 24 * 3_600_000
  await running.reopen() // A clock that jumps while the daemon runs is not trusted.
  await until(async () => (await running.engine.documents.list(ADA, spaceId, PAGE)).items.length === 0)
})

test('a chat application and its keys are visible to its owner only', async () => {
  const { apps } = running.engine.chat
  const app = await apps.create(ADA, { name: 'Desk', knowledgeSpaceIds: [spaceId] })
  const key = await apps.createKey(ADA, app.id)
  const deeds = [
    () => apps.get(CAROL, app.id),
    () => apps.listKeys(CAROL, app.id),
    () => apps.createKey(CAROL, app.id),
    () => apps.revokeKey(CAROL, app.id, key.id),
    () => apps.update(CAROL, app.id, { instructions: 'Tell all.' }),
    () => apps.delete(CAROL, app.id),
  ]
  for (const deed of deeds) await expect(deed()).rejects.toMatchObject(GONE)
  expect((await apps.list(CAROL)).items).toEqual([])
  expect((await apps.list(ADA)).items).toEqual([app])
  expect((await apps.listKeys(ADA, app.id)).items).toMatchObject([{ id: key.id, revokedAt: null }])
})
