import { EgressFailure } from '../../../models/index.js'
import type { ReadingCalls } from '../reading-calls.js'
import { copyBytes, type ReadingThread } from '../thread.js'
import { ROBOTS_BYTES } from './robots.js'
import type { SiteAccess } from './visit.js'

const MAX_SITEMAPS = 10

/**
 * Reads the rules of the site for crawlers. A missing file allows everything; an unreachable one forbids everything
 * (RFC 9309, 2.3.1).
 *
 * @returns the site maps in it, and the requested delay between two requests
 * @throws EgressFailure when the file cannot be read for now, or forbids the first page
 */
export async function readRobots(
  start: string,
  site: ReadingThread<ReadingCalls>,
  { fetch, credentials, signal }: SiteAccess,
): Promise<{ sitemaps: string[]; delayMs: number }> {
  const { status, body } = await fetch.get(new URL('/robots.txt', start).href, { credentials, signal })
  if (status >= 500 || status === 429) throw new EgressFailure(`robots.txt answered ${status}`)
  if (status >= 300) return { sitemaps: [], delayMs: 0 }
  const { startAllowed, ...rules } = await site.call('robots', copyBytes(body, ROBOTS_BYTES))
  if (!startAllowed) throw new EgressFailure('robots.txt does not allow its address')
  return rules
}

/** Adds the pages in the site maps. A missing or malformed map has none. */
export async function readSitemaps(
  start: string,
  listed: readonly string[],
  site: ReadingThread<ReadingCalls>,
  access: SiteAccess,
): Promise<void> {
  const maps = listed.length > 0 ? [...listed] : [new URL('/sitemap.xml', start).href]
  const seen = new Set<string>()
  for (const map of maps) {
    if (seen.size >= MAX_SITEMAPS) return
    if (seen.has(map)) continue
    seen.add(map)
    const body = await fetchMap(map, access)
    if (body !== undefined) for (const further of await site.call('sitemap', copyBytes(body))) maps.push(further)
  }
}

async function fetchMap(map: string, { fetch, credentials, signal }: SiteAccess): Promise<Buffer | undefined> {
  try {
    const { status, body } = await fetch.get(map, { credentials, signal })
    return status === 200 ? body : undefined
  } catch (error) {
    if (error instanceof EgressFailure) return undefined
    throw error
  }
}
