import { readMarkup } from '../../compile/parse/markup-events.js'
import { EgressFailure } from '../../egress/failure.js'
import { type SafeFetch, USER_AGENT } from '../../egress/safe-fetch.js'
import { ALLOW_ALL, parseRobots, ROBOTS_BYTES, type Robots } from './robots.js'
import { addressOf, type Scope } from './scope.js'

/** A site map names 50,000 pages at most (sitemaps.org), far beyond what a crawl takes. */
const MAX_SITEMAPS = 10
const MAX_SEEDS = 10_000

export interface SiteAccess {
  fetch: SafeFetch
  credentials: Record<string, string>
  signal: AbortSignal
}

/**
 * What the site says about crawlers. A missing file allows everything; a site that cannot say forbids (RFC 9309, 2.3.1).
 *
 * @throws EgressFailure when the file cannot be had for now
 */
export async function readRobots(scope: Scope, { fetch, credentials, signal }: SiteAccess): Promise<Robots> {
  const { status, body } = await fetch.get(new URL('/robots.txt', scope.start).href, { credentials, signal })
  if (status >= 500 || status === 429) throw new EgressFailure(`robots.txt answered ${status}`)
  if (status >= 300) return ALLOW_ALL
  return parseRobots(body.subarray(0, ROBOTS_BYTES).toString('utf8'), USER_AGENT)
}

/** The pages of the source that its site maps name. A map that is broken or not there names none. */
export async function readSitemaps(scope: Scope, robots: Robots, access: SiteAccess): Promise<string[]> {
  const { host } = new URL(scope.start)
  const named = robots.sitemaps.filter((map) => URL.canParse(map) && new URL(map).host === host)
  const maps = named.length > 0 ? named : [new URL('/sitemap.xml', scope.start).href]
  const pages = new Set<string>()
  const seen = new Set<string>()
  while (maps.length > 0 && seen.size < MAX_SITEMAPS && pages.size < MAX_SEEDS) {
    const map = maps.shift()
    if (map === undefined || seen.has(map)) continue
    seen.add(map)
    for (const { kind, url } of await readMap(map, access)) {
      if (kind === 'map' && url.host === host) maps.push(url.href)
      const address = kind === 'page' && scope.holds(url) ? addressOf(url) : undefined
      if (address !== undefined && pages.size < MAX_SEEDS) pages.add(address)
    }
  }
  return [...pages]
}

interface Located {
  kind: 'page' | 'map'
  url: URL
}

async function readMap(map: string, { fetch, credentials, signal }: SiteAccess): Promise<Located[]> {
  try {
    const { status, body } = await fetch.get(map, { credentials, signal })
    return status === 200 ? parseSitemap(body.toString('utf8')) : []
  } catch (error) {
    if (error instanceof EgressFailure) return []
    throw error
  }
}

/** The addresses in a `urlset` or `sitemapindex`. */
export function parseSitemap(xml: string): Located[] {
  const found: Located[] = []
  let kind: Located['kind'] = 'page'
  let text: string | undefined
  readMarkup(
    xml,
    {
      open(name) {
        if (name === 'sitemap') kind = 'map'
        if (name === 'url') kind = 'page'
        if (name === 'loc') text = ''
      },
      text(part) {
        if (text !== undefined) text += part
      },
      close(name) {
        if (name !== 'loc' || text === undefined) return
        if (URL.canParse(text.trim())) found.push({ kind, url: new URL(text.trim()) })
        text = undefined
      },
    },
    true,
  )
  return found
}
