import type { WebsiteCrawlResult } from '../../contract/gateway/sources.js'
import { EgressFailure } from '../egress/failure.js'
import { readCrawlLimits } from './content.js'
import type { ImportPlace } from './import-items.js'
import { beginImport } from './import-pages.js'
import type { SyncCounts } from './sync-store.js'
import { crawlSite, type SitePage } from './web/crawl.js'
import { createScope } from './web/scope.js'
import type { SiteAccess } from './web/seeds.js'

/**
 * Crawls a web source and waits until what it took is published.
 *
 * @throws EgressFailure when nothing could be read
 */
export async function crawlSource(
  { context, caller, spaceId, source, settled, signal }: ImportPlace,
  access: SiteAccess,
): Promise<{ pages: WebsiteCrawlResult['pages']; counts: SyncCounts }> {
  const limits = readCrawlLimits(JSON.parse(source.metadata))
  const scope = createScope(source.uri)
  const importing = await beginImport(context, caller, { spaceId, source }, settled)
  const seen: SitePage['facts'][] = []
  const addresses: string[] = []
  const failures = await crawlSite({ scope, ...limits }, access, async (page) => {
    signal.throwIfAborted()
    await importing.take(page)
    addresses.push(page.address)
    seen.push(page.facts)
  })
  const done = await importing.finish()
  failures.push(...done.failures)
  const [first] = failures
  if (done.outcomes.size === 0 && first !== undefined) throw new EgressFailure(first.error)
  const of = (kind: string) => [...done.outcomes.values()].filter((outcome) => outcome === kind).length
  const pages = seen.flatMap(({ text, title, description }, index): WebsiteCrawlResult['pages'] => {
    const sourceUrl = addresses[index] ?? ''
    if (!done.outcomes.has(sourceUrl)) return []
    const about = { ...(title === undefined ? {} : { title }), ...(description === undefined ? {} : { description }) }
    return [{ sourceUrl, content: text, ...about }]
  })
  return {
    pages,
    counts: { imported: of('imported'), replaced: of('replaced'), skipped: of('skipped'), failures },
  }
}
