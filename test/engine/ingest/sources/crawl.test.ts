import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { SourceSync } from '../../../../src/engine/ingest/sources/sync.js'
import { ADA, BOB, startEngine, type TestEngine } from '../../../helpers/engine.js'
import { countTurnsDuring } from '../../../helpers/event-loop.js'
import { watchStarts } from '../../../helpers/services.js'
import { type PageHandler, page, redirect, type Site, startSite } from '../../../helpers/site.js'
import { until } from '../../../helpers/until.js'

const services = watchStarts()
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
const add = async (uri: string, metadata: Record<string, unknown> = {}) =>
  (await sources().create(ADA, spaceId, { name: 'Site', type: 'web', uri, permissionScope: [], metadata })).id
const counts = async (id: string) => {
  const { pages: _, ...rest } = await sources().crawl(ADA, spaceId, id)
  return rest
}
const documentsOf = async (id: string) => {
  const all = []
  let cursor: string | undefined
  do {
    const found = await home.engine.documents.list(ADA, spaceId, { limit: 100, cursor })
    all.push(...found.items)
    cursor = found.nextCursor
  } while (cursor !== undefined)
  return all.filter(({ sourceId }) => sourceId === id)
}
const tally = (imported: number, replaced: number, skipped: number, failed: number) => {
  const completed = imported + replaced + skipped
  return { status: 'completed', total: completed + failed, completed, failed, imported, replaced, skipped }
}

test('pages of a large site are imported up to the limit of 200, skipped if unchanged, and replaced if changed', {
  timeout: 120_000,
}, async () => {
  site = await startSite()
  const names = Array.from({ length: 300 }, (_, n) => `/docs/p${n}.html`)
  site.pages.set('/docs/', page('Start', 'The start of three hundred pages.', names))
  for (const [n, name] of names.entries())
    site.pages.set(name, page(`Page ${n}`, `Tide table number ${n} of the harbour.`, ['/docs/', './p1.html#x']))
  const id = await add(`${site.url}/docs/`)
  expect(await counts(id)).toEqual(tally(200, 0, 0, 0))
  expect(await counts(id)).toEqual(tally(0, 0, 200, 0))
  const before = await documentsOf(id)
  expect(before).toHaveLength(200)
  expect(before.every(({ parserStatus }) => parserStatus === 'parsed')).toBe(true)
  for (const n of [3, 4, 5]) site.pages.set(`/docs/p${n}.html`, page(`Page ${n}`, `A new tide table ${n}.`))
  expect(await counts(id)).toEqual(tally(0, 3, 197, 0))
  const after = await documentsOf(id)
  expect(after).toHaveLength(200)
  expect(after.map(({ id }) => id).sort()).toEqual(before.map(({ id }) => id).sort())
  expect(after.filter(({ version }) => version === 2)).toHaveLength(3)
  const { metadata } = await sources().get(ADA, spaceId, id)
  const crawled = metadata.crawled as Record<string, { documentAssetId: string; sha256: string }>
  expect(Object.keys(crawled)).toHaveLength(200)
  const changed = after.find(({ filename }) => filename === 'docs/p3.html')!
  expect(crawled[`${site.url}/docs/p3.html`]).toEqual({
    documentAssetId: changed.id,
    sha256: changed.sha256,
    hasNextFile: false,
  })
  const wide = await add(`${site.url}/docs/`, { parameters: { maxPages: 500 } })
  expect(await counts(wide)).toEqual(tally(301, 0, 0, 0))
})

test('two crawls of a site with robots rules, copies, redirects and errors count each page once', async () => {
  site = await startSite()
  const set = (path: string, links: string[] = [], head = '') =>
    site.pages.set(path, page(path, `This is the page ${path}.`, links, head))
  const links = [
    'a.html',
    'copy.html',
    'old',
    'loop1',
    'gone.html',
    'private/x.html',
    '/elsewhere.html',
    'pic.png',
    'mailto:a@b.c',
    'a.html?x=1',
  ]
  set('/d/', links)
  set('/d/a.html', ['/d/', 'https://example.com/'])
  set('/d/a.html?x=1', [], '<link rel="canonical" href="a.html">')
  set('/d/copy.html', [], '<link rel="canonical" href="/d/original.html">')
  set('/d/original.html')
  set('/d/mapped.html')
  set('/d/private/x.html')
  set('/elsewhere.html')
  site.pages.set('/d/old', redirect('/d/new.html', 301))
  set('/d/new.html')
  site.pages.set('/d/loop1', redirect('/d/loop2'))
  site.pages.set('/d/loop2', redirect('/d/loop1'))
  site.pages.set('/d/pic.png', (_request, response) => response.setHeader('content-type', 'image/png').end('png'))
  site.pages.set('/robots.txt', `User-agent: *\nDisallow: /d/private/\nSitemap: ${site.url}/map.xml\n`)
  site.pages.set(
    '/map.xml',
    `<urlset><url><loc>${site.url}/d/mapped.html</loc></url><url><loc>${site.url}/d/gone2.html</loc></url></urlset>`,
  )
  const id = await add(`${site.url}/d/`)
  // Imported: d/, a, original, mapped, new; failed: gone, gone2, loop1.
  expect(await counts(id)).toEqual(tally(5, 0, 0, 3))
  expect(await counts(id)).toEqual(tally(0, 0, 5, 3))
  expect(site.hits).not.toContain('/d/private/x.html')
  expect(site.hits).not.toContain('/elsewhere.html')
  const { metadata } = await sources().get(ADA, spaceId, id)
  const { failures } = metadata.sync as { failures: { url: string; error: string }[] }
  expect(failures.map(({ url, error }) => [url.slice(site.url.length), error]).sort()).toEqual([
    ['/d/gone.html', 'answered 404'],
    ['/d/gone2.html', 'answered 404'],
    ['/d/loop1', 'more than 5 redirects'],
  ])
})

test('a crawl of 300 addresses, among them loops, copies and errors, gives the same counts when repeated', {
  timeout: 120_000,
}, async () => {
  site = await startSite()
  const at = (name: string | number) => `/docs/p${name}.html`
  const fine = (name: string | number, text = `Tide table ${name} of the harbour.`, links: string[] = [], head = '') =>
    site.pages.set(at(name), page(`Page ${name}`, text, links, head))
  const each = (from: number, to: number, make: (n: number) => unknown) => {
    for (let n = from; n < to; n++) make(n)
  }
  const broken: PageHandler = (_request, response) => response.writeHead(500).end()
  const links = Array.from({ length: 300 }, (_, n) => (n >= 270 && n < 280 ? `/docs/private/${n}` : at(n)))
  site.pages.set('/docs/', page('Start', 'The start of every kind of page.', [...links, './p1.html', `${at(1)}#x`]))
  each(0, 200, (n) => fine(n, undefined, ['/docs/', at((n + 1) % 200)]))
  each(200, 220, (n) => site.pages.set(at(n), redirect(at(n - 200), 301)))
  each(220, 230, (n) => site.pages.set(at(n), redirect(at(`moved-${n}`), 308)))
  each(220, 230, (n) => fine(`moved-${n}`))
  each(230, 240, (n) => site.pages.set(at(n), redirect(at(n % 2 === 0 ? n + 1 : n - 1))))
  each(240, 250, (n) => fine(n, 'A copy.', [], `<link rel="canonical" href="${at(n - 240)}">`))
  // 250 to 260 do not exist.
  each(260, 265, (n) => site.pages.set(at(n), broken))
  each(265, 270, (n) => site.pages.set(at(n), (request) => request.socket.destroy()))
  each(270, 280, (n) => site.pages.set(`/docs/private/${n}`, page('Private', 'Not for crawlers.')))
  each(280, 290, (n) => site.pages.set(at(n), redirect(n % 2 === 0 ? '/elsewhere.html' : 'http://127.0.0.1:9/')))
  each(290, 300, (n) => fine(n, 'Ten addresses, one text.'))
  site.pages.set('/robots.txt', 'User-agent: *\nDisallow: /docs/private/\n')
  site.pages.set('/elsewhere.html', page('Elsewhere', 'Beside the source.'))
  const id = await add(`${site.url}/docs/`, { parameters: { maxPages: 1000 } })
  // The start, 200 pages, 10 moved ones, 10 with the same text; loops, missing, broken, truncated and internal ones.
  const pages = 1 + 200 + 10 + 10
  const failures = 10 + 10 + 5 + 5 + 5
  expect(await counts(id)).toEqual(tally(pages, 0, 0, failures))
  expect(await counts(id)).toEqual(tally(0, 0, pages, failures))
  expect(site.hits.filter((path) => path.startsWith('/docs/private/'))).toEqual([])
  each(0, 7, (n) => fine(n, `A new tide table ${n}.`))
  each(260, 263, (n) => fine(n))
  each(100, 102, (n) => site.pages.set(at(n), broken))
  expect(await counts(id)).toEqual(tally(3, 7, pages - 9, failures - 1))
  expect(await counts(id)).toEqual(tally(0, 0, pages + 1, failures - 1))
  expect(await documentsOf(id)).toHaveLength(pages + 3)
})

test('F42: a broken page keeps its document, and an unreachable site fails the crawl', async () => {
  site = await startSite({
    '/': page('Start', 'Home of things.', ['/b.html']),
    '/b.html': page('B', 'The second page.'),
  })
  const id = await add(`${site.url}/`)
  expect(await counts(id)).toEqual(tally(2, 0, 0, 0))
  site.pages.set('/b.html', (_request, response) => response.writeHead(500).end())
  expect(await counts(id)).toEqual(tally(0, 0, 1, 1))
  expect(await documentsOf(id)).toHaveLength(2)
  site.pages.set('/robots.txt', (_request, response) => response.writeHead(503).end())
  await expect(counts(id)).rejects.toMatchObject({
    code: 'crawl-failed',
    message: expect.stringContaining('robots.txt answered 503'),
  })
  expect(await sources().get(ADA, spaceId, id)).toMatchObject({
    status: 'error',
    metadata: { syncState: { lastSyncStatus: 'error', lastSyncError: 'robots.txt answered 503' } },
  })
  expect(await documentsOf(id)).toHaveLength(2)
  site.pages.delete('/robots.txt')
  expect(await counts(id)).toEqual(tally(0, 0, 1, 1))
  expect((await sources().get(ADA, spaceId, id)).status).toBe('active')
})

test('two concurrent crawl requests share one crawl, and a disabled source is not crawled', async () => {
  site = await startSite({ '/': page('Start', 'Home of shared things.') })
  const id = await add(`${site.url}/`)
  expect(await Promise.all([counts(id), counts(id)])).toEqual([tally(1, 0, 0, 0), tally(1, 0, 0, 0)])
  await sources().update(ADA, spaceId, id, { status: 'disabled' })
  await expect(counts(id)).rejects.toMatchObject({ code: 'invalid-request' })
})

test('disabling a source ends its crawl', async () => {
  site = await startSite({ '/': () => undefined })
  const id = await add(`${site.url}/`)
  const crawl = expect(counts(id)).rejects.toMatchObject({ code: 'crawl-failed' })
  await until(() => site.hits.includes('/'))
  expect((await sources().get(ADA, spaceId, id)).status).toBe('syncing')
  expect((await sources().update(ADA, spaceId, id, { status: 'disabled' })).status).toBe('disabled')
  await crawl
})

test('a source is synced at its planned time, not earlier, and not while it is disabled', async () => {
  site = await startSite({ '/': page('Start', 'Home of timely things.') })
  const id = await add(`${site.url}/`, { syncPolicy: { everyHours: 2 } })
  const off = await add(`${site.url}/`, { syncPolicy: { everyHours: 1 } })
  await sources().update(ADA, spaceId, off, { status: 'disabled' })
  const stateOf = async () => (await sources().get(ADA, spaceId, id)).metadata.syncState as Record<string, string>
  expect(await stateOf()).toEqual({ nextSyncAt: new Date(now + 2 * 3_600_000).toISOString() })
  now += 2 * 3_600_000 - 1000
  await services.last(SourceSync).drain()
  expect(site.hits).toEqual([])
  now += 2000
  await until(async () => (await stateOf()).lastSyncStatus === 'ok')
  const done = await stateOf()
  expect(Date.parse(done.nextSyncAt!) - now).toBe(2 * 3_600_000)
  // No sync repeats while the clock stands still or after a restart; a clock set back by a year moves the plan back.
  await home.reopen()
  now -= 365 * 24 * 3_600_000
  await until(async () => Date.parse((await stateOf()).nextSyncAt!) - now === 2 * 3_600_000)
  expect(site.hits.filter((path) => path === '/')).toHaveLength(1)
  expect((await sources().get(ADA, spaceId, off)).metadata.syncState).not.toHaveProperty('lastSyncAt')
})

test('deleting a source deletes or keeps its documents as requested; other tenants cannot see the source', async () => {
  site = await startSite({
    '/': page('Start', 'Home of lost things.', ['/b.html']),
    '/b.html': page('B', 'Lost page.'),
  })
  const id = await add(`${site.url}/`)
  await counts(id)
  await expect(sources().get(BOB, spaceId, id)).rejects.toMatchObject({ code: 'not-found' })
  await expect(sources().delete(BOB, spaceId, id, { documents: 'cascade' })).rejects.toMatchObject({
    code: 'not-found',
  })
  const kept = await documentsOf(id)
  await sources().delete(ADA, spaceId, id, { documents: 'keep' })
  for (const one of kept) {
    const document = await home.engine.documents.get(ADA, spaceId, one.id)
    expect(document.sourceId).toBeUndefined()
  }
  const second = await add(`${site.url}/`)
  await counts(second)
  const gone = await documentsOf(second)
  expect(gone).toHaveLength(2)
  await sources().delete(ADA, spaceId, second, { documents: 'cascade' })
  await expect(sources().get(ADA, spaceId, second)).rejects.toMatchObject({ code: 'not-found' })
  for (const one of gone)
    await expect(home.engine.documents.get(ADA, spaceId, one.id)).rejects.toMatchObject({ code: 'not-found' })
})

test('a site whose robots.txt and pages are expensive to process does not block other work', {
  timeout: 180_000,
}, async () => {
  const rules = Array.from({ length: 2000 }, (_, n) => `Disallow: /*${'ab*'.repeat(60)}${n}$`)
  const links = Array.from({ length: 5000 }, (_, n) => `/${'ab'.repeat(900)}/${n}.html`)
  site = await startSite({
    '/': page('Start', 'A page of many links.', links),
    '/robots.txt': `User-agent: *\n${rules.join('\n')}\n`,
  })
  const id = await add(`${site.url}/`, { parameters: { maxPages: 2 } })
  const turns = await countTurnsDuring(async () => {
    expect(await counts(id)).toMatchObject({ imported: 1, failed: 1 })
  })
  expect(turns).toBeGreaterThan(20)
})

test('a page with a base address of a megabyte and 5,000 links is crawled', async () => {
  const base = `<base href="/${'x'.repeat(1_000_000)}/">`
  const links = Array.from({ length: 5000 }, (_, n) => `${n}.html`)
  site = await startSite({ '/': page('Start', 'A page with a long base.', links, base) })
  site.pages.set('/1.html', page('One', 'Found all the same.'))
  const id = await add(`${site.url}/`, { parameters: { maxPages: 3 } })
  expect(await counts(id)).toMatchObject({ status: 'completed', imported: 2 })
})

test('a page that disappeared loses its document; an unreachable page keeps its document and lastSeenAt', async () => {
  site = await startSite({
    '/': page('Start', 'Home of pages that go.', ['/linked.html', '/unlinked.html', '/broken.html', '/kept.html']),
    ...Object.fromEntries(
      ['linked', 'unlinked', 'broken', 'kept'].map((name) => [`/${name}.html`, page(name, `The page ${name}.`)]),
    ),
  })
  const id = await add(`${site.url}/`)
  expect(await counts(id)).toEqual(tally(5, 0, 0, 0))
  const first = now
  const seenAt = async () =>
    Object.fromEntries((await documentsOf(id)).map(({ filename, metadata }) => [filename, metadata.lastSeenAt]))
  now += 3_600_000
  site.pages.delete('/linked.html')
  site.pages.set('/unlinked.html', (_request, response) => response.writeHead(410).end())
  site.pages.set('/broken.html', (_request, response) => response.writeHead(503).end())
  site.pages.set('/', page('Start', 'Home of pages that go.', ['/linked.html', '/broken.html']))
  expect(await counts(id)).toEqual(tally(0, 1, 0, 2))
  const times = await seenAt()
  expect(
    Object.keys(times)
      .filter((name) => !name.startsWith('index'))
      .sort(),
  ).toEqual(['broken.html', 'kept.html'])
  expect(times['kept.html']).toBe(new Date(now).toISOString())
  expect(times['broken.html']).toBe(new Date(first).toISOString())
})

test('a missing page keeps its document for as many crawls as allowed; its return restarts the count', async () => {
  site = await startSite({
    '/': page('Start', 'Home of a page that comes back.', ['/b.html']),
    '/b.html': page('B', 'The page that comes back.'),
  })
  const id = await add(`${site.url}/`, { parameters: { missingAfter: 2 } })
  await counts(id)
  const missing = async () => (await documentsOf(id)).map(({ metadata }) => metadata.missingCrawls ?? 0)
  const text = site.pages.get('/b.html') ?? ''
  site.pages.delete('/b.html')
  await counts(id)
  expect((await missing()).sort()).toEqual([0, 1])
  site.pages.set('/b.html', text)
  await counts(id)
  expect(await missing()).toEqual([0, 0])
  site.pages.delete('/b.html')
  await counts(id)
  await counts(id)
  expect(await documentsOf(id)).toHaveLength(1)
})
