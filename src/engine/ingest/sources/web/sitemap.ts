import { readMarkup } from '../../../readers/index.js'

export interface SitemapEntry {
  kind: 'page' | 'map'
  url: URL
}

/** The maximum of the standard for one map. */
const MAX_ENTRIES = 50_000
const MAX_ADDRESS_LENGTH = 4096

/** The addresses in a `urlset` or `sitemapindex`. */
export function parseSitemap(xml: string): SitemapEntry[] {
  const entries: SitemapEntry[] = []
  let kind: SitemapEntry['kind'] = 'page'
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
        if (text !== undefined && text.length <= MAX_ADDRESS_LENGTH) text += part
      },
      close(name) {
        if (name !== 'loc' || text === undefined) return
        const address = text.trim()
        text = undefined
        if (entries.length < MAX_ENTRIES && address.length <= MAX_ADDRESS_LENGTH && URL.canParse(address))
          entries.push({ kind, url: new URL(address) })
      },
    },
    'xml',
  )
  return entries
}
