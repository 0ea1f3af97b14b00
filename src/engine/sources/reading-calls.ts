import { pageToMarkdown } from './connectors/notion-markdown.js'
import { reduceS3Answer } from './connectors/s3-xml.js'
import { type DavFolder, listDavFolder } from './connectors/webdav-xml.js'
import { createSite, type Site } from './web/site.js'

/** Calls of the thread that parses responses of servers: for one site, which `openSite` sets, and for listings. */
export type ReadingCalls = ReturnType<typeof readingCalls>

export function readingCalls() {
  let site: Site | undefined
  const current = (): Site => {
    if (site === undefined) throw new Error('no site was opened')
    return site
  }
  return {
    openSite(plan: Parameters<typeof createSite>[0]): void {
      site = createSite(plan)
    },
    robots: (...args: Parameters<Site['robots']>) => current().robots(...args),
    sitemap: (...args: Parameters<Site['sitemap']>) => current().sitemap(...args),
    next: (...args: Parameters<Site['next']>) => current().next(...args),
    allowed: (...args: Parameters<Site['allowed']>) => current().allowed(...args),
    arrive: (...args: Parameters<Site['arrive']>) => current().arrive(...args),
    notionPage: (...args: Parameters<typeof pageToMarkdown>) => pageToMarkdown(...args),
    s3Answer: (body: Uint8Array) => reduceS3Answer(Buffer.from(body).toString('utf8')),
    davFolder: (body: Uint8Array, folder: DavFolder) => listDavFolder(Buffer.from(body).toString('utf8'), folder),
  }
}
