import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { crawlSource } from '../../../../src/engine/ingest/sources/crawl-source.js'
import { testSource } from '../../../../src/engine/ingest/sources/test-source.js'
import { readRobots, readSitemaps } from '../../../../src/engine/ingest/sources/web/seeds.js'
import { createVisitor, type StoredSite } from '../../../../src/engine/ingest/sources/web/visit.js'
import { EgressFailure } from '../../../../src/engine/models/egress/failure.js'
import type { SourceRow } from '../../../../src/engine/store/rows/sources.js'
import { FakeSite, openSmallSources, type SiteResponse, type SmallSources } from './small-source.js'

const AT = 'https://site.example'
const page = (text: string, ...links: string[]) =>
  `<title>${text}</title><body><p>${text}</p>${links.map((link) => `<a href="${link}">x</a>`).join('')}`
const NOTHING_KEPT: StoredSite = { validators: () => undefined, page: async () => undefined }
const signal = new AbortController().signal

/** A reader thread that records its calls and returns what the test gives. */
function reading(answers: Record<string, unknown> = {}) {
  const asked: [string, ...unknown[]][] = []
  const ask = async (what: string, ...told: unknown[]) => {
    asked.push([what, ...told.map((one) => (one instanceof Uint8Array ? Buffer.from(one).toString() : one))])
    const answer = answers[what]
    return typeof answer === 'function' ? answer(...told) : answer
  }
  return { asked, thread: { call: ask, close: async () => undefined } as never }
}
const access = (fetch: FakeSite, kept = NOTHING_KEPT) => ({ fetch, credentials: { authorization: 'x' }, signal, kept })

describe('robots.txt', () => {
  const robots = (
    answer: SiteResponse | Error,
    told: unknown = { startAllowed: true, sitemaps: ['m'], delayMs: 7 },
  ) => {
    const { asked, thread } = reading({ robots: told })
    const site = new FakeSite({ [`${AT}/robots.txt`]: answer })
    return { asked, read: () => readRobots(`${AT}/docs/`, thread, access(site)), site }
  }

  it('gets requested at the root of the site with the credentials of the source', async () => {
    const { asked, read, site } = robots('User-agent: *')
    expect(await read()).toEqual({ sitemaps: ['m'], delayMs: 7 })
    expect(asked).toEqual([['robots', 'User-agent: *']])
    expect(site.asked).toEqual([{ url: `${AT}/robots.txt`, credentials: { authorization: 'x' } }])
  })

  it.each([300, 301, 400, 404, 428])('allows everything after status %i', async (status) => {
    const { asked, read } = robots({ status })
    expect(await read()).toEqual({ sitemaps: [], delayMs: 0 })
    expect(asked).toEqual([])
  })

  it.each([429, 500, 503])('forbids everything for now after status %i', async (status) => {
    await expect(robots({ status }).read()).rejects.toThrow(new EgressFailure(`robots.txt answered ${status}`))
  })

  it('fails the crawl if it forbids the address of the source', async () => {
    const { read } = robots('x', { startAllowed: false, sitemaps: [], delayMs: 0 })
    await expect(read()).rejects.toThrow(new EgressFailure('robots.txt does not allow its address'))
  })
})

describe('site maps', () => {
  const maps = async (
    named: string[],
    pages: Record<string, SiteResponse | Error>,
    further: Record<string, string[]> = {},
  ) => {
    const { asked, thread } = reading({ sitemap: (body: Uint8Array) => further[Buffer.from(body).toString()] ?? [] })
    const site = new FakeSite(pages)
    await readSitemaps(`${AT}/docs/`, named, thread, access(site))
    return { read: asked.map(([, body]) => body), urls: site.urls() }
  }

  it('come from robots.txt, or from the default address', async () => {
    expect(await maps(['m1', 'm2', 'm1'], { m1: 'one', m2: 'two' })).toEqual({
      read: ['one', 'two'],
      urls: ['m1', 'm2'],
    })
    expect(await maps([], { [`${AT}/sitemap.xml`]: 'usual' })).toEqual({ read: ['usual'], urls: [`${AT}/sitemap.xml`] })
  })

  it('may list further site maps, up to ten in total', async () => {
    const names = Array.from({ length: 14 }, (_, place) => `m${place}`)
    const { urls } = await maps(['m0'], Object.fromEntries(names.map((name) => [name, name])), { m0: names.slice(1) })
    expect(urls).toEqual(names.slice(0, 10))
  })

  it('add nothing when they are missing or fail', async () => {
    const pages = {
      gone: { status: 404, body: 'x' },
      part: { status: 206, body: 'x' },
      down: new EgressFailure('down'),
      m: 'good',
    }
    expect((await maps(['gone', 'part', 'down', 'm'], pages)).read).toEqual(['good'])
    await expect(maps(['m'], { m: new Error('a mistake') })).rejects.toThrow('a mistake')
  })
})

describe('a fetched page', () => {
  const URL_A = `${AT}/a`
  const waiting = [{ address: URL_A, depth: 1 }]
  const etag = { etag: '"1"' }
  const keptPage: StoredSite = {
    validators: () => etag,
    page: async () => ({ mediaType: 'text/plain', body: Buffer.from('kept') }),
  }
  const visit = async (site: FakeSite, kept = NOTHING_KEPT) => (await createVisitor(access(site, kept), 0)(waiting))[0]

  it('contains the body and the cache validators of the response', async () => {
    const site = new FakeSite({ [URL_A]: { body: 'text', headers: { etag: '"7"' } } })
    expect(await visit(site)).toMatchObject({
      ...{ address: URL_A, depth: 1 },
      fetched: { status: 200, isUnchanged: false, validators: { etag: '"7"' }, body: Buffer.from('text') },
    })
    expect(site.asked).toEqual([{ url: URL_A, credentials: { authorization: 'x' } }])
    expect(await visit(new FakeSite({ [URL_A]: { status: 203, body: 'text' } }))).toHaveProperty('fetched')
  })

  it.each([204, 206, 304, 404, 500])('becomes a failure after status %i', async (status) => {
    expect(await visit(new FakeSite({ [URL_A]: { status } }))).toEqual({
      ...{ address: URL_A, depth: 1, failure: `answered ${status}`, status },
    })
  })

  it('becomes a failure after a network error; an unexpected error is thrown', async () => {
    expect(await visit(new FakeSite({ [URL_A]: new EgressFailure('no route') }))).toEqual({
      ...{ address: URL_A, depth: 1, failure: 'no route' },
    })
    await expect(visit(new FakeSite({ [URL_A]: new Error('a mistake') }))).rejects.toThrow('a mistake')
  })

  it('equals the stored page after a conditional request with status 304', async () => {
    const site = new FakeSite({ [URL_A]: { status: 304, headers: { etag: 'W/"1"' } } })
    expect(await visit(site, keptPage)).toMatchObject({
      fetched: { status: 200, isUnchanged: true, validators: etag, mediaType: 'text/plain', body: Buffer.from('kept') },
    })
    expect(site.asked).toEqual([
      { url: URL_A, condition: { 'if-none-match': '"1"' }, credentials: { authorization: 'x' } },
    ])
  })

  it.each<[string, SiteResponse, Partial<StoredSite>]>([
    ['the stored bytes are missing', { status: 304 }, { page: async () => undefined }],
    ['the entity tag differs', { status: 304, headers: { etag: '"2"' } }, {}],
    ['another address answered', { status: 304, url: `${AT}/b` }, {}],
    ['the condition failed', { status: 412 }, {}],
  ])('comes from a second, unconditional request when %s', async (_, answer, changes) => {
    const site = new FakeSite({ [URL_A]: 'whole' })
    site.before = (_url, condition) => (condition === undefined ? undefined : answer)
    expect(await visit(site, { ...keptPage, ...changes })).toMatchObject({
      fetched: { isUnchanged: false, body: Buffer.from('whole') },
    })
    expect(site.asked.map(({ condition }) => condition !== undefined)).toEqual([true, false])
  })

  it('comes from the first response if the page has changed', async () => {
    const site = new FakeSite({ [URL_A]: { body: 'new', headers: { etag: '"2"' } } })
    expect(await visit(site, keptPage)).toMatchObject({
      fetched: { isUnchanged: false, validators: { etag: '"2"' }, body: Buffer.from('new') },
    })
    expect(site.asked).toHaveLength(1)
    site.pages.set(URL_A, { status: 404 })
    expect(await visit(site, keptPage)).toMatchObject({ status: 404 })
  })

  it('waits while four other pages are fetched, or for the delay that the site requests', async () => {
    const batch = Array.from({ length: 6 }, (_, place) => ({ address: `${AT}/${place}`, depth: 0 }))
    const most = async (delayMs: number) => {
      const site = new FakeSite()
      let going = 0
      let max = 0
      site.get = async (url) => {
        max = Math.max(max, ++going)
        await new Promise((resolve) => setImmediate(resolve))
        going--
        return { url, status: 200, mediaType: 'text/html', headers: {}, body: Buffer.from('x') }
      }
      const started = performance.now()
      const visits = await createVisitor(access(site), delayMs)(batch)
      expect(visits.map(({ address }) => address)).toEqual(batch.map(({ address }) => address))
      return { max, isPaced: performance.now() - started >= 6 * delayMs - 6 }
    }
    expect((await most(0)).max).toBe(4)
    expect(await most(10)).toEqual({ max: 1, isPaced: true })
  })
})

describe('a crawl', () => {
  let small: SmallSources
  let source: SourceRow
  let site: FakeSite
  beforeEach(async () => {
    small = await openSmallSources()
    source = await small.made({ uri: `${AT}/` })
    site = new FakeSite({
      [`${AT}/`]: page('start', '/a', '/b'),
      [`${AT}/a`]: page('first', '/'),
      [`${AT}/b`]: page('second'),
    })
  })
  afterEach(() => small.store.end())
  const crawl = () => crawlSource(small.place(small.again(source)), { fetch: site, credentials: {}, signal })
  const counts = async () => {
    const { imported, replaced, skipped, failures } = (await crawl()).counts
    return [imported, replaced, skipped, failures.length]
  }
  const names = () => small.documents().map(({ filename }) => filename)

  it('makes documents of new and changed pages, and none of unchanged pages', async () => {
    const first = await crawl()
    expect(first.counts).toEqual({ imported: 3, replaced: 0, skipped: 0, failures: [] })
    expect(first.pages.map(({ sourceUrl, title }) => [sourceUrl, title])).toEqual([
      [`${AT}/`, 'start'],
      [`${AT}/a`, 'first'],
      [`${AT}/b`, 'second'],
    ])
    expect(first.pages[1]?.content).toContain('first')
    expect(small.documents().map(({ parser_status }) => parser_status)).toEqual(['parsed', 'parsed', 'parsed'])
    expect(JSON.parse(small.documents()[1]?.metadata ?? '')).toMatchObject({ sourceUrl: `${AT}/a` })
    const before = small.documents().map(({ id }) => id)
    expect(await counts()).toEqual([0, 0, 3, 0])
    expect(small.documents().map(({ id }) => id)).toEqual(before)
    site.pages.set(`${AT}/a`, page('first, edited'))
    expect(await counts()).toEqual([0, 1, 2, 0])
    expect(names()).toHaveLength(3)
  })

  it('deletes documents of removed pages, and keeps documents of unreachable pages', async () => {
    await crawl()
    site.pages.set(`${AT}/a`, new EgressFailure('no route')).set(`${AT}/b`, { status: 410 })
    const { counts: second } = await crawl()
    expect(second.failures).toEqual([
      { url: `${AT}/a`, error: 'no route' },
      { url: `${AT}/b`, error: 'answered 410' },
    ])
    expect(names()).toHaveLength(2)
    site.pages.set(`${AT}/`, page('start, without links'))
    site.pages.set(`${AT}/a`, page('first', '/'))
    // The page exists although no other page links to it.
    expect(await counts()).toEqual([0, 1, 0, 0])
    expect(names()).toHaveLength(2)
    site.pages.delete(`${AT}/a`)
    expect(await counts()).toEqual([0, 0, 1, 0])
    expect(names()).toHaveLength(1)
  })

  it('fails with the reason of the first failure if no page could be read', async () => {
    site.pages.set(`${AT}/`, { status: 500 })
    await expect(crawl()).rejects.toThrow(new EgressFailure('answered 500'))
    site.pages.set(`${AT}/robots.txt`, 'User-agent: *\nDisallow: /')
    await expect(crawl()).rejects.toThrow('robots.txt does not allow its address')
    expect(names()).toEqual([])
  })

  it('respects the limits of pages and depth of its source', async () => {
    source = await small.made({ uri: `${AT}/`, metadata: { parameters: { maxPages: 2 } } })
    expect(await counts()).toEqual([2, 0, 0, 0])
    source = await small.made({ uri: `${AT}/`, metadata: { parameters: { maxDepth: 0 } } })
    expect(await counts()).toEqual([1, 0, 0, 0])
  })

  it('reports a page that cannot be compiled, keeps the previous document, and forgets the error when it is restored', async () => {
    source = await small.made({ uri: `${AT}/a.txt` })
    site.pages.set(`${AT}/a.txt`, { body: 'plain', mediaType: 'text/plain' })
    expect(await counts()).toEqual([1, 0, 0, 0])
    site.pages.set(`${AT}/a.txt`, { body: '!malformed', mediaType: 'text/plain' })
    await expect(crawl()).rejects.toThrow('is malformed')
    expect(names()).toEqual(['a.txt'])
    expect(small.documents()[0]?.parser_status).toBe('parsed')
    const errors = () => small.store.rows('SELECT error FROM documents')
    expect(errors()).toEqual([{ error: 'a.txt is malformed' }])
    site.pages.set(`${AT}/a.txt`, { body: 'plain', mediaType: 'text/plain' })
    expect(await counts()).toEqual([0, 0, 1, 0])
    expect(errors()).toEqual([{ error: null }])
  })

  it('sends conditional requests by stored validators, and reads the stored page after status 304', async () => {
    site.pages.set(`${AT}/`, { body: page('start', '/a', '/b'), headers: { etag: '"s"' } })
    await crawl()
    site.asked.length = 0
    site.before = (_, condition) => (condition?.['if-none-match'] === '"s"' ? { status: 304 } : undefined)
    expect(await counts()).toEqual([0, 0, 3, 0])
    expect(site.asked.find(({ url }) => url === `${AT}/`)?.condition).toEqual({ 'if-none-match': '"s"' })
  })

  it('can be checked by a test of its source, which sends the credentials and reports failures', async () => {
    source = await small.made({ uri: `${AT}/`, metadata: { credentials: { token: 't' } } })
    const test = () => testSource(small.parts, small.again(source), site, signal)
    expect(await test()).toEqual({ valid: true })
    expect(site.asked.at(-1)?.credentials).toEqual({ authorization: 'Bearer t' })
    for (const [status, result] of [
      [399, { valid: true }],
      [400, { valid: false, error: 'the site answered 400' }],
    ] as const) {
      site.pages.set(`${AT}/`, { status })
      expect(await test()).toEqual(result)
    }
    site.pages.set(`${AT}/`, new EgressFailure('no route'))
    expect(await test()).toEqual({ valid: false, error: 'no route' })
    site.pages.set(`${AT}/`, new Error('a mistake'))
    await expect(test()).rejects.toThrow('a mistake')
    source = await small.made({ uri: `${AT}/`, metadata: { credentials: { other: 't' } } })
    expect(await test()).toMatchObject({ valid: false })
    source = await small.made({ type: 'upload', uri: 'upload:x' })
    await expect(test()).rejects.toMatchObject({ code: 'not-configured' })
    source = await small.made({ metadata: { pluginId: 'another' } })
    await expect(test()).rejects.toMatchObject({ code: 'not-configured' })
  })
})
