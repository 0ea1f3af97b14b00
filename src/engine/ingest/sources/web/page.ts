import { omitUndefined } from '../../../../lib/omit-undefined.js'
import { type Attributes, decodeText, readMarkup } from '../../../readers/index.js'

/** Properties of a page that a crawl uses. */
export interface PageFacts {
  title?: string
  description?: string
  /** as written, resolved against the page's base */
  canonical?: URL
  links: URL[]
  /** text of the page, for the reply of a crawl */
  text: string
}

/** Links after this many bytes of a page are ignored. */
export const SCANNED_BYTES = 2 * 1024 * 1024
const MAX_LINKS = 5000
const MAX_TEXT_LENGTH = 64 * 1024
const MAX_TITLE_LENGTH = 1000
/** Longer ones are not addresses of pages; a long base would be repeated in every link. */
const MAX_ADDRESS_LENGTH = 4096
const IGNORED_ELEMENTS = new Set(['script', 'style', 'template', 'noscript', 'svg'])

/** Extracts the links and description of a page. The document itself is read by the document parser. */
export function extractPageFacts(body: Buffer, address: URL): PageFacts {
  const reader = new PageFactsReader(address)
  readMarkup(decodeText(body.subarray(0, SCANNED_BYTES)).text, reader)
  return reader.facts()
}

/** The text of a plain text file; other kinds of files have none here. */
export function extractTextFacts(body: Buffer, mediaType: string): PageFacts {
  const text = mediaType.startsWith('text/') ? decodeText(body.subarray(0, SCANNED_BYTES)).text : ''
  return { links: [], text: text.slice(0, MAX_TEXT_LENGTH).toWellFormed() }
}

class PageFactsReader {
  #base: URL
  #ignoredElement = ''
  #inTitle = false
  #title = ''
  #description: string | undefined
  #canonical: string | undefined
  readonly #hrefs = new Set<string>()
  readonly #words: string[] = []
  #length = 0

  constructor(address: URL) {
    this.#base = address
  }

  open(name: string, attributes: Attributes): void {
    if (this.#ignoredElement !== '') return
    if (IGNORED_ELEMENTS.has(name)) this.#ignoredElement = name
    else if (name === 'title') this.#inTitle = this.#title === ''
    else if (name === 'base') this.#base = resolveHref(attributes.get('href'), this.#base) ?? this.#base
    else if (name === 'link' && getRelations(attributes).includes('canonical'))
      this.#canonical ??= attributes.get('href')
    else if (name === 'meta' && attributes.get('name')?.toLowerCase() === 'description')
      this.#description ??= attributes.get('content')
    else if ((name === 'a' || name === 'area') && this.#hrefs.size < MAX_LINKS) {
      const href = attributes.get('href')
      if (href !== undefined) this.#hrefs.add(href)
    }
  }

  close(name: string): void {
    if (name === this.#ignoredElement) this.#ignoredElement = ''
    if (name === 'title') this.#inTitle = false
  }

  text(text: string): void {
    if (this.#ignoredElement !== '') return
    if (this.#inTitle) this.#title = `${this.#title}${text}`.slice(0, MAX_TITLE_LENGTH)
    else if (this.#length < MAX_TEXT_LENGTH) {
      this.#words.push(text)
      this.#length += text.length
    }
  }

  facts(): PageFacts {
    const title = collapseSpaces(this.#title)
    const description = collapseSpaces(this.#description ?? '').slice(0, MAX_TITLE_LENGTH)
    const canonical = resolveHref(this.#canonical, this.#base)
    return {
      ...(title === '' ? {} : { title }),
      ...(description === '' ? {} : { description }),
      ...omitUndefined({ canonical }),
      links: [...this.#hrefs].flatMap((href) => resolveHref(href, this.#base) ?? []),
      text: collapseSpaces(this.#words.join(' ')).slice(0, MAX_TEXT_LENGTH).toWellFormed(),
    }
  }
}

function getRelations(attributes: Attributes): string[] {
  return (attributes.get('rel') ?? '').toLowerCase().split(/\s+/)
}

function resolveHref(href: string | undefined, base: URL): URL | undefined {
  if (href === undefined || href.length > MAX_ADDRESS_LENGTH || !URL.canParse(href, base.href)) return undefined
  return new URL(href, base)
}

function collapseSpaces(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}
