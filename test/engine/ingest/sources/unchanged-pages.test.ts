import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { confirmsState, extractValidators } from '../../../../src/engine/models/egress/validators.js'
import { ADA, startEngine, type TestEngine } from '../../../helpers/engine.js'
import { type PageHandler, page, redirect, type Site, startSite } from '../../../helpers/site.js'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const HTML = { 'content-type': 'text/html; charset=utf-8' }

let home: TestEngine
let spaceId = ''
let site: Site
let now = Date.now()
beforeAll(async () => {
  home = await startEngine({ sources: { egressAllow: ['127.0.0.2'], tickMs: 20 }, now: () => now })
  spaceId = (await home.engine.spaces.create(ADA, { name: 'Web', slug: 'web' })).id
})
afterEach(() => site?.end())
afterAll(() => home.end())

const sources = () => home.engine.sources
const add = async (metadata: Record<string, unknown> = {}) =>
  (
    await sources().create(ADA, spaceId, {
      name: 'Site',
      type: 'web',
      uri: `${site.url}/`,
      permissionScope: [],
      metadata,
    })
  ).id
const crawl = async (id: string) => {
  now += HOUR
  const { imported, replaced, skipped, failed, pages } = await sources().crawl(ADA, spaceId, id)
  return { counts: { imported, replaced, skipped, failed }, pages }
}
const counts = (imported: number, replaced: number, skipped: number, failed = 0) => ({
  imported,
  replaced,
  skipped,
  failed,
})
const documentsOf = async (id: string) => {
  const { items } = await home.engine.documents.list(ADA, spaceId, { limit: 100 })
  return items.filter(({ sourceId }) => sourceId === id)
}
const pathsOf = async (id: string) =>
  (await documentsOf(id)).map(({ metadata }) => String(metadata.sourceUrl).slice(site.url.length)).sort()

interface Held {
  /** Responses by path: 200 or 304. */
  sent: string[]
  /** The conditions of each request. */
  asked: { path: string; tag: string | undefined; since: string | undefined }[]
}

/** Pages with entity tags, served like a correct server does. */
function tagged(held: Held, text: () => string, tag: () => string = () => `"${text().length}"`): PageHandler {
  return (request, response) => {
    const { 'if-none-match': asked, 'if-modified-since': since } = request.headers
    const path = request.url ?? ''
    held.asked.push({ path, tag: asked, since })
    const status = asked === tag() ? 304 : 200
    held.sent.push(`${path} ${status}`)
    response.writeHead(status, { ...HTML, etag: tag() }).end(status === 304 ? '' : text())
  }
}

const taken = (held: Held) => held.sent.splice(0).sort()

test('a crawl downloads no unchanged page, counts the page as skipped and seen, and follows its links', async () => {
  const held: Held = { sent: [], asked: [] }
  site = await startSite()
  const start = page('Start', 'The start of a site that rarely changes.', ['/a.html'])
  const a = page('A', 'The page in the middle.', ['/b.html'])
  let b = page('B', 'The tide is high.')
  site.pages.set(
    '/',
    tagged(held, () => start),
  )
  site.pages.set(
    '/a.html',
    tagged(
      held,
      () => a,
      () => 'W/"weak"',
    ),
  )
  site.pages.set(
    '/b.html',
    tagged(held, () => b),
  )
  const id = await add()
  expect((await crawl(id)).counts).toEqual(counts(3, 0, 0))
  expect(taken(held)).toEqual(['/ 200', '/a.html 200', '/b.html 200'])
  expect(held.asked.every(({ tag, since }) => tag === undefined && since === undefined)).toBe(true)

  const again = await crawl(id)
  expect(again.counts).toEqual(counts(0, 0, 3))
  expect(taken(held)).toEqual(['/ 304', '/a.html 304', '/b.html 304'])
  expect(again.pages.find(({ title }) => title === 'A')?.content).toContain('The page in the middle.')
  const seen = (await documentsOf(id)).map(({ metadata }) => metadata.lastSeenAt)
  expect(new Set(seen)).toEqual(new Set([new Date(now).toISOString()]))

  b = page('B', 'The tide is low, and the page longer.', ['/c.html'])
  site.pages.set('/c.html', page('C', 'A page that is new.'))
  expect((await crawl(id)).counts).toEqual(counts(1, 1, 2))
  expect(taken(held)).toEqual(['/ 304', '/a.html 304', '/b.html 200'])
  expect(await pathsOf(id)).toEqual(['/', '/a.html', '/b.html', '/c.html'])
})

test('If-Modified-Since is sent only for a modification time before the response that contained it', async () => {
  site = await startSite()
  const asked: (string | undefined)[] = []
  const old = new Date(Date.now() - DAY).toUTCString()
  let modified = new Date(Date.now() + 5000).toUTCString()
  site.pages.set('/', (request, response) => {
    const since = request.headers['if-modified-since']
    asked.push(since)
    const status = since === modified ? 304 : 200
    response.writeHead(status, { ...HTML, 'last-modified': modified }).end(page('Start', 'A page with a date.'))
  })
  const id = await add()
  await crawl(id)
  modified = old
  for (const _ of [1, 2]) expect((await crawl(id)).counts).toEqual(counts(0, 0, 1))
  expect(asked).toEqual([undefined, undefined, old])
})

test('a crawl downloads a page if its document was deleted or damaged, settings changed or a week passed', async () => {
  const held: Held = { sent: [], asked: [] }
  site = await startSite()
  site.pages.set(
    '/',
    tagged(held, () => page('Start', 'A page that stays what it is.')),
  )
  const id = await add()
  await crawl(id)
  const sent = async () => {
    held.sent.splice(0)
    const { counts: told } = await crawl(id)
    return { told, sent: taken(held) }
  }
  const kept = { told: counts(0, 0, 1), sent: ['/ 304'] }
  expect(await sent()).toEqual(kept)

  await sources().update(ADA, spaceId, id, { metadata: { credentials: { token: 'other' } } })
  expect(await sent()).toEqual({ told: counts(0, 0, 1), sent: ['/ 200'] })
  expect(await sent()).toEqual(kept)
  await sources().update(ADA, spaceId, id, { metadata: { parameters: { maxDepth: 3 } } })
  expect(await sent()).toEqual({ told: counts(0, 0, 1), sent: ['/ 200'] })

  const [document] = await documentsOf(id)
  const objects = readdirSync(join(home.dataDir, 'objects'), { recursive: true, withFileTypes: true })
  const object = objects.find(({ name }) => name === document?.sha256)
  const path = join(object?.parentPath ?? '', object?.name ?? '')
  rmSync(path)
  writeFileSync(path, 'damaged')
  expect(await sent()).toEqual({ told: counts(0, 0, 1), sent: ['/ 200', '/ 304'] })

  now += 7 * DAY
  expect(await sent()).toEqual({ told: counts(0, 0, 1), sent: ['/ 200'] })
  expect(await sent()).toEqual(kept)

  await home.engine.documents.delete(ADA, spaceId, [document?.id ?? ''])
  expect(await sent()).toEqual({ told: counts(1, 0, 0), sent: ['/ 200'] })
})

test('a 304 response that was not requested or is for another state of the page is not trusted', async () => {
  const held: Held = { sent: [], asked: [] }
  site = await startSite({
    '/': page('Start', 'Home of servers that err.', ['/empty.html', '/liar.html', '/moved.html']),
  })
  site.pages.set('/empty.html', (_request, response) => response.writeHead(304, { location: '/away.html' }).end())
  site.pages.set('/away.html', page('Away', 'Where an answer leads that leads nowhere.'))
  let text = page('Liar', 'The first state.')
  let tag = '"one"'
  site.pages.set('/liar.html', (request, response) => {
    const status = request.headers['if-none-match'] === undefined ? 200 : 304
    held.sent.push(String(status))
    response.writeHead(status, { ...HTML, etag: tag }).end(status === 200 ? text : '')
  })
  const moved = tagged(
    held,
    () => page('Moved', 'A page that moves.'),
    () => '"one"',
  )
  site.pages.set('/moved.html', moved)
  const id = await add()
  expect((await crawl(id)).counts).toEqual(counts(3, 0, 0, 1))
  expect(await pathsOf(id)).toEqual(['/', '/liar.html', '/moved.html'])

  held.sent.splice(0)
  text = page('Liar', 'The second state, of which the server says that nothing changed.')
  tag = '"two"'
  // The tag of a page does not apply to the page that it redirects to now.
  site.pages.set('/moved.html', redirect('/target.html'))
  site.pages.set(
    '/target.html',
    tagged(
      held,
      () => page('Target', 'Where it has moved.'),
      () => '"one"',
    ),
  )
  expect((await crawl(id)).counts).toEqual(counts(1, 1, 1, 1))
  expect(taken(held)).toEqual(['/target.html 200', '200', '304'])
  expect(await pathsOf(id)).toEqual(['/', '/liar.html', '/target.html'])
})

test('a partial or empty response for a page creates no document and replaces none', async () => {
  site = await startSite({ '/': page('Start', 'Home of half answers.', ['/a.html', '/b.html']) })
  site.pages.set('/a.html', page('A', 'The whole page A.'))
  site.pages.set('/b.html', page('B', 'The whole page B.'))
  const id = await add()
  await crawl(id)
  site.pages.set('/a.html', (_request, response) => response.writeHead(206, HTML).end('<p>half'))
  site.pages.set('/b.html', (_request, response) => response.writeHead(204, HTML).end())
  expect((await crawl(id)).counts).toEqual(counts(0, 0, 1, 2))
  expect(await pathsOf(id)).toEqual(['/', '/a.html', '/b.html'])
})

test('a page that became a copy or a picture loses its document, unless the original page is unreachable', async () => {
  const links = ['/a.html', '/b.html', '/c.html', '/original.html']
  site = await startSite({ '/': page('Start', 'Home of pages that become copies.', links) })
  const canonical = (of: string) => `<link rel="canonical" href="${of}">`
  const set = (path: string, head = '') => site.pages.set(path, page(path, `The text of ${path}.`, [], head))
  for (const path of links) set(path)
  const id = await add()
  await crawl(id)
  set('/a.html', canonical('/new-original.html'))
  set('/new-original.html')
  set('/b.html', canonical('/nowhere.html'))
  site.pages.set('/c.html', (_request, response) => response.setHeader('content-type', 'image/png').end('png'))
  await crawl(id)
  expect(await pathsOf(id)).toEqual(['/', '/b.html', '/new-original.html', '/original.html'])
})

test('a crawled page that no page links to anymore is updated as long as it exists', async () => {
  site = await startSite({ '/': page('Start', 'Home of an orphan.', ['/orphan.html', '/copy.html']) })
  site.pages.set('/orphan.html', page('Orphan', 'The old text.'))
  site.pages.set('/copy.html', page('Copy', 'To become a copy.'))
  const id = await add()
  await crawl(id)
  site.pages.set('/', page('Start', 'Home of nothing.'))
  site.pages.set('/orphan.html', page('Orphan', 'The new text.'))
  site.pages.set('/copy.html', page('Copy', 'A copy.', [], '<link rel="canonical" href="/original.html">'))
  site.pages.set('/original.html', page('Original', 'Known by its copy alone.'))
  const { counts: told, pages } = await crawl(id)
  expect(told).toEqual(counts(1, 2, 0))
  expect(pages.find(({ title }) => title === 'Orphan')?.content).toContain('The new text.')
  expect(await pathsOf(id)).toEqual(['/', '/original.html', '/orphan.html'])
  expect((await crawl(id)).counts).toEqual(counts(0, 0, 1))
})

test('cache validators of a response are used only if they are well-formed and reliable', () => {
  const date = 'Sun, 22 Nov 2026 16:00:10 GMT'
  const of = (etag: string, modified = '') => extractValidators({ etag, date, 'last-modified': modified })
  expect(of('"a"')).toEqual({ etag: '"a"' })
  expect(of('W/"a"', 'Sun, 22 Nov 2026 16:00:09 GMT')).toEqual({
    etag: 'W/"a"',
    lastModified: 'Sun, 22 Nov 2026 16:00:09 GMT',
  })
  for (const etag of ['*', '"a", "b"', 'a', '', 'w/"a"', '"a\nb"', `"${'x'.repeat(2000)}"`])
    expect(of(etag, date)).toBeUndefined()
  expect(confirmsState({ etag: '"a"' }, { etag: 'W/"a"' })).toBe(true)
  expect(confirmsState({ etag: '"a"' }, { etag: '"b"' })).toBe(false)
  expect(confirmsState({ etag: '"a"' }, {})).toBe(true)
  expect(confirmsState({ lastModified: 'Sun, 22 Nov 2026 16:00:09 GMT' }, { 'last-modified': date })).toBe(false)
})
