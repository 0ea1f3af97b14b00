import { pageToMarkdown } from './connectors/notion-markdown.js'
import { reduceS3Response } from './connectors/s3-xml.js'
import { type DavFolder, listDavFolder } from './connectors/webdav-xml.js'
import { type CrawlSite, createSite } from './web/site.js'

/** Calls of the thread that parses responses of servers: for one site, which `openSite` sets, and for listings. */
export type ReadingCalls = ReturnType<typeof createReadingCalls>

export function createReadingCalls() {
  let site: CrawlSite | undefined
  const getSite = (): CrawlSite => {
    if (site === undefined) throw new Error('no site was opened')
    return site
  }
  return {
    openSite(plan: Parameters<typeof createSite>[0]): void {
      site = createSite(plan)
    },
    robots: (...args: Parameters<CrawlSite['robots']>) => getSite().robots(...args),
    sitemap: (...args: Parameters<CrawlSite['sitemap']>) => getSite().sitemap(...args),
    next: (...args: Parameters<CrawlSite['next']>) => getSite().next(...args),
    allowed: (...args: Parameters<CrawlSite['allowed']>) => getSite().allowed(...args),
    arrive: (...args: Parameters<CrawlSite['arrive']>) => getSite().arrive(...args),
    notionPage: (...args: Parameters<typeof pageToMarkdown>) => pageToMarkdown(...args),
    s3Answer: (body: Uint8Array) => reduceS3Response(Buffer.from(body).toString('utf8')),
    davFolder: (body: Uint8Array, folder: DavFolder) => listDavFolder(Buffer.from(body).toString('utf8'), folder),
  }
}
