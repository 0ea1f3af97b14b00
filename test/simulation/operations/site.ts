import { setTimeout as sleep } from 'node:timers/promises'
import type { DocumentAsset } from '../../../src/contract/gateway/documents.js'
import type { CrawledSite } from '../crawled-site.js'
import { allPages, type Context, choose, describe, diverge, type Operation, pick } from './context.js'

const POLL_MS = 250

/** The site of the tenant; the second tenant has none. */
const siteOf = ({ session }: Context) => session.world.sites.get(session.tenant)

const changePage: Operation = async (context) => siteOf(context)?.change(pick(context.step, 2))

const crawl: Operation = async (context) => {
  const site = siteOf(context)
  if (site !== undefined) await crawlOnce(context, site)
}

/** @returns whether it completed */
async function crawlOnce(context: Context, { spaceId, sourceId }: CrawledSite): Promise<boolean> {
  const { session, step } = context
  const outcome = await session.write(step, 'POST /knowledge-spaces/{id}/sources/{sourceId}/crawl', {
    path: { id: spaceId, sourceId },
  })
  if (outcome.kind === 'refused') {
    // A daemon that stops ends its crawls.
    if (outcome.code !== 'crawl-failed' && !session.world.wasTroubled(outcome))
      diverge(context, 'a crawl', describe(outcome))
    return false
  }
  if (outcome.kind === 'lost') return false
  if (outcome.value.failed !== undefined && outcome.value.failed > 0)
    diverge(context, 'every page crawled', JSON.stringify(outcome.value))
  return true
}

const readSite: Operation = async (context) => {
  const site = siteOf(context)
  if (site !== undefined) await documentsOf(context, site, false)
}

/**
 * The documents of a site, each of one page. While a page is replaced, the previous document remains until the next one
 * is published, so a page may have two; at rest it has one.
 */
async function documentsOf(
  context: Context,
  site: CrawledSite,
  isAtRest: boolean,
): Promise<Map<string, DocumentAsset>> {
  const { session, step } = context
  const documents = await allPages(async (cursor) => {
    const query = { limit: 4, ...(cursor === undefined ? {} : { cursor }) }
    const page = await session.read(step, 'GET /knowledge-spaces/{id}/documents', { path: { id: site.spaceId }, query })
    return page.kind === 'done' ? page.value : page
  })
  const found = new Map<string, DocumentAsset>()
  if (!Array.isArray(documents)) {
    diverge(context, 'the documents of a site', describe(documents))
    return found
  }
  const known = new Set(site.pages().map(({ url }) => url))
  for (const document of documents) {
    const url = String(document.metadata?.['sourceUrl'])
    if (!known.has(url) || document.sourceId !== site.sourceId) diverge(context, 'only pages of the site', url)
    if (isAtRest && found.has(url)) diverge(context, `${url} once`, `${document.id} and ${found.get(url)?.id}`)
    found.set(url, document)
  }
  return found
}

const searchSite: Operation = async (context) => {
  const site = siteOf(context)
  const page = choose(site?.pages() ?? [], pick(context.step, 2))
  if (site !== undefined && page !== undefined) await search(context, site, page.word)
}

/** @returns ids of the documents that contain a word */
async function search(context: Context, { spaceId }: CrawledSite, word: string): Promise<string[]> {
  const { session, step } = context
  const body = { query: word, mode: 'fast' as const, limit: 5 }
  const answer = await session.read(step, 'POST /knowledge-spaces/{id}/queries/search', { path: { id: spaceId }, body })
  if (answer.kind === 'refused') {
    if (answer.status !== 429) diverge(context, 'a search', describe(answer))
    return []
  }
  const holds = answer.value.items.filter(({ text }) => text.includes(word))
  return [...new Set(holds.flatMap(({ citations }) => citations.map(({ documentAssetId }) => documentAssetId)))]
}

/** Crawls to the end and compares: one document a page, with the current text of the page. */
export async function verifySite(context: Context): Promise<void> {
  const site = siteOf(context)
  if (site === undefined) return
  const { stuckMs } = context.session.world
  const deadline = performance.now() + stuckMs
  while (!(await crawlOnce({ ...context, step: { ...context.step, key: undefined } }, site))) {
    if (performance.now() > deadline) return diverge(context, 'a crawl that ends', 'none did')
    await sleep(POLL_MS)
  }
  const documents = await documentsOf(context, site, true)
  for (const { url, word, past } of site.pages()) {
    const document = documents.get(url)
    if (document === undefined) {
      diverge(context, `a document of ${url}`, 'there is none')
      continue
    }
    while (!(await search(context, site, word)).includes(document.id)) {
      if (performance.now() > deadline + stuckMs) return diverge(context, `${url} to be found by ${word}`, 'it is not')
      await sleep(POLL_MS)
    }
    for (const before of past)
      if ((await search(context, site, before)).length > 0) diverge(context, `${url} without ${before}`, 'it is found')
  }
}

export const siteOperations = { changePage, crawl, readSite, searchSite }
