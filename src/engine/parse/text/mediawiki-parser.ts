import { defined } from '../../../lib/defined.js'
import { ReadError } from '../limits.js'
import { type Attributes, type MarkupHandler, readMarkup } from '../markup/markup-events.js'
import type { Block, Parsed, Parser, ParserInput } from '../parsed.js'
import { wikiBlocks } from './mediawiki.js'

const DUMP = 'application/x-mediawiki-export+xml'
/** Maximum text of all pages of a dump, in characters. */
const MAX_TEXT = 64 * 1024 * 1024
const REDIRECT = /^\s*#(?:redirect|weiterleitung|redirection|redirección)/i

/** Reads pages in MediaWiki markup, and dumps of pages, each of which is a section. */
export const mediawikiParser: Parser = {
  accepts: (mediaType) => mediaType === 'text/x-mediawiki' || mediaType === DUMP,
  parse: parseWiki,
}

function parseWiki(input: ParserInput): Parsed {
  if (input.mediaType === DUMP) return parseDump(input)
  const { blocks, categories } = wikiBlocks(input.text())
  return {
    parser: 'unstructured',
    contentType: 'text',
    blocks,
    metadata: categories.length === 0 ? {} : { categories },
  }
}

function parseDump(input: ParserInput): Parsed {
  const reader = new DumpReader(input.filename)
  readMarkup(input.text(), reader, true)
  if (reader.pages === 0) throw new ReadError('empty', `${input.filename} has no pages`)
  return {
    parser: 'native-structured',
    contentType: 'text',
    ...defined({ title: reader.site, language: reader.language }),
    blocks: reader.blocks,
    metadata: { entryCount: reader.pages },
  }
}

/** Reads the pages of a dump, the last revision of each; skips redirects. */
class DumpReader implements MarkupHandler {
  readonly blocks: Block[] = []
  pages = 0
  site: string | undefined
  language: string | undefined
  readonly #filename: string
  #inside = ''
  #held: string[] = []
  #page: { title: string; text: string; redirect: boolean } | undefined
  #characters = 0

  constructor(filename: string) {
    this.#filename = filename
  }

  open(name: string, attributes: Attributes): void {
    if (name === 'mediawiki') this.language = attributes.get('xml:lang')
    else if (name === 'page') this.#page = { title: '', text: '', redirect: false }
    else if (name === 'redirect' && this.#page !== undefined) this.#page.redirect = true
    this.#inside = name
    this.#held = []
  }

  close(name: string): void {
    const text = this.#held.join('')
    if (name === this.#inside) {
      if (name === 'sitename') this.site = text.trim()
      else if (this.#page !== undefined && name === 'title') this.#page.title = text.trim()
      else if (this.#page !== undefined && name === 'text') this.#page.text = text
    }
    this.#inside = ''
    this.#held = []
    if (name === 'page') this.#endPage()
  }

  text(text: string): void {
    if (this.#inside === 'text' || this.#inside === 'title' || this.#inside === 'sitename') this.#held.push(text)
  }

  #endPage(): void {
    const page = this.#page
    this.#page = undefined
    if (page === undefined || page.redirect || REDIRECT.test(page.text)) return
    this.#characters += page.text.length
    if (this.#characters > MAX_TEXT)
      throw new ReadError('limit-exceeded', `${this.#filename} holds more text than the limit of 64 million characters`)
    const { blocks } = wikiBlocks(page.text, 1)
    if (blocks.length === 0) return
    this.pages++
    this.blocks.push({ type: 'heading', text: page.title === '' ? `Page ${this.pages}` : page.title, level: 1 })
    for (const block of blocks) this.blocks.push(block)
  }
}
