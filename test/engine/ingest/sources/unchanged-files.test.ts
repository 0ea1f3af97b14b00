import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { ADA, startEngine, type TestEngine } from '../../../helpers/engine.js'
import { redirect, type Site, startSite } from '../../../helpers/site.js'

const KEYS = { accessKeyId: 'key', secretAccessKey: 'secret' }
const PLACES = [
  { provider: 'webdav', uri: '/dav/', path: '/dav/tides.md', id: 'tides.md', credentials: { token: 'one' } },
  {
    provider: 's3',
    uri: '/docs/notes/',
    path: '/docs/notes/tides.md?x-id=GetObject',
    id: 'notes/tides.md',
    credentials: KEYS,
  },
]

let home: TestEngine
let spaceId = ''
let site: Site
beforeAll(async () => {
  home = await startEngine({ sources: { egressAllow: ['127.0.0.2'], tickMs: 20 } })
  spaceId = (await home.engine.spaces.create(ADA, { name: 'Files', slug: 'files' })).id
})
afterEach(() => site?.end())
afterAll(() => home.end())

describe.each(PLACES)('a file of $provider', ({ provider, uri, path, id: fileId, credentials }) => {
  let text = ''
  let tag = ''
  const sent: number[] = []
  const start = async () => {
    site = await startSite()
    text = '# Tides\n\nThe moon pulls the sea.'
    tag = '"one"'
    sent.splice(0)
    site.pages.set(path, (request, response) => {
      const status = request.headers['if-none-match'] === tag ? 304 : 200
      sent.push(status)
      const headers = { 'content-type': 'text/markdown', etag: tag }
      response.writeHead(status, headers).end(status === 304 ? '' : text)
    })
    const metadata = { provider, credentials }
    const body = {
      name: provider,
      type: 'object-storage' as const,
      uri: `${site.url}${uri}`,
      permissionScope: [],
      metadata,
    }
    const { id } = await home.engine.sources.create(ADA, spaceId, body)
    return id
  }
  const take = async (id: string, name = 'tides.md') => {
    const { documents, failed } = await home.engine.sources.importFiles(ADA, spaceId, id, {
      files: [{ id: fileId, name }],
    })
    expect(failed).toEqual([])
    return { documents, sent: sent.splice(0) }
  }

  test('gets status 304 if it is unchanged, and is downloaded again if it changed', async () => {
    const id = await start()
    const first = await take(id)
    expect(first.documents).toHaveLength(1)
    expect(first.sent).toEqual([200])
    expect(await take(id)).toEqual({ documents: first.documents, sent: [304] })
    text = '# Tides\n\nThe sun pulls the sea as well.'
    tag = '"two"'
    const second = await take(id)
    expect(second.sent).toEqual([200])
    // the document keeps its id and gets the new text
    expect(second.documents).toEqual(first.documents)
    const [{ documentAssetId } = { documentAssetId: '' }] = second.documents
    const document = await home.engine.documents.get(ADA, spaceId, documentAssetId)
    expect(document).toMatchObject({ version: 2, sizeBytes: text.length })
  })

  test('gets downloaded again when its document was deleted, or its name or credentials changed', async () => {
    const id = await start()
    const { documents } = await take(id)
    await home.engine.documents.delete(
      ADA,
      spaceId,
      documents.map(({ documentAssetId }) => documentAssetId),
    )
    expect((await take(id)).sent).toEqual([200])
    const renamed = await take(id, 'renamed.md')
    expect(renamed).toMatchObject({ documents: [{ filename: expect.stringContaining('renamed') }], sent: [304, 200] })
    const changed = provider === 's3' ? { ...KEYS, secretAccessKey: 'other' } : { token: 'two' }
    await home.engine.sources.update(ADA, spaceId, id, { metadata: { provider, credentials: changed } })
    expect((await take(id, 'renamed.md')).sent).toEqual([200])
  })
})

test('a WebDAV file that redirects is requested without a condition at the new address', async () => {
  site = await startSite({ '/dav/tides.md': redirect('/other.md') })
  const asked: (string | undefined)[] = []
  site.pages.set('/other.md', (request, response) => {
    asked.push(request.headers['if-none-match'])
    response.writeHead(200, { 'content-type': 'text/markdown', etag: '"one"' }).end('# Tides')
  })
  const { id } = await home.engine.sources.create(ADA, spaceId, {
    name: 'Moved',
    type: 'object-storage',
    uri: `${site.url}/dav/`,
    permissionScope: [],
    metadata: { provider: 'webdav' },
  })
  const files = [{ id: 'tides.md', name: 'tides.md' }]
  for (const _ of [1, 2])
    expect((await home.engine.sources.importFiles(ADA, spaceId, id, { files })).failed).toEqual([])
  expect(asked).toEqual([undefined, undefined])
})
