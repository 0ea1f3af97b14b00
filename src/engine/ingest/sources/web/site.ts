import { omitUndefined } from '../../../../lib/omit-undefined.js'
import { USER_AGENT } from '../../../models/index.js'
import { extractPageFacts, extractTextFacts, type PageFacts } from './page.js'
import { parseRobotsDirectives } from './page-directives.js'
import { ALLOW_ALL, parseRobots, ROBOTS_BYTES, type RobotsRules } from './robots.js'
import { createScope, toAddress } from './scope.js'
import { parseSitemap } from './sitemap.js'

/** Total characters of all addresses that a crawl stores; later ones are ignored. */
const MAX_KNOWN_CHARACTERS = 16 * 1024 * 1024
/** A site map has at most 50,000 pages (sitemaps.org), far more than a crawl reads. */
const MAX_SEEDS = 10_000
/** Maximum number of refreshes in a row that are followed. */
const MAX_REFRESHES = 5
/** A refresh within this time is a redirect; within the longer one if the page is short, such as a notice of its move. */
const INSTANT_SECONDS = 1
const MAX_NOTICE_SECONDS = 30
const MAX_NOTICE_LENGTH = 500
const EXCLUDED = 'is not stored: the page asks for it with noindex'
const PAGE_TYPES = ['text/html', 'application/xhtml+xml', 'text/plain', 'text/markdown', 'application/pdf', '']

/** An address in the queue of a crawl. */
export interface QueuedAddress {
  address: string
  depth: number
}

/** The response for an address. */
export interface FetchedPage {
  /** after redirects */
  url: string
  mediaType: string
  /** charset of the response header */
  charset?: string
  /** header `X-Robots-Tag` */
  robots?: string
  body: Uint8Array
}

export type ExtractedPage = { address: string; mediaType: string } & Pick<PageFacts, 'title' | 'description' | 'text'>

/**
 * Classification of a response: a page; a copy, which names its original; no page of this site, or one that only leads
 * to another; a page that asks not to be stored; or an address that is queued or read already.
 */
export type PageClassification =
  | { kind: 'page'; page: ExtractedPage }
  | { kind: 'copy'; original: string }
  | { kind: 'no-page' }
  | { kind: 'excluded'; reason: string }
  | { kind: 'known' }

/**
 * State of a site during a crawl: rules of its robots.txt, queued addresses in the order in which they were found, and
 * known addresses. It is built from untrusted content, so it belongs to a thread.
 */
export interface CrawlSite {
  /** @returns what else to read */
  robots(body: Uint8Array): { startAllowed: boolean; sitemaps: string[]; delayMs: number }
  /** Adds the pages in a map. @returns the maps in it */
  sitemap(body: Uint8Array): string[]
  next(count: number): QueuedAddress[]
  /** Returns the addresses that may be fetched; they count as found. */
  allowed(addresses: readonly string[]): string[]
  arrive(arrival: FetchedPage, requested: QueuedAddress): PageClassification
}

/** @throws EgressFailure for a uri that is not the address of a page */
export function createSite({ uri, maxDepth }: { uri: string; maxDepth: number }): CrawlSite {
  const scope = createScope(uri)
  const { host } = new URL(scope.start)
  let robots: RobotsRules = ALLOW_ALL
  const seen = new Set<string>()
  let characters = 0
  let seeds = 0
  const queue: QueuedAddress[] = []
  let nextIndex = 0
  const isAllowed = (url: URL) => scope.contains(url) && robots.allows(url)

  const remember = (address: string): boolean => {
    if (seen.has(address) || characters > MAX_KNOWN_CHARACTERS) return false
    seen.add(address)
    characters += address.length
    return true
  }
  // robots.txt is checked when an address is taken from the queue: most linked addresses never are
  const add = (address: string, depth: number) => {
    if (depth <= maxDepth && scope.contains(new URL(address)) && remember(address)) queue.push({ address, depth })
  }
  add(scope.start, 0)
  const addAll = (urls: readonly URL[], depth: number) => {
    for (const url of urls) {
      const target = toAddress(url)
      if (target !== undefined) add(target, depth)
    }
  }
  const refreshHops = new Map<string, number>()

  /** @returns the original that this page is a copy of */
  const followLinks = ({ canonical, links }: PageFacts, address: string, depth: number): string | undefined => {
    const original = canonical !== undefined && isAllowed(canonical) ? toAddress(canonical) : undefined
    // a copy names its original, which is the page to read
    if (original !== undefined && original !== address) add(original, depth)
    addAll(links, depth + 1)
    return original === address ? undefined : original
  }

  /** Queues the target of a refresh within the same site. @returns whether the page only leads there, like a redirect */
  const followRefresh = ({ refresh, text }: PageFacts, address: string, depth: number): boolean => {
    const target = refresh === undefined ? undefined : toAddress(refresh.url)
    // a refresh to another site is not followed: the page itself is read
    if (refresh === undefined || target === undefined || target === address || !isAllowed(refresh.url)) return false
    const hops = (refreshHops.get(address) ?? 0) + 1
    if (hops > MAX_REFRESHES) return true
    if (!seen.has(target)) refreshHops.set(target, hops)
    add(target, depth)
    return (
      refresh.seconds <= INSTANT_SECONDS || (refresh.seconds <= MAX_NOTICE_SECONDS && text.length < MAX_NOTICE_LENGTH)
    )
  }

  return {
    robots(body) {
      const bytes = Buffer.from(body)
      // the last line of a truncated file may be the start of a rule, which would match more than the rule
      const complete = bytes.length < ROBOTS_BYTES ? bytes : bytes.subarray(0, bytes.lastIndexOf('\n') + 1)
      robots = parseRobots(complete.toString('utf8'), USER_AGENT)
      const sitemaps = robots.sitemaps
        .flatMap((map) => (URL.canParse(map, scope.start) ? [new URL(map, scope.start)] : []))
        .flatMap((map) => (map.host === host ? [map.href] : []))
      return { startAllowed: robots.allows(new URL(scope.start)), sitemaps, delayMs: robots.delayMs }
    },
    sitemap(body) {
      const maps: string[] = []
      for (const { kind, url } of parseSitemap(Buffer.from(body))) {
        if (kind === 'map' && url.host === host) maps.push(url.href)
        const address = kind === 'page' && scope.contains(url) ? toAddress(url) : undefined
        if (address !== undefined && seeds++ < MAX_SEEDS) add(address, 1)
      }
      return maps
    },
    next(count) {
      const batch: QueuedAddress[] = []
      while (batch.length < count && nextIndex < queue.length) {
        const waiting = queue[nextIndex++]
        if (waiting !== undefined && robots.allows(new URL(waiting.address))) batch.push(waiting)
      }
      return batch
    },
    allowed(addresses) {
      const allowed = addresses.filter((address) => URL.canParse(address) && isAllowed(new URL(address)))
      for (const address of allowed) remember(address)
      return allowed
    },
    arrive({ url: final, mediaType: type, charset, robots: header = '', body }, { address: requested, depth }) {
      const url = new URL(final)
      const address = toAddress(url)
      if (address === undefined || !PAGE_TYPES.includes(type) || !isAllowed(url)) return { kind: 'no-page' }
      // the redirect target is fetched separately, or already was
      if (address !== requested && !remember(address)) return { kind: 'known' }
      const mediaType = type === '' ? 'text/html' : type
      const isMarkup = mediaType === 'text/html' || mediaType === 'application/xhtml+xml'
      const bytes = Buffer.from(body)
      const facts = isMarkup ? extractPageFacts(bytes, url, charset) : extractTextFacts(bytes, mediaType, charset)
      const headerRobots = parseRobotsDirectives(header)
      if (followRefresh(facts, address, depth)) return { kind: 'no-page' }
      // frames have the depth of their page
      addAll(facts.frames ?? [], depth)
      const mayFollow = facts.robots?.mayFollow !== false && headerRobots.mayFollow
      const original = followLinks(mayFollow ? facts : { ...facts, links: [] }, address, depth)
      if (original !== undefined) return { kind: 'copy', original }
      if (facts.robots?.mayIndex === false || !headerRobots.mayIndex) return { kind: 'excluded', reason: EXCLUDED }
      if (facts.isFrameset === true) return { kind: 'no-page' }
      const { title, description, text } = facts
      return { kind: 'page', page: { address, mediaType, text, ...omitUndefined({ title, description }) } }
    },
  }
}
