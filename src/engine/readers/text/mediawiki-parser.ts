import { omitUndefined } from '../../../lib/omit-undefined.js'
import { ReadError } from '../limits.js'
import { type Attributes, type MarkupHandler, readMarkup } from '../markup/markup-events.js'
import type { Block, ParsedDocument, Parser, ParserInput } from '../parsed.js'
import { readWikiBlocks } from './mediawiki.js'

const DUMP_TYPE = 'application/x-mediawiki-export+xml'
/** Maximum text of all pages of a dump, in characters. */
const MAX_TEXT_LENGTH = 64 * 1024 * 1024
const REDIRECT = /^\s*#(?:redirect|weiterleitung|redirection|redirección)/i

/** Reads pages in MediaWiki markup, and dumps of pages, each of which is a section. */
export const mediawikiParser: Parser = {
  parse: parseWiki,
}

function parseWiki(input: ParserInput): ParsedDocument {
  if (input.mediaType === DUMP_TYPE) return parseDump(input)
  const { blocks, categories, warnings } = readWikiBlocks(input.text())
  return {
    parser: 'unstructured',
    contentType: 'text',
    blocks,
    metadata: {
      ...(categories.length === 0 ? {} : { categories }),
      ...(warnings.length === 0 ? {} : { warnings }),
    },
  }
}

function parseDump(input: ParserInput): ParsedDocument {
  const reader = new DumpReader(input.filename)
  readMarkup(input.text(), reader, 'xml')
  if (reader.pages === 0) throw new ReadError('empty', `${input.filename} has no pages`)
  return {
    parser: 'native-structured',
    contentType: 'text',
    ...omitUndefined({ title: reader.site, language: reader.language }),
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
  #openTag = ''
  #textParts: string[] = []
  #page: { title: string; text: string; redirect: boolean } | undefined
  #characters = 0

  constructor(filename: string) {
    this.#filename = filename
  }

  open(name: string, attributes: Attributes): void {
    if (name === 'mediawiki') this.language = attributes.get('xml:lang')
    else if (name === 'page') this.#page = { title: '', text: '', redirect: false }
    else if (name === 'redirect' && this.#page !== undefined) this.#page.redirect = true
    this.#openTag = name
    this.#textParts = []
  }

  close(name: string): void {
    const text = this.#textParts.join('')
    if (name === this.#openTag) {
      if (name === 'sitename') this.site = text.trim()
      else if (this.#page !== undefined && name === 'title') this.#page.title = text.trim()
      else if (this.#page !== undefined && name === 'text') this.#page.text = text
    }
    this.#openTag = ''
    this.#textParts = []
    if (name === 'page') this.#endPage()
  }

  text(text: string): void {
    if (this.#openTag === 'text' || this.#openTag === 'title' || this.#openTag === 'sitename')
      this.#textParts.push(text)
  }

  #endPage(): void {
    const page = this.#page
    this.#page = undefined
    if (page === undefined || page.redirect || REDIRECT.test(page.text)) return
    this.#characters += page.text.length
    if (this.#characters > MAX_TEXT_LENGTH)
      throw new ReadError('limit-exceeded', `${this.#filename} holds more text than the limit of 64 million characters`)
    const { blocks } = readWikiBlocks(page.text, 1)
    if (blocks.length === 0) return
    this.pages++
    this.blocks.push({ type: 'heading', text: page.title === '' ? `Page ${this.pages}` : page.title, level: 1 })
    for (const block of blocks) this.blocks.push(block)
  }
}
