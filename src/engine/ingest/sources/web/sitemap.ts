import { gunzipSync } from 'node:zlib'
import { readMarkup } from '../../../readers/index.js'

export interface SitemapEntry {
  kind: 'page' | 'map'
  url: URL
}

/** The maxima of the standard for one map, decompressed. */
const MAX_ENTRIES = 50_000
const MAX_BYTES = 50 * 1024 * 1024
const MAX_ADDRESS_LENGTH = 4096

/** The addresses in a `urlset` or `sitemapindex`, gzipped or not, or in a text with one address on each line. */
export function parseSitemap(body: Buffer): SitemapEntry[] {
  const text = decompress(body)
  return /^[\s\ufeff]*</.test(text) ? parseXmlMap(text) : parseTextMap(text)
}

/** Servers also send gzipped maps as files, not as an encoding of the response. A damaged map has no pages. */
function decompress(body: Buffer): string {
  if (body[0] !== 0x1f || body[1] !== 0x8b) return body.toString('utf8')
  try {
    return gunzipSync(body, { maxOutputLength: MAX_BYTES }).toString('utf8')
  } catch {
    return ''
  }
}

function parseTextMap(text: string): SitemapEntry[] {
  return text
    .split(/\s+/, MAX_ENTRIES)
    .flatMap((line) => (/^https?:/i.test(line) && URL.canParse(line) ? [{ kind: 'page', url: new URL(line) }] : []))
}

function parseXmlMap(xml: string): SitemapEntry[] {
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
