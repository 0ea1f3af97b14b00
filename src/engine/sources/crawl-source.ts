import type { WebsiteCrawlResult } from '../../contract/gateway/sources.js'
import { defined } from '../../lib/defined.js'
import { EgressFailure } from '../egress/failure.js'
import { pagesLongestUnseen } from '../rows/source-documents.js'
import type { Read } from '../storage/program.js'
import { fromCell } from '../storage/readable.js'
import { readCrawlLimits } from './content.js'
import type { ImportPlace } from './import-items.js'
import { beginImport } from './import-pages.js'
import { keptBytes, keptPages } from './kept.js'
import type { SyncCounts } from './sync-summary.js'
import { settlePages } from './vanished-pages.js'
import { crawlSite, type SitePage } from './web/crawl.js'
import type { KeptSite, SiteAccess } from './web/visit.js'

/**
 * Crawls a web source and waits until the imported pages are published.
 *
 * @throws EgressFailure when nothing could be read
 */
export async function crawlSource(
  place: ImportPlace,
  access: Omit<SiteAccess, 'kept'>,
): Promise<{ pages: WebsiteCrawlResult['pages']; counts: SyncCounts }> {
  const { context, caller, spaceId, source, settled, signal } = place
  const { missingAfter, ...limits } = readCrawlLimits(fromCell(source.metadata))
  const known = await context.db.read(pagesLongestUnseen(source))
  const importing = await beginImport(context, caller, { spaceId, source }, settled)
  const seen: Omit<SitePage, 'body'>[] = []
  const { failures, ...learned } = await crawlSite(
    { uri: source.uri, ...limits, known },
    { ...access, kept: await context.db.read(keptSite(place)) },
    async (page) => {
      signal.throwIfAborted()
      await importing.take(page)
      const { body: _body, ...told } = page
      seen.push(told)
    },
  )
  const done = await importing.finish()
  failures.push(...done.failures)
  const [first] = failures
  if (done.outcomes.size === 0 && first !== undefined) throw new EgressFailure(first.error)
  await settlePages(place, learned, missingAfter)
  const of = (kind: string) => [...done.outcomes.values()].filter((outcome) => outcome === kind).length
  const pages = seen.flatMap(({ address: sourceUrl, text, title, description }): WebsiteCrawlResult['pages'] => {
    if (!done.outcomes.has(sourceUrl)) return []
    const about = { ...defined({ title, description }) }
    return [{ sourceUrl, content: text, ...about }]
  })
  return {
    pages,
    counts: { imported: of('imported'), replaced: of('replaced'), skipped: of('skipped'), failures },
  }
}

/** Stored pages of the source. A stored page is parsed like a received one, with its links. */
function* keptSite({ context, source }: ImportPlace): Read<KeptSite> {
  const pages = yield* keptPages(source, context.now())
  return {
    validators: (address) => pages.get(address)?.kept,
    async page(address) {
      const page = pages.get(address)
      const body = page === undefined ? undefined : await keptBytes(context.objects, page)
      return page === undefined || body === undefined ? undefined : { mediaType: page.kept.mediaType, body }
    },
  }
}
