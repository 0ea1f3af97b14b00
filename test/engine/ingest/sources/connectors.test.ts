import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { ADA, BOB, startEngine, type TestEngine } from '../../../helpers/engine.js'
import { findMissingGit, startGit } from '../../../helpers/places/git.js'
import { startNotion } from '../../../helpers/places/notion.js'
import { listOffered, type MissingReason, type RemoteServer, type SourceItem } from '../../../helpers/places/place.js'
import { startS3 } from '../../../helpers/places/s3.js'
import { findMissingWebdav, startWebdav } from '../../../helpers/places/webdav.js'
import { until } from '../../../helpers/until.js'

/** The common behaviour of all connectors. */

const PLACES: [name: string, start: () => Promise<RemoteServer>, missing: MissingReason][] = [
  ['s3', startS3, undefined],
  ['webdav', startWebdav, findMissingWebdav()],
  ['git', startGit, findMissingGit()],
  ['notion', startNotion, undefined],
]

let home: TestEngine
let spaceId = ''
let now = Date.now()
beforeAll(async () => {
  home = await startEngine({ sources: { egressAllow: ['127.0.0.2'], tickMs: 20 }, now: () => now })
  spaceId = (await home.engine.spaces.create(ADA, { name: 'Remote', slug: 'remote' })).id
})
afterAll(() => home.end())
const sources = () => home.engine.sources

for (const [name, start, missing] of PLACES) {
  if (missing !== undefined) console.info(`${name}: skipped, ${missing}`)
  describe.skipIf(missing !== undefined)(`a source of ${name}`, () => {
    let place: RemoteServer
    let id = ''
    beforeEach(async () => {
      place = await start()
      id = await add(place.metadata)
    })
    afterEach(() => place.end())

    const add = async (metadata: Record<string, unknown>) => {
      const { type, uri } = place
      return (await sources().create(ADA, spaceId, { name, type, uri, permissionScope: [], metadata })).id
    }
    const list = () => listOffered(sources(), ADA, { spaceId, sourceId: id, type: place.type })
    const found = async (title: string) => {
      const items = await list()
      const item = items.find((one) => one.name === title || one.name === title.replace(/\.md$/, ''))
      if (item === undefined) throw new Error(`${title} is not offered: ${JSON.stringify(items)}`)
      return item
    }
    const take = (items: SourceItem[]) => {
      if (place.type === 'connector') {
        const pages = items.map(({ id: pageId, type, workspaceId = '', lastEditedTime }) => {
          return { pageId, workspaceId, type, lastEditedTime }
        })
        return sources().importPages(ADA, spaceId, id, { pages })
      }
      const files = items.map(({ id: fileId, name: title, bucket }) => ({ id: fileId, name: title, bucket }))
      return sources().importFiles(ADA, spaceId, id, { files })
    }
    const documents = async () => {
      const { items } = await home.engine.documents.list(ADA, spaceId, { limit: 100 })
      return items.filter(({ sourceId }) => sourceId === id)
    }
    const state = async () => (await sources().get(ADA, spaceId, id)).metadata

    test('passes its test, and fails with wrong credentials', async () => {
      expect(await sources().test(ADA, spaceId, id)).toEqual({ valid: true })
      const wrong = await add(place.refusedMetadata)
      expect(await sources().test(ADA, spaceId, wrong)).toMatchObject({
        valid: false,
        error: expect.stringMatching(/^the credentials are not accepted \(answered 40[13]\)$/),
      })
      id = wrong
      await expect(list()).rejects.toMatchObject({ code: 'connector-failed' })
      await expect(take([{ id: 'notes/x', name: 'x', type: 'page', workspaceId: 'w' }])).rejects.toMatchObject({
        code: 'connector-failed',
      })
      expect((await sources().get(ADA, spaceId, wrong)).status).toBe('error')
    })

    test('lists its items and makes one document of each requested item', async () => {
      await place.put('tides.md', '# Tides\n\nThe moon pulls the sea.')
      await place.put('winds.md', '# Winds\n\nThe trade winds blow west.')
      expect((await list()).map((item) => item.name.replace('.md', '')).sort()).toEqual(['tides', 'winds'])
      const item = await found('tides.md')
      const first = await take([item, item])
      expect(first).toMatchObject({ failed: [], skipped: [] })
      expect(first.documents).toHaveLength(1)
      const [document] = await documents()
      expect(first.documents).toEqual([{ documentAssetId: document?.id, filename: document?.filename }])
      expect(document?.parserStatus).toBe('parsed')
      const second = await take([item])
      if (place.type === 'connector') expect(second).toEqual({ documents: [], failed: [], skipped: [item.id] })
      else expect(second).toEqual(first)
      expect(await documents()).toHaveLength(1)
      const metadata = await state()
      if (place.type === 'connector')
        expect(metadata.imported).toEqual({
          [item.id]: { documentAssetId: document?.id, lastEditedTime: item.lastEditedTime },
        })
      else expect(metadata.importedFiles).toMatchObject({ [item.id]: { name: 'tides.md' } })
    })

    test('replaces the files of documents of changed items, and reports items that do not exist', async () => {
      await place.put('tides.md', '# Tides\n\nThe moon pulls the sea.')
      const item = await found('tides.md')
      const first = await take([item])
      await place.put('tides.md', '# Tides\n\nThe sun pulls the sea as well.')
      const second = await take([
        await found('tides.md'),
        { ...item, id: place.type === 'connector' ? 'f'.repeat(32) : `${item.id}x` },
      ])
      expect(second.documents).toHaveLength(1)
      expect(second.documents[0]?.filename).toBe(first.documents[0]?.filename)
      expect(second.documents[0]?.documentAssetId).toBe(first.documents[0]?.documentAssetId)
      expect(second.failed).toEqual([{ filename: expect.any(String), error: 'does not exist' }])
      expect((await documents()).map((one) => one.id)).toEqual([second.documents[0]?.documentAssetId])
    })

    test('reads only imported items by its schedule, and replaces only documents of changed items', async () => {
      await place.put('tides.md', '# Tides\n\nThe moon pulls the sea.')
      await place.put('winds.md', '# Winds\n\nThe trade winds blow west.')
      await take([await found('tides.md'), await found('winds.md')])
      await place.put('new.md', '# New\n\nNobody asked for this.')
      await place.put('winds.md', '# Winds\n\nThe monsoon turns with the season.')
      const before = await documents()
      const { metadata } = await sources().get(ADA, spaceId, id)
      await sources().update(ADA, spaceId, id, { metadata: { ...metadata, syncPolicy: { everyHours: 1 } } })
      now += 3_600_000 + 1000
      await until(async () => ((await state()).sync as { trigger: string }).trigger === 'schedule')
      expect((await state()).sync).toMatchObject({
        total: 2,
        completed: 2,
        failed: 0,
        imported: 0,
        replaced: 1,
        skipped: 1,
      })
      const after = await documents()
      expect(after).toHaveLength(2)
      expect(
        after.filter((one) => before.some(({ id, version }) => id === one.id && version === one.version)),
      ).toHaveLength(1)
      expect(after.map(({ id }) => id).sort()).toEqual(before.map(({ id }) => id).sort())
      await place.remove('tides.md')
      now += 3_600_000 + 1000
      await until(async () => ((await state()).sync as { failed: number }).failed === 1)
      expect(await documents()).toHaveLength(2)
      await sources().delete(ADA, spaceId, id, { documents: 'cascade' })
      expect(await documents()).toEqual([])
    })

    test('stays unreadable for other tenants and while it is disabled', async () => {
      const asked = place.requests.length
      await expect(listOffered(sources(), BOB, { spaceId, sourceId: id, type: place.type })).rejects.toMatchObject({
        code: 'not-found',
      })
      await sources().update(ADA, spaceId, id, { status: 'disabled' })
      await expect(take([{ id: 'x', name: 'x', type: 'page', workspaceId: 'w' }])).rejects.toMatchObject({
        code: 'invalid-request',
      })
      expect(place.requests.length).toBe(asked)
    })
  })
}

test('operations for pages or files are rejected for a source of another kind', async () => {
  const add = async (type: 'connector' | 'object-storage' | 'upload', metadata = {}) =>
    (
      await sources().create(ADA, spaceId, {
        name: 'x',
        type,
        uri: 'https://example.com/',
        permissionScope: [],
        metadata,
      })
    ).id
  const pages = { pages: [{ pageId: 'x', workspaceId: 'x', type: 'page' }] }
  const files = { files: [{ id: 'x', name: 'x' }] }
  const drive = await add('object-storage')
  await expect(sources().pages(ADA, spaceId, drive)).rejects.toMatchObject({ code: 'not-a-connector' })
  await expect(sources().importPages(ADA, spaceId, drive, pages)).rejects.toMatchObject({ code: 'not-a-connector' })
  await expect(sources().files(ADA, spaceId, drive, { maxKeys: 1 })).rejects.toMatchObject({ code: 'not-configured' })
  await expect(sources().importFiles(ADA, spaceId, drive, files)).rejects.toMatchObject({ code: 'not-configured' })
  await expect(sources().test(ADA, spaceId, drive)).rejects.toMatchObject({ code: 'not-configured' })
  const connector = await add('connector', { provider: 's3' })
  await expect(sources().files(ADA, spaceId, connector, { maxKeys: 1 })).rejects.toMatchObject({ code: 'not-a-drive' })
  await expect(sources().importFiles(ADA, spaceId, connector, files)).rejects.toMatchObject({ code: 'not-a-drive' })
  await expect(sources().pages(ADA, spaceId, connector)).rejects.toMatchObject({ code: 'not-configured' })
  await expect(sources().importPages(ADA, spaceId, connector, pages)).rejects.toMatchObject({ code: 'not-configured' })
  const other = await add('connector', { provider: 'git', pluginId: 'elsewhere' })
  await expect(sources().pages(ADA, spaceId, other)).rejects.toMatchObject({ code: 'not-configured' })
})
