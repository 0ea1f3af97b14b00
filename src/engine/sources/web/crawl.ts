import pLimit from 'p-limit'
import { EgressFailure } from '../../egress/failure.js'
import type { Fetched } from '../../egress/safe-fetch.js'
import { type PageFacts, plainFacts, readPage } from './page.js'
import type { Robots } from './robots.js'
import { addressOf, type Scope } from './scope.js'
import { readRobots, readSitemaps, type SiteAccess } from './seeds.js'

const FETCHES_AT_ONCE = 4
/** pages whose bodies are held at once: 8 of 20 MiB at worst */
const BATCH = 8
/** fetches of things that turn out to be no page of their own (redirects, copies, pictures), for each page allowed */
const FETCHES_PER_PAGE = 4
const PAGE_TYPES = ['text/html', 'application/xhtml+xml', 'text/plain', 'text/markdown', 'application/pdf', '']

export interface SitePlan {
  scope: Scope
  maxPages: number
  maxDepth: number
}

export interface SitePage {
  address: string
  mediaType: string
  body: Buffer
  facts: PageFacts
}

export interface PageFailure {
  url: string
  error: string
}

interface Waiting {
  address: string
  depth: number
}

type Visit = Waiting & ({ fetched: Fetched } | { failure: string })

/**
 * Walks a site breadth first and hands over each page once, under its final address. Which pages those are depends on the
 * site alone and not on which answer comes first.
 *
 * @param take called for one page after the other
 * @returns the pages that could not be read
 * @throws EgressFailure when robots.txt cannot be had, or forbids the first page
 */
export async function crawlSite(
  plan: SitePlan,
  access: SiteAccess,
  take: (page: SitePage) => Promise<void>,
): Promise<PageFailure[]> {
  const { scope, maxPages, maxDepth } = plan
  const robots = await readRobots(scope, access)
  if (!robots.allows(new URL(scope.start))) throw new EgressFailure('robots.txt does not allow its address')
  const frontier = createFrontier(scope, robots, maxDepth)
  frontier.add(scope.start, 0)
  for (const address of await readSitemaps(scope, robots, access)) frontier.add(address, 1)
  const failures: PageFailure[] = []
  let taken = 0
  let fetches = 0
  for (;;) {
    const room = Math.min(BATCH, maxPages - taken - failures.length, maxPages * FETCHES_PER_PAGE - fetches)
    const batch = frontier.next(room)
    if (batch.length === 0) return failures
    fetches += batch.length
    for (const visit of await visitAll(batch, access)) {
      if ('failure' in visit) {
        failures.push({ url: visit.address, error: visit.failure })
        continue
      }
      const page = frontier.arrive(visit.fetched, visit)
      if (page === undefined) continue
      taken++
      await take(page)
    }
  }
}

async function visitAll(batch: Waiting[], { fetch, credentials, signal }: SiteAccess): Promise<Visit[]> {
  const limit = pLimit(FETCHES_AT_ONCE)
  const visit = async (waiting: Waiting): Promise<Visit> => {
    try {
      const fetched = await fetch.get(waiting.address, { credentials, signal })
      if (fetched.status >= 400) return { ...waiting, failure: `answered ${fetched.status}` }
      return { ...waiting, fetched }
    } catch (error) {
      if (error instanceof EgressFailure) return { ...waiting, failure: error.message }
      throw error
    }
  }
  return Promise.all(batch.map((waiting) => limit(() => visit(waiting))))
}

/** The addresses still to be fetched, in the order they were found, and those that are known already. */
function createFrontier(scope: Scope, robots: Robots, maxDepth: number) {
  const seen = new Set<string>()
  const queue: Waiting[] = []
  const wanted = (url: URL) => scope.holds(url) && robots.allows(url)

  const add = (address: string, depth: number) => {
    if (depth > maxDepth || seen.has(address) || !wanted(new URL(address))) return
    seen.add(address)
    queue.push({ address, depth })
  }
  return {
    add,
    next: (count: number): Waiting[] => queue.splice(0, Math.max(0, count)),

    /** A page as it came; undefined where it is none, belongs elsewhere, or is another page under a second address. */
    arrive(fetched: Fetched, { address: asked, depth }: Waiting): SitePage | undefined {
      const url = new URL(fetched.url)
      const address = addressOf(url)
      if (address === undefined || !wanted(url) || !PAGE_TYPES.includes(fetched.mediaType)) return undefined
      if (address !== asked) {
        // the page that it leads to is fetched in its own turn, or was
        if (seen.has(address)) return undefined
        seen.add(address)
      }
      const mediaType = fetched.mediaType === '' ? 'text/html' : fetched.mediaType
      const isMarkup = mediaType === 'text/html' || mediaType === 'application/xhtml+xml'
      const facts = isMarkup ? readPage(fetched.body, url) : plainFacts(fetched.body, mediaType)
      const canonical =
        facts.canonical !== undefined && wanted(facts.canonical) ? addressOf(facts.canonical) : undefined
      // a copy says which page it is a copy of: that one is the page
      if (canonical !== undefined && canonical !== address) add(canonical, depth)
      for (const link of facts.links) {
        const target = addressOf(link)
        if (target !== undefined) add(target, depth + 1)
      }
      if (canonical !== undefined && canonical !== address) return undefined
      return { address, mediaType, body: fetched.body, facts }
    },
  }
}
