import { readMarkup } from '../../parse/markup/markup-events.js'

export interface Located {
  kind: 'page' | 'map'
  url: URL
}

/** The maximum of the standard for one map. */
const MAX_LOCATED = 50_000
const MAX_ADDRESS = 4096

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
        if (text !== undefined && text.length <= MAX_ADDRESS) text += part
      },
      close(name) {
        if (name !== 'loc' || text === undefined) return
        const address = text.trim()
        text = undefined
        if (found.length < MAX_LOCATED && address.length <= MAX_ADDRESS && URL.canParse(address))
          found.push({ kind, url: new URL(address) })
      },
    },
    true,
  )
  return found
}
