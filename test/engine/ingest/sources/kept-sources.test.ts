import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { CreateSourceBody } from '../../../../src/contract/gateway/sources.js'
import { beginDeletion, finishDeletions } from '../../../../src/engine/ingest/sources/delete.js'
import { createSource, getSource, listSources, updateSource } from '../../../../src/engine/ingest/sources/sources.js'
import { storeValidators } from '../../../../src/engine/ingest/sources/stored-validators.js'
import { deleteVanishedPages } from '../../../../src/engine/ingest/sources/vanished-pages.js'
import type { SourceRow } from '../../../../src/engine/store/rows/sources.js'
import { ADA, BOB } from '../../../helpers/engine.js'
import { openSmallSources, type SmallSources } from './small-source.js'

const HOUR_MS = 60 * 60 * 1000
const HOURLY = { syncPolicy: { everyHours: 1 } }
const EVE = { tenant: ADA.tenant, subject: 'eve' }

let small: SmallSources
let source: SourceRow
beforeEach(async () => {
  small = await openSmallSources()
  source = await small.made({ metadata: HOURLY })
})
afterEach(async () => {
  await small.store.end()
})

describe('a source', () => {
  const body: CreateSourceBody = {
    name: 's',
    type: 'web',
    uri: 'https://site.example/',
    permissionScope: [],
    metadata: {},
  }
  const update = async (changes: Parameters<typeof updateSource>[3], of = source) =>
    updateSource(small.parts, ADA, { spaceId: small.space.id, id: of.id }, changes)

  it('can be read with all fields by the subjects of its scope only', async () => {
    const made = await createSource(small.parts, ADA, small.space.id, {
      ...{ ...body, name: 'mine', permissionScope: ['ada'], metadata: { ...HOURLY, parameters: { maxPages: 3 } } },
    })
    expect(made).toMatchObject({
      ...{ knowledgeSpaceId: small.space.id, name: 'mine', type: 'web', uri: body.uri, status: 'active', version: 1 },
      permissionScope: ['ada'],
      metadata: {
        ...{ tenantId: ADA.tenant, parameters: { maxPages: 3 }, ...HOURLY },
        syncState: { nextSyncAt: new Date(small.clock.now + HOUR_MS).toISOString() },
      },
    })
    const get = (caller: typeof ADA) => small.store.db.now(getSource(caller, small.space.id, made.id))
    expect(get(ADA)).toEqual(made)
    for (const caller of [EVE, BOB]) expect(() => get(caller)).toThrow(expect.objectContaining({ code: 'not-found' }))
    expect((await createSource(small.parts, ADA, small.space.id, { ...body, status: 'disabled' })).status).toBe(
      'disabled',
    )
    await expect(createSource(small.parts, BOB, small.space.id, body)).rejects.toMatchObject({ code: 'not-found' })
  })

  it('appears once in a list of sources that is read page by page', async () => {
    const made = [source, await small.made(), await small.made()].map(({ id }) => id)
    const list = (limit: number, cursor?: string) =>
      small.store.db.now(listSources(ADA, small.space.id, { limit, ...(cursor === undefined ? {} : { cursor }) }))
    const first = list(2)
    expect(first.items.map(({ id }) => id)).toEqual(made.slice(0, 2))
    const rest = list(2, first.nextCursor)
    expect([rest.items.map(({ id }) => id), rest.nextCursor]).toEqual([made.slice(2), undefined])
    expect(list(3).nextCursor).toBeUndefined()
    expect(() => list(2, 'x')).toThrow(expect.objectContaining({ code: 'invalid-cursor' }))
  })

  it('keeps the fields, credentials and plan that a change omits', async () => {
    const secret = await small.made({ metadata: { ...HOURLY, credentials: { token: 't' } } })
    const opened = (of: SourceRow) => (of.credentials === null ? null : small.parts.box.open(of.id, of.credentials))
    expect(opened(secret)).toEqual({ token: 't' })
    await update({ name: 'other' }, secret)
    const renamed = small.again(secret)
    expect(renamed).toMatchObject({
      name: 'other',
      version: 2,
      metadata: secret.metadata,
      next_sync_at: secret.next_sync_at,
    })
    expect(opened(renamed)).toEqual({ token: 't' })
    await update({ metadata: { ...HOURLY, parameters: { maxPages: 2 } } }, secret)
    expect(opened(small.again(secret))).toEqual({ token: 't' })
    expect(JSON.parse(small.again(secret).metadata)).toEqual({ ...HOURLY, parameters: { maxPages: 2 } })
    await update({ metadata: { credentials: { token: 'u' } } }, secret)
    expect([opened(small.again(secret)), small.again(secret).next_sync_at]).toEqual([{ token: 'u' }, null])
    await update({ metadata: { credentials: null } }, secret)
    expect(opened(small.again(secret))).toBeNull()
  })

  it('gets a new plan only when its sync policy changes', async () => {
    const { next_sync_at } = source
    small.clock.now += 1000
    await update({ metadata: { ...HOURLY, parameters: {} } })
    expect(small.again(source).next_sync_at).toBe(next_sync_at)
    await update({ metadata: { syncPolicy: { everyHours: 2 } } })
    expect(small.again(source).next_sync_at).toBe(small.clock.now + 2 * HOUR_MS)
    await update({ metadata: { syncPolicy: { everyHours: 2 }, pluginId: 'another' } })
    expect(small.again(source).next_sync_at).toBeNull()
  })

  it('stays in the status syncing during a sync, unless it is disabled', async () => {
    expect((await update({ status: 'disabled' })).status).toBe('disabled')
    expect((await update({ status: 'active' })).status).toBe('active')
    small.store.run("UPDATE sources SET status = 'syncing'")
    expect((await update({ status: 'active' })).status).toBe('syncing')
    expect((await update({ name: 'x' })).status).toBe('syncing')
    expect((await update({ status: 'disabled' })).status).toBe('disabled')
  })

  it('changes only if the expected version is its current version', async () => {
    await expect(update({ name: 'x', expectedVersion: 7 })).rejects.toMatchObject({ code: 'version-mismatch' })
    expect((await update({ name: 'x', expectedVersion: 1 })).version).toBe(2)
    await expect(update({ metadata: { syncPolicy: 7 } })).rejects.toMatchObject({ code: 'invalid-sync-policy' })
  })
})

/** Publishes pages of the source by address; returns the ids of their documents. */
async function crawled(urls: string[], of = source): Promise<string[]> {
  const ids: string[] = []
  for (const url of urls) {
    const [accepted] = await small.store.upload(small.space, { [`${url}.md`]: `text of ${url}` })
    await small.settled(accepted?.compilationJob.id ?? '')
    ids.push(accepted?.asset.id ?? '')
    const metadata = JSON.stringify({ sourceUrl: url })
    small.store.run('UPDATE documents SET source_id = ?, metadata = ? WHERE id = ?', of.id, metadata, ids.at(-1) ?? '')
  }
  return ids
}
const there = () => small.documents().map(({ id }) => id)
const metadataOf = (id: string) => JSON.parse(small.documents().find((one) => one.id === id)?.metadata ?? '{}')

describe('the documents of a deleted source', () => {
  const remove = async (documents: 'cascade' | 'keep', signal = small.stop.signal) => {
    await beginDeletion(small.store.context, ADA, small.space.id, { id: source.id, documents })
    await finishDeletions(small.store.context, signal)
  }

  it('get deleted with their source by cascade, but not documents of another source', async () => {
    const ids = await crawled(['a', 'b'])
    const other = await small.made()
    const [kept] = await crawled(['c'], other)
    expect(there()).toHaveLength(3)
    await remove('cascade')
    expect(there()).toEqual([kept])
    expect(ids).toHaveLength(2)
    expect(small.store.rows('SELECT id FROM sources')).toEqual([{ id: other.id }])
  })

  it('lose their source if they are kept and every caller may read them', async () => {
    await crawled(['a'])
    await remove('keep')
    expect(small.store.rows('SELECT source_id FROM documents')).toEqual([{ source_id: null }])
    expect(small.store.rows('SELECT id FROM sources')).toEqual([])
  })

  it('stay restricted to the readers of the source if they are kept', async () => {
    source = await small.made({ permissionScope: ['ada'] })
    await crawled(['a'])
    await remove('keep')
    expect(small.store.rows('SELECT source_id FROM documents')).toEqual([{ source_id: `kept-${source.id}` }])
  })

  it('get deleted by the next clean-up if the deletion was interrupted', async () => {
    await crawled(['a'])
    const cut = new AbortController()
    cut.abort()
    await remove('cascade', cut.signal)
    expect([there().length, small.store.rows('SELECT 1 FROM sources').length]).toEqual([1, 1])
    expect(() => small.again(source)).toThrow(expect.objectContaining({ code: 'not-found' }))
    await finishDeletions(small.store.context, small.stop.signal)
    expect([there(), small.store.rows('SELECT 1 FROM sources')]).toEqual([[], []])
  })
})

describe('pages of earlier crawls', () => {
  const settle = (known: Parameters<typeof deleteVanishedPages>[1], missingAfter: number) =>
    deleteVanishedPages(small.place(source), known, missingAfter)

  it('record when they were seen, and reset their count of missing crawls', async () => {
    const [a = '', b = ''] = await crawled(['a', 'b'])
    expect(
      await settle(
        {
          seen: [],
          gone: [
            { url: 'a', isPermanent: false },
            { url: 'nowhere', isPermanent: true },
          ],
        },
        3,
      ),
    ).toBe(0)
    expect([metadataOf(a).missingCrawls, metadataOf(b).missingCrawls]).toEqual([1, undefined])
    expect(await settle({ seen: ['a', 'nowhere'], gone: [] }, 3)).toBe(0)
    expect(metadataOf(a)).toEqual({ sourceUrl: 'a', lastSeenAt: new Date(small.clock.now).toISOString() })
    expect(metadataOf(b)).toEqual({ sourceUrl: 'b' })
  })

  it('lose their document after the allowed number of missing crawls, or at once if removed for good', async () => {
    const [a, b, c] = await crawled(['a', 'b', 'c'])
    const gone = [
      { url: 'a', isPermanent: false },
      { url: 'b', isPermanent: true },
    ]
    expect(await settle({ seen: ['c'], gone }, 2)).toBe(1)
    expect(there()).toEqual([a, c])
    expect(await settle({ seen: [], gone: gone.slice(0, 1) }, 2)).toBe(1)
    expect(there()).toEqual([c])
    expect(b).toBeDefined()
    expect(await settle({ seen: [], gone: [{ url: 'c', isPermanent: true }] }, 0)).toBe(0)
    expect(there()).toEqual([c])
  })

  it('keep their stored cache validators until a crawl removes them', async () => {
    const [a = '', b = ''] = await crawled(['a', 'b'])
    const kept = { etag: '"1"', mediaType: 'text/html', at: 1, reading: 'r' }
    await storeValidators(
      small.store.db,
      source,
      new Map([
        [a, kept],
        [b, kept],
      ]),
    )
    await storeValidators(small.store.db, source, new Map([[b, undefined]]))
    expect(small.store.rows<{ validators: string }>('SELECT validators FROM documents ORDER BY key')).toEqual([
      { validators: JSON.stringify(kept) },
      { validators: null },
    ])
  })
})
