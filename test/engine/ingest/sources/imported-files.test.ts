import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  type DriveConnection,
  type DriveFile,
  ItemFailure,
} from '../../../../src/engine/ingest/sources/connectors/connector.js'
import { importFiles, reimport } from '../../../../src/engine/ingest/sources/import-remote.js'
import type { SourceRow } from '../../../../src/engine/store/rows/sources.js'
import { openSmallSources, type SmallSources } from './small-source.js'

let small: SmallSources
let source: SourceRow
let asked: string[]
beforeEach(async () => {
  small = await openSmallSources()
  asked = []
})
afterEach(() => small.store.end())

const PLACE = { test: async () => undefined, close: async () => undefined }
const metadataOf = (name: string) =>
  JSON.parse(small.documents().find(({ filename }) => filename === name)?.metadata ?? '{}')

describe('imported files', () => {
  let drive: DriveConnection
  let files: Map<string, string | undefined>
  let keptAsked: unknown[]
  beforeEach(async () => {
    source = await small.made({ type: 'object-storage', uri: 'https://s3.example/' })
    files = new Map()
    keptAsked = []
    drive = {
      ...PLACE,
      resolveBucket: ({ bucket }) => ({
        ...(bucket === undefined ? {} : { bucket }),
        isNamedBySource: bucket === 'own',
      }),
      list: async () => [],
      async open({ id }, kept): Promise<DriveFile | undefined> {
        asked.push(id)
        keptAsked.push(kept)
        const text = files.get(id)
        if (text === undefined) throw new ItemFailure('is not there')
        if (kept !== undefined && text === 'unchanged') return undefined
        return {
          mimeType: 'text/plain',
          validators: { etag: `"${text.length}"` },
          content: Readable.from([Buffer.from(text)]),
        }
      },
    }
  })
  const bring = async (asking: { id: string; name: string; bucket?: string; mimeType?: string }[]) =>
    (await importFiles(small.place(small.again(source)), drive, asking)).outcomes

  it('get names from their ids, below their bucket unless the source names the bucket', async () => {
    for (const id of ['docs/a.txt', 'b.txt', 'c.txt']) files.set(id, `text of ${id}`)
    const outcomes = await bring([
      { id: 'docs/a.txt', name: 'a.txt', bucket: 'own' },
      { id: 'b.txt', name: 'b.txt', bucket: 'other', mimeType: 'text/markdown' },
      { id: 'c.txt', name: 'c.txt' },
      { id: 'c.txt', name: 'c.txt' },
    ])
    expect(outcomes).toMatchObject([
      { kind: 'imported', filename: 'docs/a.txt' },
      { kind: 'imported', filename: 'other/b.txt' },
      { kind: 'imported', filename: 'c.txt' },
    ])
    expect(metadataOf('docs/a.txt')).toMatchObject({ fileId: 'docs/a.txt', name: 'a.txt', bucket: 'own' })
    expect(metadataOf('other/b.txt')).toMatchObject({ fileId: 'b.txt', bucket: 'other', mimeType: 'text/markdown' })
    expect(metadataOf('c.txt')).not.toHaveProperty('bucket')
    expect(metadataOf('c.txt')).not.toHaveProperty('mimeType')
    // A file whose name differs from its id gets a suffix.
    files.set('x/1', 'text')
    expect(await bring([{ id: 'x/1', name: 'report.txt' }])).toMatchObject([
      { filename: expect.stringMatching(/^x\/report~[0-9a-f]{16}\.txt$/) },
    ])
  })

  it('keep their document when the server reports them as unchanged', async () => {
    files.set('a.txt', 'text')
    await bring([{ id: 'a.txt', name: 'a.txt' }])
    files.set('a.txt', 'unchanged')
    expect(await bring([{ id: 'a.txt', name: 'a.txt' }])).toMatchObject([{ kind: 'same', filename: 'a.txt' }])
    expect(keptAsked).toMatchObject([undefined, { etag: '"4"', mediaType: 'text/plain', at: small.clock.now }])
  })

  it('get requested unconditionally if their stored bytes are damaged, the name differs or a week passed', async () => {
    files.set('a.txt', 'text')
    await bring([{ id: 'a.txt', name: 'a.txt' }])
    files.set('a.txt', 'unchanged')
    const [{ object_key = '' } = {}] = small.store.rows<{ object_key: string }>('SELECT object_key FROM documents')
    const path = join(small.store.dataDir, 'objects', object_key)
    chmodSync(path, 0o600)
    writeFileSync(path, 'tex_')
    expect(await bring([{ id: 'a.txt', name: 'a.txt' }])).toMatchObject([{ kind: 'replaced' }])
    expect(keptAsked.map((kept) => kept !== undefined)).toEqual([false, true, false])
    keptAsked.length = 0
    expect(await bring([{ id: 'a.txt', name: 'b.txt' }])).toMatchObject([{ filename: expect.stringMatching(/^b~/) }])
    expect(keptAsked.map((kept) => kept !== undefined)).toEqual([true, false])
    keptAsked.length = 0
    small.clock.now += 8 * 24 * 60 * 60 * 1000
    await bring([{ id: 'a.txt', name: 'b.txt' }])
    expect(keptAsked).toEqual([undefined])
  })

  it('get read again by the schedule, and replaced only if they changed', async () => {
    files.set('a.txt', 'one').set('b.txt', 'two')
    await bring([
      { id: 'a.txt', name: 'a.txt', bucket: 'own' },
      { id: 'b.txt', name: 'b.txt', mimeType: 'text/plain' },
    ])
    files.set('b.txt', 'two!')
    const done = await reimport(small.place(source), { kind: 'files', connection: drive })
    expect(done.outcomes.map(({ kind }) => kind).sort()).toEqual(['replaced', 'same'])
    expect(done.labels.sort()).toEqual(['a.txt', 'b.txt'])
  })
})
