import { existsSync, mkdirSync, readdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { CreateBucketCommand, PutObjectCommand } from '@aws-sdk/client-s3'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ADA, startEngine, type TestEngine } from '../../../helpers/engine.js'
import { findMissingGit, type GitServer, startGit } from '../../../helpers/places/git.js'
import { makeBlock, makeRichText, type NotionServer, startNotion } from '../../../helpers/places/notion.js'
import type { RemoteServer } from '../../../helpers/places/place.js'
import { startS3 } from '../../../helpers/places/s3.js'
import { findMissingWebdav, startWebdav } from '../../../helpers/places/webdav.js'
import { redirect, startSite } from '../../../helpers/site.js'

let home: TestEngine
let spaceId = ''
beforeAll(async () => {
  home = await startEngine({ sources: { egressAllow: ['127.0.0.2'] } })
  spaceId = (await home.engine.spaces.create(ADA, { name: 'Details', slug: 'details' })).id
})
afterAll(() => home.end())

const sources = () => home.engine.sources
const add = async ({ type, uri, metadata }: Pick<RemoteServer, 'type' | 'uri' | 'metadata'>, more = {}) =>
  (
    await sources().create(ADA, spaceId, {
      name: 'x',
      type,
      uri,
      permissionScope: [],
      metadata: { ...metadata, ...more },
    })
  ).id
const pagesOf = async (id: string) => {
  const [workspace] = (await sources().pages(ADA, spaceId, id)).workspaces
  return workspace?.pages.map((page) => ({ ...page, workspaceId: workspace.workspaceId ?? '' })) ?? []
}
const importAll = async (id: string, names: Record<string, string> = {}) => {
  const pages = (await pagesOf(id)).map(({ pageId, workspaceId, type, lastEditedTime }) => ({
    pageId,
    workspaceId,
    type,
    lastEditedTime,
    name: names[pageId],
  }))
  return sources().importPages(ADA, spaceId, id, { pages })
}
const textOf = async (documentAssetId: string) => {
  const { elements } = await home.engine.documents
    .parseArtifact(ADA, spaceId, documentAssetId, 1)
    .then((body) => body.value())
  return elements.map((element) => element.text).join('\n')
}
const documentsOf = async (id: string) => {
  const { items } = await home.engine.documents.list(ADA, spaceId, { limit: 100 })
  return items.filter(({ sourceId }) => sourceId === id)
}
const filesOf = async (id: string, query = {}) =>
  (await sources().files(ADA, spaceId, id, { maxKeys: 1000, ...query })).buckets

describe('a source of Notion', () => {
  let place: NotionServer
  beforeAll(async () => {
    place = await startNotion()
  })
  afterAll(() => place.end())

  test('reads pages across several responses, waits as the server asks, and fails after five times 503', async () => {
    place.pageSize = 2
    for (const name of ['a', 'b', 'c', 'd', 'e'])
      await place.put(`${name}.md`, Array.from({ length: 5 }, (_, n) => `Part ${n} of page ${name}.`).join('\n\n'))
    const id = await add(place)
    place.requests.length = 0
    place.refusals.push(
      { status: 429, headers: { 'retry-after': '1' } },
      { status: 529, headers: { 'retry-after': '0' } },
    )
    const before = performance.now()
    expect((await pagesOf(id)).map(({ pageName }) => pageName)).toEqual(['a', 'b', 'c', 'd', 'e'])
    expect(performance.now() - before).toBeGreaterThan(990)
    expect(place.requests).toEqual([
      'GET /v1/users/me',
      'GET /v1/users/me',
      'GET /v1/users/me',
      'POST /v1/search',
      'POST /v1/search',
      'POST /v1/search',
    ])
    const done = await importAll(id)
    expect(done).toMatchObject({ failed: [], skipped: [] })
    expect(done.documents).toHaveLength(5)
    for (const { documentAssetId } of done.documents) expect(await textOf(documentAssetId)).toContain('Part 4 of page')
    place.refusals.push(...Array.from({ length: 5 }, () => ({ status: 503, headers: { 'retry-after': '0' } })))
    await expect(pagesOf(id)).rejects.toMatchObject({
      message: expect.stringMatching(/could not be read: answered 503$/),
    })
    place.pageSize = 100
    place.pages.clear()
  })

  test('imports the text of every kind of block, but no signed address of a file', async () => {
    const nested = makeBlock('bulleted_list_item', { rich_text: makeRichText('outer') }, true)
    place.children.set(nested.id, [makeBlock('bulleted_list_item', { rich_text: makeRichText('inner') })])
    const table = makeBlock('table', { table_width: 2, has_column_header: true }, true)
    const row = (...cells: string[]) => makeBlock('table_row', { cells: cells.map((cell) => makeRichText(cell)) })
    place.children.set(table.id, [row('Port', 'Range'), row('Brest', '6 m | 7 m')])
    const toggle = makeBlock('toggle', { rich_text: makeRichText('More') }, true)
    place.children.set(toggle.id, [makeBlock('paragraph', { rich_text: makeRichText('Hidden words.') })])
    const file = { type: 'file', file: { url: 'https://files.example/secret-signature', expiry_time: 'soon' } }
    await place.put('kinds.md', 'x')
    place.pages.get('kinds.md')!.properties = {
      State: { id: 's', type: 'select', select: { name: 'Done' } },
      Day: { id: 'd', type: 'date', date: { start: '2026-01-02', end: null } },
    }
    place.pages.get('kinds.md')!.blocks = [
      makeBlock('heading_2', { rich_text: makeRichText('Tides') }),
      makeBlock('paragraph', {
        rich_text: [...makeRichText('The '), ...makeRichText('moon', { bold: true }), ...makeRichText(' pulls *')],
      }),
      makeBlock('paragraph', { rich_text: makeRichText('the sea', {}, 'https://example.com/sea') }),
      nested,
      ...['first', 'second'].map((text) => makeBlock('numbered_list_item', { rich_text: makeRichText(text) })),
      makeBlock('to_do', { rich_text: makeRichText('measure'), checked: true }),
      makeBlock('quote', { rich_text: makeRichText('Time and tide\nwait for none.') }),
      makeBlock('code', { rich_text: makeRichText('a = `b`'), language: 'python' }),
      makeBlock('equation', { expression: 'e=mc^2' }),
      makeBlock('divider', {}),
      table,
      toggle,
      makeBlock('image', { ...file, caption: makeRichText('A chart') }),
      makeBlock('bookmark', { url: 'https://example.com/', caption: [] }),
      makeBlock('child_page', { title: 'Another' }),
      makeBlock('unsupported', {}),
    ]
    const id = await add(place)
    const { documents } = await importAll(id)
    const text = await textOf(documents[0]?.documentAssetId ?? '')
    for (const part of [
      'kinds',
      'State: Done',
      'Day: 2026-01-02',
      'Tides',
      'pulls',
      'outer',
      'inner',
      'first',
      'second',
    ])
      expect(text).toContain(part)
    for (const part of ['measure', 'wait for none', 'a = `b`', 'e=mc^2', 'Brest', 'Hidden words', 'A chart', 'Another'])
      expect(text).toContain(part)
    expect(text).not.toContain('secret-signature')
    place.pages.clear()
  })

  test('keeps one document for a renamed page', async () => {
    await place.put('Old name.md', 'The moon pulls the sea.')
    const id = await add(place)
    await importAll(id)
    const page = place.pages.get('Old name.md')!
    page.title = 'New name'
    page.edited = new Date(Date.parse(page.edited) + 60_000).toISOString()
    const { documents } = await importAll(id)
    expect(documents[0]?.filename).toMatch(/^New name~[0-9a-f]{16}\.md$/)
    expect((await documentsOf(id)).map(({ filename }) => filename)).toEqual([documents[0]?.filename])
    page.edited = new Date(Date.parse(page.edited) + 60_000).toISOString()
    const named = await importAll(id, { [page.id]: 'By hand' })
    expect((await documentsOf(id)).map(({ filename }) => filename)).toEqual([named.documents[0]?.filename])
    expect(named.documents[0]?.filename).toMatch(/^By hand~/)
    place.pages.clear()
  })

  test('fails as not-configured without a token', async () => {
    const id = await add({ ...place, metadata: { provider: 'notion' } })
    await expect(pagesOf(id)).rejects.toMatchObject({ code: 'not-configured' })
    await expect(sources().test(ADA, spaceId, id)).rejects.toMatchObject({ code: 'not-configured' })
  })
})

const gitMissing = findMissingGit()
if (gitMissing !== undefined) console.info(`git: skipped, ${gitMissing}`)
describe.skipIf(gitMissing !== undefined)('a source of Git', () => {
  let place: GitServer
  beforeAll(async () => {
    place = await startGit()
  })
  afterAll(() => place.end())

  test('lists regular Markdown files with the time of the commit that last changed them', async () => {
    await place.put('docs/a.md', '# A\n\nFirst.')
    await place.put('docs/deep/b.markdown', '# B\n\nSecond.')
    await place.put('other/c.md', '# C\n\nThird.')
    await place.put('docs/a.md', '# A\n\nFirst, again.')
    await place.put('docs/code.ts', 'no page')
    symlinkSync('/etc/passwd', join(place.folder, 'docs', 'passwd.md'))
    writeFileSync(join(place.folder, '.gitmodules'), '[submodule "m"]\n\tpath = m.md\n\turl = http://127.0.0.1:9/\n')
    place.git('update-index', '--add', '--cacheinfo', `160000,${'1'.repeat(40)},m.md`)
    place.git('add', 'docs/passwd.md', '.gitmodules')
    place.git('commit', '-q', '-m', 'links')
    const whole = await pagesOf(await add(place))
    expect(whole.map(({ pageId, lastEditedTime, workspaceId }) => [pageId, lastEditedTime, workspaceId])).toEqual([
      ['docs/a.md', '2026-01-01T05:00:00.000Z', 'main'],
      ['docs/deep/b.markdown', '2026-01-01T03:00:00.000Z', 'main'],
      ['other/c.md', '2026-01-01T04:00:00.000Z', 'main'],
    ])
    const folder = await add(place, { parameters: { folder: 'docs' } })
    expect((await pagesOf(folder)).map(({ pageId }) => pageId)).toEqual(['docs/a.md', 'docs/deep/b.markdown'])
    const { documents } = await importAll(folder)
    expect(documents.map(({ filename }) => filename)).toEqual(['docs/a.md', 'docs/deep/b.markdown'])
    // No repository data remains outside the documents.
    const work = join(home.dataDir, 'tmp', 'sources')
    expect(existsSync(work) ? readdirSync(work) : []).toEqual([])
  })

  test('reads the configured branch, reports an unknown branch, and rejects invalid branches and folders', async () => {
    place.git('switch', '-q', '-c', 'next')
    await place.put('next.md', '# Next\n\nOnly here.')
    place.git('switch', '-q', 'main')
    const next = await pagesOf(await add(place, { parameters: { branch: 'next' } }))
    expect(next.find(({ pageId }) => pageId === 'next.md')).toMatchObject({ workspaceId: 'next' })
    const none = await add(place, { parameters: { branch: 'none' } })
    await expect(pagesOf(none)).rejects.toMatchObject({ message: expect.stringContaining('the branch does not exist') })
    for (const parameters of [
      { branch: '--upload-pack=id' },
      { branch: '../x' },
      { folder: '../x' },
      { folder: '/x' },
      { depth: 1 },
    ])
      await expect(add(place, { parameters }), JSON.stringify(parameters)).rejects.toMatchObject({
        code: 'invalid-request',
      })
  })

  test('follows a moved repository without sending credentials to the new host', async () => {
    const moved = await startSite()
    const refs = '/info/refs?service=git-upload-pack'
    moved.pages.set(`/old.git${refs}`, redirect(`${place.uri}${refs}`, 301))
    const id = await add({ ...place, uri: `${moved.url}/old.git` })
    await expect(pagesOf(id)).rejects.toMatchObject({ message: expect.stringContaining('(answered 401)') })
    await moved.end()
  })

  test('reports a response that is no repository, and a broken repository', async () => {
    const site = await startSite({ '/x.git/info/refs?service=git-upload-pack': 'hello' })
    const id = await add({ ...place, uri: `${site.url}/x.git` })
    await expect(pagesOf(id)).rejects.toMatchObject({ message: expect.stringContaining('not from git') })
    expect(await sources().test(ADA, spaceId, id)).toEqual({ valid: false, error: 'a response that is not from git' })
    const line = (text: string) => (text.length + 4).toString(16).padStart(4, '0') + text
    const evil = 'refs/heads/../../../../../ks-evil-marker'
    const head = `${'1'.repeat(40)} HEAD\0side-band-64k shallow symref=HEAD:${evil}\n`
    site.pages.set('/x.git/info/refs?service=git-upload-pack', (_request, response) => {
      response.setHeader('content-type', 'application/x-git-upload-pack-advertisement')
      response.end(`${line('# service=git-upload-pack\n')}0000${line(head)}${line(`${'1'.repeat(40)} ${evil}\n`)}0000`)
    })
    site.pages.set('/x.git/git-upload-pack', (_request, response) => response.end('0008NAK\nPACKgarbage'))
    await expect(pagesOf(id)).rejects.toMatchObject({ code: 'connector-failed' })
    expect(existsSync(join(home.dataDir, '..', 'ks-evil-marker'))).toBe(false)
    await site.end()
  })
})

describe('a source of S3', () => {
  test('lists buckets and folders page by page, and imports equal keys of two buckets separately', async () => {
    const place = await startS3()
    await place.client.send(new CreateBucketCommand({ Bucket: 'more' }))
    const put = (Bucket: string, Key: string) =>
      place.client.send(new PutObjectCommand({ Bucket, Key, Body: `# ${Bucket} ${Key}` }))
    for (const key of ['same.md', 'a/same.md', 'a/b/deep.md', 'a/other.md']) await put('docs', key)
    await put('more', 'same.md')
    const id = await add({ ...place, uri: `${place.endpoint}/` })
    expect((await filesOf(id)).map(({ bucket }) => bucket).sort()).toEqual(['docs', 'more'])
    const [top] = await filesOf(id, { bucket: 'docs' })
    expect(top).toMatchObject({
      isTruncated: false,
      files: [{ id: 'a/', name: 'a', type: 'folder' }, { id: 'same.md' }],
    })
    expect(await filesOf(id, { bucket: '' })).toHaveLength(2)
    const folder = await add({ ...place, uri: `${place.endpoint}/docs/a/` })
    expect(await sources().test(ADA, spaceId, folder)).toEqual({ valid: true })
    for (const none of [{}, { prefix: '' }, { bucket: '', prefix: '' }])
      expect((await filesOf(folder, none))[0]?.files.map((file) => file.id)).toEqual([
        'a/b/',
        'a/other.md',
        'a/same.md',
      ])
    const [below] = await filesOf(id, { bucket: 'docs', prefix: 'a/', maxKeys: 2 })
    expect(below).toMatchObject({ isTruncated: true })
    expect(below?.files).toHaveLength(2)
    const files = [
      { id: 'same.md', name: 'same.md', bucket: 'docs' },
      { id: 'same.md', name: 'same.md', bucket: 'more' },
      { id: 'a/same.md', name: 'same.md', bucket: 'docs' },
      { id: 'a/other.md', name: 'renamed.md', bucket: 'docs' },
      { id: 'same.md', name: 'same.md' },
    ]
    const done = await sources().importFiles(ADA, spaceId, id, { files })
    expect(done.documents.map(({ filename }) => filename)).toEqual([
      'docs/same.md',
      'more/same.md',
      'docs/a/same.md',
      expect.stringMatching(/^docs\/a\/renamed~[0-9a-f]{16}\.md$/),
    ])
    expect(done.failed).toEqual([{ filename: 'same.md', error: 'has no bucket' }])
    const again = await sources().importFiles(ADA, spaceId, id, { files })
    expect(again.documents).toEqual(done.documents)
    expect(await documentsOf(id)).toHaveLength(4)
    await place.end()
  })

  test('F43: tries a busy server three times, and stores no document of a truncated or changed body', async () => {
    let busy = 2
    const hits: string[] = []
    const server = createServer((request, response) => {
      hits.push(request.url ?? '')
      if (busy-- > 0)
        return void response.writeHead(503).end('<Error><Code>SlowDown</Code><Message>x</Message></Error>')
      if (request.url?.includes('short')) {
        response.writeHead(200, { 'content-length': '100' })
        response.write('only this', () => response.destroy())
        return
      }
      if (request.url?.includes('wrong')) response.setHeader('x-amz-checksum-crc32', 'AAAAAA==')
      response.end('# Whole\n\nThe whole file.')
    })
    await new Promise<void>((done) => server.listen(0, '127.0.0.2', done))
    const { port } = server.address() as AddressInfo
    const metadata = { provider: 's3', credentials: { accessKeyId: 'a', secretAccessKey: 'b' } }
    const id = await add({ type: 'object-storage', uri: `http://127.0.0.2:${port}/docs/`, metadata })
    const file = (name: string) => ({ id: name, name })
    const done = await sources().importFiles(ADA, spaceId, id, { files: [file('whole.md')] })
    expect(done.documents).toHaveLength(1)
    expect(hits).toHaveLength(3)
    busy = 100
    hits.length = 0
    await expect(sources().importFiles(ADA, spaceId, id, { files: [file('a.md')] })).rejects.toMatchObject({
      code: 'connector-failed',
      message: expect.stringMatching(/answered 503$/),
    })
    expect(hits).toHaveLength(3)
    busy = 0
    const broken = await sources().importFiles(ADA, spaceId, id, {
      files: ['short.md', 'wrong.md', 'whole.md'].map(file),
    })
    expect(broken.documents).toHaveLength(1)
    expect(broken.failed.map(({ filename }) => filename)).toEqual(['short.md', 'wrong.md'])
    expect(await documentsOf(id)).toHaveLength(1)
    server.closeAllConnections()
    server.close()
  })
})

const davMissing = findMissingWebdav()
if (davMissing !== undefined) console.info(`webdav: skipped, ${davMissing}`)
describe.skipIf(davMissing !== undefined)('a source of WebDAV', () => {
  test('lists and imports files with unusual names, and fails a file above the size limit', async () => {
    const place = await startWebdav()
    const names = ['a b.md', 'c#d?.md', '100%.md', 'größe.md', 'sub folder/inner.md', "q'uote&amp;.md"]
    for (const name of names) await place.put(name, `# ${name}\n\nText.`)
    mkdirSync(join(place.folder, 'empty'))
    writeFileSync(join(place.folder, 'huge.bin'), '')
    truncateSync(join(place.folder, 'huge.bin'), 65 * 1024 * 1024)
    const id = await add(place)
    const [top] = await filesOf(id)
    expect(top?.files.map(({ id: file, type }) => `${type} ${file}`)).toEqual([
      'file 100%.md',
      'file a b.md',
      'file c#d?.md',
      'folder empty/',
      'file größe.md',
      'file huge.bin',
      "file q'uote&amp;.md",
      'folder sub folder/',
    ])
    const [inner] = await filesOf(id, { prefix: 'sub folder/' })
    expect(inner?.files.map((file) => file.id)).toEqual(['sub folder/inner.md'])
    expect((await filesOf(id, { prefix: 'a' }))[0]?.files.map((file) => file.id)).toEqual(['a b.md'])
    expect((await filesOf(id, { maxKeys: 2 }))[0]).toMatchObject({ isTruncated: true, files: [{}, {}] })
    const files = [...names, 'huge.bin'].map((name) => ({ id: name, name: name.split('/').at(-1) ?? '' }))
    const done = await sources().importFiles(ADA, spaceId, id, { files })
    expect(done.documents.map(({ filename }) => filename)).toEqual(names)
    expect(done.failed).toEqual([{ filename: 'huge.bin', error: expect.stringContaining('over the limit') }])
    expect(await filesOf(id, { bucket: '' })).toHaveLength(1)
    await expect(filesOf(id, { bucket: 'x' })).rejects.toMatchObject({ code: 'invalid-request' })
    await place.end()
  })
})
