import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { ADA, startEngine, type TestEngine } from '../../../helpers/engine.js'
import { page, redirect, type Site, startSite } from '../../../helpers/site.js'

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
const crawl = async (id: string) => {
  await sources().crawl(ADA, spaceId, id)
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

test('a crawled page that now redirects to another page loses its document, whether linked or not', async () => {
  site = await startSite({
    '/': page('Start', 'Home of pages that move.', ['/linked.html', '/unlinked.html', '/kept.html']),
    '/linked.html': page('Linked', 'The page that moves and stays linked.'),
    '/unlinked.html': page('Unlinked', 'The page that moves and is linked no more.'),
    '/kept.html': page('Kept', 'The page that stays where it is.'),
  })
  const id = await add(`${site.url}/`)
  await crawl(id)
  const names = async () => (await documentsOf(id)).map(({ metadata }) => String(metadata.sourceUrl)).sort()
  site.pages.set('/linked.html', redirect('/new.html', 301))
  site.pages.set('/unlinked.html', redirect('/kept.html#part'))
  site.pages.set('/new.html', page('New', 'The page under its new address.'))
  site.pages.set('/', page('Start', 'Home of pages that moved.', ['/linked.html', '/kept.html']))
  await crawl(id)
  expect(await names()).toEqual(['/', '/kept.html', '/new.html'].map((path) => `${site.url}${path}`))
})

test('a crawl that may visit two of four unlinked pages starts with the pages unseen for longest', async () => {
  const paths = ['/a.html', '/b.html', '/c.html', '/d.html']
  site = await startSite({ '/': page('Start', 'Home of pages that are linked no more.', paths) })
  for (const path of paths) site.pages.set(path, page(path, `The page ${path}, which stays.`))
  const id = await add(`${site.url}/`, { parameters: { maxPages: 5 } })
  await crawl(id)
  site.pages.set('/', page('Start', 'Home of nothing now.'))
  await sources().update(ADA, spaceId, id, { metadata: { parameters: { maxPages: 2 } } })
  const asked: string[][] = []
  for (const _ of [1, 2]) {
    now += 3_600_000
    site.hits.splice(0)
    await crawl(id)
    asked.push(site.hits.filter((path) => paths.includes(path)).sort())
  }
  expect(asked.map(({ length }) => length)).toEqual([2, 2])
  expect(asked.flat().sort()).toEqual(paths)
})

test('a crawl follows links up to maxDepth', async () => {
  site = await startSite({
    '/': page('Start', 'Home of a long way.', ['/one.html']),
    '/one.html': page('One', 'The first page behind it.', ['/two.html']),
    '/two.html': page('Two', 'The second page behind it.', ['/three.html']),
    '/three.html': page('Three', 'The third page behind it.'),
  })
  const pagesTo = async (maxDepth: number) => {
    const id = await add(`${site.url}/`, { parameters: { maxDepth } })
    await crawl(id)
    return (await documentsOf(id)).length
  }
  expect([await pagesTo(0), await pagesTo(1), await pagesTo(3)]).toEqual([1, 2, 4])
})
