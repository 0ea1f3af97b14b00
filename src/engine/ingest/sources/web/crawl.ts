import { omitUndefined } from '../../../../lib/omit-undefined.js'
import type { Validators } from '../../../models/index.js'
import { openReadingThread } from '../reading.js'
import type { ReadingCalls } from '../reading-calls.js'
import { copyBytes, type ReadingThread } from '../thread.js'
import type { CrawledAddresses } from '../vanished-pages.js'
import { SCANNED_BYTES } from './page.js'
import { createScope, toAddress } from './scope.js'
import { readRobots, readSitemaps } from './seeds.js'
import type { ExtractedPage } from './site.js'
import { createVisitor, type PageVisit, type SiteAccess } from './visit.js'

/** pages whose bodies are in memory together: 8 of 20 MiB at worst */
const MAX_BATCH_PAGES = 8
/** fetches that give no page (redirects, copies, pictures), for each allowed page */
const FETCHES_PER_PAGE = 4

export interface CrawlPlan {
  uri: string
  maxPages: number
  maxDepth: number
  /** pages of earlier crawls: the first ones that this crawl does not find are requested at its end */
  known: readonly string[]
}

export type CrawledSitePage = ExtractedPage & {
  body: Buffer
  /** charset of the response header */
  charset: string | undefined
  /** unchanged since the last crawl, so that it was not sent again */
  isUnchanged: boolean
  validators: Validators | undefined
  /** false: a page of an earlier crawl without links to it */
  isLinked: boolean
}

export interface PageFailure {
  url: string
  error: string
}

export interface CrawlResult extends CrawledAddresses {
  /** pages that could not be read */
  failures: PageFailure[]
}

/**
 * Crawls a site breadth first and passes on each page once, under its final address. The selection depends only on the
 * site, and not on the order of responses.
 *
 * @param take called for one page after the other
 * @throws EgressFailure when robots.txt cannot be read, or forbids the first page
 */
export async function crawlSite(
  plan: CrawlPlan,
  access: SiteAccess,
  take: (page: CrawledSitePage) => Promise<void>,
): Promise<CrawlResult> {
  const site = openReadingThread()
  try {
    return await crawl(plan, access, site, take)
  } finally {
    await site.close()
  }
}

async function crawl(
  { uri, maxPages, maxDepth, known }: CrawlPlan,
  access: SiteAccess,
  site: ReadingThread<ReadingCalls>,
  take: (page: CrawledSitePage) => Promise<void>,
): Promise<CrawlResult> {
  const { start } = createScope(uri)
  await site.call('openSite', { uri, maxDepth })
  const { sitemaps, delayMs } = await readRobots(start, site, access)
  await readSitemaps(start, sitemaps, site, access)
  const visitPages = createVisitor(access, delayMs)
  const notes = createCrawlNotes()
  let pageCount = 0
  let fetches = 0

  const takeVisit = async (visit: PageVisit, { isLinked }: { isLinked: boolean }) => {
    notes.addVisit(visit, { isLinked })
    if ('failure' in visit) return
    const { address, depth, fetched } = visit
    const { url, mediaType, body, charset, headers, isUnchanged, validators } = fetched
    const robots = headers['x-robots-tag']
    const arrival = { url, mediaType, body: copyBytes(body, SCANNED_BYTES), ...omitUndefined({ charset, robots }) }
    const recognized = await site.call('arrive', arrival, { address, depth })
    if (recognized.kind === 'copy') notes.addCopy(toAddress(new URL(url)) ?? address, recognized.original)
    else if (recognized.kind === 'no-page') notes.addMissing(address)
    else if (recognized.kind === 'excluded') notes.addExcluded(address, recognized.reason, { isLinked })
    if (recognized.kind !== 'page') return
    const { page } = recognized
    if (isLinked) pageCount++
    notes.seen.add(page.address)
    await take({ ...page, body, charset, isUnchanged, validators, isLinked })
  }
  const takeFoundPages = async () => {
    for (;;) {
      const capacity = Math.min(
        MAX_BATCH_PAGES,
        maxPages - pageCount - notes.failures.length,
        maxPages * FETCHES_PER_PAGE - fetches,
      )
      const batch = await site.call('next', capacity)
      if (batch.length === 0) return
      fetches += batch.length
      for (const visit of await visitPages(batch)) await takeVisit(visit, { isLinked: true })
    }
  }
  await takeFoundPages()
  const unvisited = known
    .filter((address) => !notes.requested.has(address) && !notes.seen.has(address))
    .slice(0, maxPages)
  const allowed = await site.call('allowed', unvisited)
  for (let start = 0; start < allowed.length; start += MAX_BATCH_PAGES) {
    const batch = allowed.slice(start, start + MAX_BATCH_PAGES).map((address) => ({ address, depth: maxDepth }))
    for (const visit of await visitPages(batch)) await takeVisit(visit, { isLinked: false })
  }
  // the originals of pages that have become copies
  await takeFoundPages()
  return notes.getResult()
}

/** Collects results about addresses, except for their pages. */
function createCrawlNotes() {
  const failures: PageFailure[] = []
  const seen = new Set<string>()
  const requested = new Set<string>()
  const gone = new Map<string, boolean>()
  const originals = new Map<string, string>()
  /** Whether the original of a copy, at the end of a chain of copies, was found. */
  const hasOriginal = (address: string) => {
    const visitedCopies = new Set<string>()
    for (
      let next = originals.get(address);
      next !== undefined && !visitedCopies.has(next);
      next = originals.get(next)
    ) {
      if (seen.has(next)) return true
      visitedCopies.add(next)
    }
    return false
  }
  return {
    failures,
    seen,
    requested,
    addVisit(visit: PageVisit, { isLinked }: { isLinked: boolean }) {
      const { address } = visit
      requested.add(address)
      if ('fetched' in visit) {
        // a redirect target is a separate page, or none
        if (toAddress(new URL(visit.fetched.url)) !== address) gone.set(address, false)
        return
      }
      const { failure: error, status } = visit
      if (isLinked) failures.push({ url: address, error })
      if (status === 404 || status === 410) gone.set(address, status === 410)
    },
    addMissing: (address: string) => void gone.set(address, false),
    addExcluded(address: string, reason: string, { isLinked }: { isLinked: boolean }) {
      if (isLinked) failures.push({ url: address, error: reason })
      gone.set(address, false)
    },
    addCopy: (address: string, original: string) => void originals.set(address, original),
    getResult(): CrawlResult {
      // a copy is kept if its original cannot be read
      for (const address of originals.keys()) if (hasOriginal(address)) gone.set(address, false)
      return { failures, seen: [...seen], gone: [...gone].map(([url, isPermanent]) => ({ url, isPermanent })) }
    },
  }
}
