import { Readable } from 'node:stream'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { KsError } from '../../../../src/contract/errors.js'
import {
  type ConnectorPage,
  ItemFailure,
  type PageConnection,
} from '../../../../src/engine/ingest/sources/connectors/connector.js'
import { importPages, reimport, toImportResult } from '../../../../src/engine/ingest/sources/import-remote.js'
import { beginUpload } from '../../../../src/engine/library/documents/upload.js'
import { EgressFailure } from '../../../../src/engine/models/egress/failure.js'
import type { SourceRow } from '../../../../src/engine/store/rows/sources.js'
import { ADA } from '../../../helpers/engine.js'
import { openSmallSources, type SmallSources } from './small-source.js'

let small: SmallSources
let source: SourceRow
/** Pages of the source by id, and the requests for them. */
let pages: Map<string, string | Error>
let asked: string[]
beforeEach(async () => {
  small = await openSmallSources()
  source = await small.made({ type: 'connector', uri: 'https://notion.example/' })
  pages = new Map()
  asked = []
})
afterEach(() => small.store.end())

const PLACE: Omit<PageConnection, 'list' | 'read'> = { test: async () => undefined, close: async () => undefined }
const wiki = (edited = '2026-01-01'): PageConnection => ({
  ...PLACE,
  list: async () =>
    [
      {
        workspaceId: 'w',
        workspaceName: 'W',
        pages: [...pages.keys()].map((pageId) => ({ pageId, pageName: pageId, type: 'page', lastEditedTime: edited })),
      },
    ] as never,
  async read({ pageId }): Promise<ConnectorPage> {
    asked.push(pageId)
    const text = pages.get(pageId) ?? new ItemFailure('is not there')
    if (text instanceof Error) throw text
    const content = Buffer.from(text)
    return {
      pageName: `Page ${pageId}`,
      lastEditedTime: edited,
      mimeType: 'text/markdown',
      content,
      path: `${pageId}.md`,
      isUnique: true,
    }
  },
})
const named = (pageId: string, more = {}) => ({ pageId, workspaceId: 'w', type: 'page', ...more })
const take = async (ids: string[], connection = wiki(), more = {}) =>
  (
    await importPages(
      small.place(small.again(source)),
      connection,
      ids.map((id) => named(id, more)),
    )
  ).outcomes
const kinds = async (ids: string[], connection = wiki(), more = {}) =>
  (await take(ids, connection, more)).map(({ kind }) => kind)
const documentOf = (name: string) => small.documents().find(({ filename }) => filename === name)
const metadataOf = (name = 'a.md') => JSON.parse(documentOf(name)?.metadata ?? '{}')

describe('imported pages', () => {
  it('become one document each, with metadata of their origin', async () => {
    pages.set('a', 'one').set('b', 'two')
    const done = await importPages(small.place(source), wiki(), [named('a'), named('b', { name: 'mine' }), named('a')])
    const [first, second] = [documentOf('a.md'), documentOf('b.md')]
    expect(done).toEqual({
      labels: ['a', 'b'],
      outcomes: [
        { kind: 'imported', documentAssetId: first?.id, filename: 'a.md' },
        { kind: 'imported', documentAssetId: second?.id, filename: 'b.md' },
      ],
    })
    expect([first?.parser_status, second?.parser_status]).toEqual(['parsed', 'parsed'])
    const known = { workspaceId: 'w', pageType: 'page', lastEditedTime: '2026-01-01' }
    expect(metadataOf()).toMatchObject({ pageId: 'a', ...known })
    expect(metadataOf('b.md')).toMatchObject({ pageId: 'b', name: 'mine', ...known })
    expect(toImportResult(done)).toEqual({
      documents: [
        { documentAssetId: first?.id, filename: 'a.md' },
        { documentAssetId: second?.id, filename: 'b.md' },
      ],
      ...{ failed: [], skipped: [] },
    })
  })

  it('stay unread if they were not edited since the last import', async () => {
    pages.set('a', 'one')
    await take(['a'])
    asked.length = 0
    const skipped = await importPages(small.place(source), wiki(), [named('a', { lastEditedTime: '2026-01-01' })])
    expect(skipped.outcomes).toEqual([{ kind: 'skipped' }])
    expect(toImportResult(skipped)).toEqual({ documents: [], failed: [], skipped: ['a'] })
    expect(asked).toEqual([])
    expect(await kinds(['a'])).toEqual(['same'])
    expect(await kinds(['a'], wiki(), { lastEditedTime: '2026-01-02' })).toEqual(['same'])
    expect(asked).toEqual(['a', 'a'])
    expect(small.documents()).toHaveLength(1)
  })

  it('keep their document when the bytes are the same, and update its metadata', async () => {
    pages.set('a', 'one')
    const [first] = await take(['a'])
    const [second] = await take(['a'], wiki('2026-02-02'))
    expect(second).toEqual({ ...first, kind: 'same' })
    expect(metadataOf().lastEditedTime).toBe('2026-02-02')
    expect(small.store.rows('SELECT 1 FROM jobs')).toHaveLength(1)
  })

  it('replace the file of their document when they changed', async () => {
    pages.set('a', 'one')
    const [first] = await take(['a'])
    pages.set('a', 'one and more')
    const [second] = await take(['a'])
    expect(second).toMatchObject({ kind: 'replaced', filename: 'a.md' })
    expect(small.documents().map(({ id }) => id)).toEqual([
      first && 'documentAssetId' in first && first.documentAssetId,
    ])
    expect(small.store.indexes.texts(small.space.id)).toEqual(['one and more'])
  })

  it('replace their document by a document with the new name after a rename', async () => {
    pages.set('a', 'one')
    await take(['a'])
    const renamed = { ...wiki(), read: async () => ({ ...(await wiki().read(named('a'))), path: 'new.md' }) }
    expect(await take(['a'], renamed)).toMatchObject([{ kind: 'replaced', filename: 'new.md' }])
    expect(small.documents().map(({ filename }) => filename)).toEqual(['new.md'])
  })

  it('keep the previous document if they cannot be compiled', async () => {
    pages.set('a', 'one')
    await take(['a'])
    pages.set('a', '!malformed')
    expect(await take(['a'])).toEqual([
      { kind: 'failed', filename: 'a.md', error: 'a.md is malformed', locationFailed: false },
    ])
    expect(small.documents().map(({ parser_status }) => parser_status)).toEqual(['parsed'])
    expect(small.store.indexes.texts(small.space.id)).toEqual(['one'])
  })

  it('lose the error of an edit that could not be compiled when they return to the published bytes', async () => {
    pages.set('a', 'one')
    await take(['a'])
    pages.set('a', '!malformed')
    await take(['a'])
    const stored = () => small.store.rows('SELECT error, next_object_key FROM documents')
    expect(stored()).toMatchObject([{ error: 'a.md is malformed' }])
    pages.set('a', 'one')
    expect(await kinds(['a'], wiki(), { lastEditedTime: '2026-01-01' })).toEqual(['same'])
    expect(stored()).toEqual([{ error: null, next_object_key: null }])
    expect(small.store.indexes.texts(small.space.id)).toEqual(['one'])
    expect(await kinds(['a'], wiki(), { lastEditedTime: '2026-01-01' })).toEqual(['skipped'])
  })

  it('adopt an existing document with the same bytes and set its metadata', async () => {
    pages.set('a', 'one')
    const upload = await beginUpload(small.store.context, ADA, small.space.id, { many: false })
    await upload.add({ filename: 'a.md', content: Readable.from([Buffer.from('one')]) })
    const [accepted] = await upload.commit({ sourceId: source.id })
    expect(await take(['a'])).toEqual([{ kind: 'imported', documentAssetId: accepted?.asset.id, filename: 'a.md' }])
    expect(metadataOf()).toMatchObject({ pageId: 'a', workspaceId: 'w' })
    expect(small.documents()).toHaveLength(1)
  })

  it('count as failed if their document is deleted during the import', async () => {
    pages.set('a', 'one')
    const place = {
      ...small.place(source),
      settled: async () => small.store.run('UPDATE documents SET deleted_at = 1'),
    }
    const { outcomes } = await importPages(place, wiki(), [named('a')])
    expect(outcomes).toMatchObject([{ kind: 'failed', error: 'its document was deleted meanwhile' }])
  })
})

describe('an import', () => {
  it('continues after failed items and lists them', async () => {
    pages
      .set('a', 'one')
      .set('b', new ItemFailure('is a secret'))
      .set('c', new EgressFailure('answered 500'))
      .set('d', 'four')
    const done = await importPages(small.place(source), wiki(), [
      named('a'),
      named('b', { name: 'B' }),
      named('c'),
      named('d'),
    ])
    expect(toImportResult(done)).toMatchObject({
      documents: [{ filename: 'a.md' }, { filename: 'd.md' }],
      failed: [
        { filename: 'B', error: 'is a secret' },
        { filename: 'c', error: 'answered 500' },
      ],
    })
    expect(done.outcomes).toMatchObject([{}, { locationFailed: false }, { locationFailed: true }, {}])
  })

  it('stops requesting a source that fails three times in a row', async () => {
    pages.set('a', 'one')
    for (const id of ['b', 'c', 'd', 'e', 'f', 'g']) pages.set(id, new EgressFailure('is down'))
    const outcomes = await take(['a', 'b', 'c', 'd', 'e', 'f', 'g'])
    const errors = outcomes.flatMap((outcome) => (outcome.kind === 'failed' ? [outcome.error] : []))
    expect(errors.filter((error) => error === 'is down').length).toBeGreaterThanOrEqual(3)
    expect(errors.at(-1)).toBe('was not tried: the previous items could not be read')
    expect(asked).not.toContain('g')
    // An item that fails alone is no failure of the source.
    asked.length = 0
    for (const id of ['b', 'c', 'd', 'e', 'f']) pages.set(id, new ItemFailure('is not there'))
    await take(['b', 'c', 'd', 'e', 'f'])
    expect(asked).toHaveLength(5)
  })

  it('fails when every item failed because of the source', async () => {
    pages.set('a', new EgressFailure('is down')).set('b', new EgressFailure('is down, too'))
    await expect(take(['a', 'b'])).rejects.toThrow(new EgressFailure('is down'))
    pages.set('b', new ItemFailure('is not there'))
    expect(await kinds(['a', 'b'])).toEqual(['failed', 'failed'])
    expect(await take([])).toEqual([])
  })

  it.each([
    [new KsError('upload-too-large', 'is too large'), undefined],
    [new KsError('storage-full', 'the disk is full'), 'storage-full'],
    [new KsError('not-configured', 'no token'), 'not-configured'],
    [new Error('a mistake'), 'a mistake'],
  ])('ends on a fatal error only: %s', async (error, ends) => {
    pages.set('a', 'one').set('b', error)
    if (ends === undefined) expect(await kinds(['a', 'b'])).toEqual(['imported', 'failed'])
    else await expect(take(['a', 'b'])).rejects.toBe(error)
  })

  it('throws the reason of its abort', async () => {
    pages.set('a', 'one')
    const place = small.place(source)
    const reason = new EgressFailure('the daemon is stopping')
    const stopping = {
      ...wiki(),
      read: async () => {
        small.stop.abort(reason)
        throw new EgressFailure('aborted')
      },
    }
    await expect(importPages(place, stopping, [named('a'), named('b')])).rejects.toBe(reason)
    await expect(importPages(place, wiki(), [named('a')])).rejects.toBe(reason)
    expect(asked).toEqual([])
  })

  it('continues an interrupted import, and keeps one document', async () => {
    pages.set('a', 'one')
    await take(['a'])
    pages.set('a', '!malformed')
    const cut = {
      ...small.place(source),
      settled: async () => {
        throw new Error('the daemon died')
      },
    }
    await expect(importPages(cut, wiki(), [named('a')])).rejects.toThrow('the daemon died')
    const [{ id: job = '' } = {}] = small.store.rows<{ id: string }>('SELECT id FROM jobs WHERE completed_at IS NULL')
    await small.settled(job)
    expect(small.documents().map(({ parser_status }) => parser_status)).toEqual(['parsed'])
    pages.set('a', 'one')
    expect(await kinds(['a'])).toEqual(['same'])
    expect(small.documents()).toHaveLength(1)
  })
})

describe('a repeated import', () => {
  it('replaces imported items that were edited since, and reports missing items as failed', async () => {
    pages.set('a', 'one').set('b', 'two').set('c', 'three')
    await importPages(small.place(source), wiki(), [named('a', { name: 'A' }), named('b')])
    pages.delete('b')
    asked.length = 0
    const opened = (edited: string) => ({ kind: 'pages' as const, connection: wiki(edited) })
    const same = await reimport(small.place(source), opened('2026-01-01'))
    expect(same).toEqual({
      labels: ['a', 'b'],
      outcomes: [
        { kind: 'skipped' },
        { kind: 'failed', filename: 'b', error: 'no longer exists', locationFailed: false },
      ],
    })
    expect(asked).toEqual([])
    pages.set('a', 'one, edited')
    const edited = await reimport(small.place(source), opened('2026-01-02'))
    expect(edited.outcomes).toMatchObject([{ kind: 'replaced' }, { kind: 'failed' }])
    expect(asked).toEqual(['a'])
    expect(JSON.parse(small.documents().find(({ filename }) => filename === 'a.md')?.metadata ?? '{}').name).toBe('A')
  })

  it('sends no requests when nothing was imported before', async () => {
    const connection = {
      ...wiki(),
      list: async () => {
        throw new Error('it was asked')
      },
    }
    expect(await reimport(small.place(source), { kind: 'pages', connection })).toEqual({ labels: [], outcomes: [] })
  })
})
