import type { WebsiteCrawlResult } from '../../../contract/gateway/sources.js'
import { omitUndefined } from '../../../lib/omit-undefined.js'
import { EgressFailure } from '../../models/index.js'
import type { Read } from '../../store/program.js'
import { parseJsonCell } from '../../store/readable.js'
import { listPagesByLastSeen } from '../rows/source-documents.js'
import { parseCrawlLimits } from './content.js'
import type { ImportContext } from './import-items.js'
import { startPageImport } from './import-pages.js'
import { listStoredPages, readStoredBytes } from './stored-validators.js'
import type { SyncCounts } from './sync-summary.js'
import { deleteVanishedPages } from './vanished-pages.js'
import { type CrawledSitePage, crawlSite } from './web/crawl.js'
import type { SiteAccess, StoredSite } from './web/visit.js'

/**
 * Crawls a web source and waits until the imported pages are published.
 *
 * @throws EgressFailure when nothing could be read
 */
export async function crawlSource(
  importContext: ImportContext,
  access: Omit<SiteAccess, 'kept'>,
): Promise<{ pages: WebsiteCrawlResult['pages']; counts: SyncCounts }> {
  const { context, caller, spaceId, source, settled, signal } = importContext
  const { missingAfter, ...limits } = parseCrawlLimits(parseJsonCell(source.metadata))
  const knownAddresses = await context.db.read(listPagesByLastSeen(source))
  const importing = await startPageImport(context, caller, { spaceId, source }, settled)
  const seen: Omit<CrawledSitePage, 'body'>[] = []
  const { failures, ...learned } = await crawlSite(
    { uri: source.uri, ...limits, known: knownAddresses },
    { ...access, kept: await context.db.read(readStoredSite(importContext)) },
    async (page) => {
      signal.throwIfAborted()
      await importing.take(page)
      const { body: _body, ...description } = page
      seen.push(description)
    },
  )
  const done = await importing.finish()
  failures.push(...done.failures)
  const [first] = failures
  if (done.outcomes.size === 0 && first !== undefined) throw new EgressFailure(first.error)
  await deleteVanishedPages(importContext, learned, missingAfter)
  const countOf = (kind: string) => [...done.outcomes.values()].filter((outcome) => outcome === kind).length
  const pages = seen.flatMap(({ address: sourceUrl, text, title, description }): WebsiteCrawlResult['pages'] => {
    if (!done.outcomes.has(sourceUrl)) return []
    return [{ sourceUrl, content: text, ...omitUndefined({ title, description }) }]
  })
  return {
    pages,
    counts: { imported: countOf('imported'), replaced: countOf('replaced'), skipped: countOf('skipped'), failures },
  }
}

/** Stored pages of the source. A stored page is parsed like a received one, with its links. */
function* readStoredSite({ context, source }: ImportContext): Read<StoredSite> {
  const pages = yield* listStoredPages(source, context.now())
  return {
    validators: (address) => pages.get(address)?.kept,
    async page(address) {
      const page = pages.get(address)
      const body = page === undefined ? undefined : await readStoredBytes(context.objects, page)
      if (page === undefined || body === undefined) return undefined
      const { mediaType, charset } = page.kept
      return { mediaType, body, ...omitUndefined({ charset }) }
    },
  }
}
