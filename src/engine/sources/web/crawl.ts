import type { Validators } from '../../egress/validators.js'
import { openReading } from '../reading.js'
import type { ReadingCalls } from '../reading-calls.js'
import { ownBytes, type Thread } from '../thread.js'
import type { PagesKnown } from '../vanished-pages.js'
import { SCANNED_BYTES } from './page.js'
import { addressOf, createScope } from './scope.js'
import { readRobots, readSitemaps } from './seeds.js'
import type { TakenPage } from './site.js'
import { type SiteAccess, type Visit, visitor } from './visit.js'

/** pages whose bodies are in memory together: 8 of 20 MiB at worst */
const BATCH = 8
/** fetches that give no page (redirects, copies, pictures), for each allowed page */
const FETCHES_PER_PAGE = 4

export interface SitePlan {
  uri: string
  maxPages: number
  maxDepth: number
  /** pages of earlier crawls: the first ones that this crawl does not find are requested at its end */
  known: readonly string[]
}

export type SitePage = TakenPage & {
  body: Buffer
  /** unchanged since the last crawl, so that it was not sent again */
  isKept: boolean
  validators: Validators | undefined
  /** false: a page of an earlier crawl without links to it */
  isLinked: boolean
}

export interface PageFailure {
  url: string
  error: string
}

export interface CrawlEnd extends PagesKnown {
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
  plan: SitePlan,
  access: SiteAccess,
  take: (page: SitePage) => Promise<void>,
): Promise<CrawlEnd> {
  const site = openReading()
  try {
    return await walk(plan, access, site, take)
  } finally {
    await site.close()
  }
}

async function walk(
  { uri, maxPages, maxDepth, known }: SitePlan,
  access: SiteAccess,
  site: Thread<ReadingCalls>,
  take: (page: SitePage) => Promise<void>,
): Promise<CrawlEnd> {
  const { start } = createScope(uri)
  await site.ask('openSite', { uri, maxDepth })
  const { sitemaps, delayMs } = await readRobots(start, site, access)
  await readSitemaps(start, sitemaps, site, access)
  const visit = visitor(access, delayMs)
  const notes = createNotes()
  let taken = 0
  let fetches = 0

  const arrive = async (visited: Visit, isLinked: boolean) => {
    notes.visited(visited, isLinked)
    if ('failure' in visited) return
    const { address, depth, fetched } = visited
    const { url, mediaType, body, isKept, validators } = fetched
    const arrival = { url, mediaType, body: ownBytes(body, SCANNED_BYTES) }
    const recognized = await site.ask('arrive', arrival, { address, depth })
    if (recognized.kind === 'copy') notes.copy(addressOf(new URL(url)) ?? address, recognized.original)
    else if (recognized.kind === 'no-page') notes.notFound(address)
    if (recognized.kind !== 'page') return
    const { page } = recognized
    if (isLinked) taken++
    notes.seen.add(page.address)
    await take({ ...page, body, isKept, validators, isLinked })
  }
  const takeFound = async () => {
    for (;;) {
      const room = Math.min(BATCH, maxPages - taken - notes.failures.length, maxPages * FETCHES_PER_PAGE - fetches)
      const batch = await site.ask('next', room)
      if (batch.length === 0) return
      fetches += batch.length
      for (const visited of await visit(batch)) await arrive(visited, true)
    }
  }
  await takeFound()
  const unmet = known.filter((address) => !notes.asked.has(address) && !notes.seen.has(address)).slice(0, maxPages)
  const allowed = await site.ask('allowed', unmet)
  for (let start = 0; start < allowed.length; start += BATCH) {
    const batch = allowed.slice(start, start + BATCH).map((address) => ({ address, depth: maxDepth }))
    for (const visited of await visit(batch)) await arrive(visited, false)
  }
  // the originals of pages that have become copies
  await takeFound()
  return notes.end()
}

/** Collects results about addresses, except for their pages. */
function createNotes() {
  const failures: PageFailure[] = []
  const seen = new Set<string>()
  const asked = new Set<string>()
  const gone = new Map<string, boolean>()
  const originals = new Map<string, string>()
  /** Whether the original of a copy, at the end of a chain of copies, was found. */
  const hasOriginal = (address: string) => {
    const passed = new Set<string>()
    for (let at = originals.get(address); at !== undefined && !passed.has(at); at = originals.get(at)) {
      if (seen.has(at)) return true
      passed.add(at)
    }
    return false
  }
  return {
    failures,
    seen,
    asked,
    visited(visited: Visit, isLinked: boolean) {
      const { address } = visited
      asked.add(address)
      if ('fetched' in visited) {
        // a redirect target is a separate page, or none
        if (addressOf(new URL(visited.fetched.url)) !== address) gone.set(address, false)
        return
      }
      const { failure: error, status } = visited
      if (isLinked) failures.push({ url: address, error })
      if (status === 404 || status === 410) gone.set(address, status === 410)
    },
    notFound: (address: string) => void gone.set(address, false),
    copy: (address: string, original: string) => void originals.set(address, original),
    end(): CrawlEnd {
      // a copy is kept if its original cannot be read
      for (const address of originals.keys()) if (hasOriginal(address)) gone.set(address, false)
      return { failures, seen: [...seen], gone: [...gone].map(([url, forGood]) => ({ url, forGood })) }
    },
  }
}
