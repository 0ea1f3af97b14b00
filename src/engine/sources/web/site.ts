import { USER_AGENT } from '../../egress/safe-fetch.js'
import { type PageFacts, plainFacts, readPage } from './page.js'
import { ALLOW_ALL, parseRobots, ROBOTS_BYTES, type Robots } from './robots.js'
import { addressOf, createScope } from './scope.js'
import { parseSitemap } from './sitemap.js'

/** Total characters of all addresses that a crawl stores; later ones are ignored. */
const MAX_KNOWN = 16 * 1024 * 1024
/** A site map has at most 50,000 pages (sitemaps.org), far more than a crawl reads. */
const MAX_SEEDS = 10_000
const PAGE_TYPES = ['text/html', 'application/xhtml+xml', 'text/plain', 'text/markdown', 'application/pdf', '']

/** An address in the queue of a crawl. */
export interface Waiting {
  address: string
  depth: number
}

/** The response for an address. */
export interface Arrival {
  /** after redirects */
  url: string
  mediaType: string
  body: Uint8Array
}

export type TakenPage = { address: string; mediaType: string } & Omit<PageFacts, 'canonical' | 'links'>

/**
 * Classification of a response: a page; a copy, which names its original; no page of this site; or an address that is
 * queued or read already.
 */
export type Recognized =
  | { kind: 'page'; page: TakenPage }
  | { kind: 'copy'; original: string }
  | { kind: 'no-page' }
  | { kind: 'known' }

/**
 * State of a site during a crawl: rules of its robots.txt, queued addresses in the order in which they were found, and
 * known addresses. It is built from untrusted content, so it belongs to a thread.
 */
export interface Site {
  /** @returns what else to read */
  robots(body: Uint8Array): { startAllowed: boolean; sitemaps: string[]; delayMs: number }
  /** Adds the pages in a map. @returns the maps in it */
  sitemap(body: Uint8Array): string[]
  next(count: number): Waiting[]
  /** Those addresses that may be fetched; they count as found. */
  allowed(addresses: readonly string[]): string[]
  arrive(arrival: Arrival, asked: Waiting): Recognized
}

/** @throws EgressFailure for a uri that is not the address of a page */
export function createSite({ uri, maxDepth }: { uri: string; maxDepth: number }): Site {
  const scope = createScope(uri)
  const { host } = new URL(scope.start)
  let robots: Robots = ALLOW_ALL
  const seen = new Set<string>()
  let characters = 0
  let seeds = 0
  const queue: Waiting[] = []
  let queued = 0
  const wanted = (url: URL) => scope.holds(url) && robots.allows(url)

  const note = (address: string): boolean => {
    if (seen.has(address) || characters > MAX_KNOWN) return false
    seen.add(address)
    characters += address.length
    return true
  }
  // robots.txt is checked when an address is taken from the queue: most linked addresses never are
  const add = (address: string, depth: number) => {
    if (depth <= maxDepth && scope.holds(new URL(address)) && note(address)) queue.push({ address, depth })
  }
  add(scope.start, 0)

  /** @returns the original that this page is a copy of */
  const follow = ({ canonical, links }: PageFacts, address: string, depth: number): string | undefined => {
    const original = canonical !== undefined && wanted(canonical) ? addressOf(canonical) : undefined
    // a copy names its original, which is the page to read
    if (original !== undefined && original !== address) add(original, depth)
    for (const link of links) {
      const target = addressOf(link)
      if (target !== undefined) add(target, depth + 1)
    }
    return original === address ? undefined : original
  }

  return {
    robots(body) {
      const bytes = Buffer.from(body)
      // the last line of a truncated file may be the start of a rule, which would match more than the rule
      const whole = bytes.length < ROBOTS_BYTES ? bytes : bytes.subarray(0, bytes.lastIndexOf('\n') + 1)
      robots = parseRobots(whole.toString('utf8'), USER_AGENT)
      const sitemaps = robots.sitemaps.filter((map) => URL.canParse(map) && new URL(map).host === host)
      return { startAllowed: robots.allows(new URL(scope.start)), sitemaps, delayMs: robots.delayMs }
    },
    sitemap(body) {
      const maps: string[] = []
      for (const { kind, url } of parseSitemap(Buffer.from(body).toString('utf8'))) {
        if (kind === 'map' && url.host === host) maps.push(url.href)
        const address = kind === 'page' && scope.holds(url) ? addressOf(url) : undefined
        if (address !== undefined && seeds++ < MAX_SEEDS) add(address, 1)
      }
      return maps
    },
    next(count) {
      const batch: Waiting[] = []
      while (batch.length < count && queued < queue.length) {
        const waiting = queue[queued++]
        if (waiting !== undefined && robots.allows(new URL(waiting.address))) batch.push(waiting)
      }
      return batch
    },
    allowed(addresses) {
      const may = addresses.filter((address) => URL.canParse(address) && wanted(new URL(address)))
      for (const address of may) note(address)
      return may
    },
    arrive({ url: final, mediaType: type, body }, { address: asked, depth }) {
      const url = new URL(final)
      const address = addressOf(url)
      if (address === undefined || !PAGE_TYPES.includes(type) || !wanted(url)) return { kind: 'no-page' }
      // the redirect target is fetched separately, or already was
      if (address !== asked && !note(address)) return { kind: 'known' }
      const mediaType = type === '' ? 'text/html' : type
      const isMarkup = mediaType === 'text/html' || mediaType === 'application/xhtml+xml'
      const bytes = Buffer.from(body)
      const facts = isMarkup ? readPage(bytes, url) : plainFacts(bytes, mediaType)
      const original = follow(facts, address, depth)
      if (original !== undefined) return { kind: 'copy', original }
      const { canonical: _canonical, links: _links, ...told } = facts
      return { kind: 'page', page: { address, mediaType, ...told } }
    },
  }
}
