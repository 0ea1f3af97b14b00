import { omitUndefined } from '../../../../lib/omit-undefined.js'
import { USER_AGENT } from '../../../models/index.js'
import { type Attributes, collapseSpaces, decodeText, readMarkup } from '../../../readers/index.js'
import { parseRefresh, parseRobotsDirectives, type Refresh, type RobotsDirectives } from './page-directives.js'

/** Properties of a page that a crawl uses. */
export interface PageFacts {
  title?: string
  description?: string
  /** as written, resolved against the page's base */
  canonical?: URL
  refresh?: Refresh
  /** pages shown within this one */
  frames?: URL[]
  /** the page consists of frames alone */
  isFrameset?: true
  /** absent where the page asks nothing of crawlers */
  robots?: RobotsDirectives
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
/** Pages may address this crawler by name instead of all robots. */
const ROBOTS_NAME = USER_AGENT.toLowerCase()
const IGNORED_ELEMENTS = new Set(['script', 'style', 'template', 'noscript', 'svg'])

/**
 * Extracts the links and description of a page. The document itself is read by the document parser.
 *
 * @param charset of the response header; it overrides that of the page itself
 */
export function extractPageFacts(body: Buffer, address: URL, charset?: string): PageFacts {
  const reader = new PageFactsReader(address)
  readMarkup(decodeText(body.subarray(0, SCANNED_BYTES), charset).text, reader)
  return reader.facts()
}

/** The text of a plain text file; other kinds of files have none here. */
export function extractTextFacts(body: Buffer, mediaType: string, charset?: string): PageFacts {
  const text = mediaType.startsWith('text/') ? decodeText(body.subarray(0, SCANNED_BYTES), charset).text : ''
  return { links: [], text: text.slice(0, MAX_TEXT_LENGTH).toWellFormed() }
}

class PageFactsReader {
  #base: URL
  #ignoredElement = ''
  #inTitle = false
  #title = ''
  #description: string | undefined
  #canonical: string | undefined
  #refresh: string | undefined
  #robots = ''
  #isFrameset = false
  readonly #frames = new Set<string>()
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
    else if (name === 'link') this.#readLink(attributes)
    else if (name === 'meta') this.#readMeta(attributes)
    else if (name === 'frameset') this.#isFrameset = true
    else if (name === 'frame' || name === 'iframe') addBounded(this.#frames, attributes.get('src'))
    else if (name === 'a' || name === 'area') addBounded(this.#hrefs, attributes.get('href'))
  }

  #readLink(attributes: Attributes): void {
    const relations = getRelations(attributes)
    if (relations.includes('canonical')) this.#canonical ??= attributes.get('href')
    // the page in another language
    else if (relations.includes('alternate') && attributes.has('hreflang'))
      addBounded(this.#hrefs, attributes.get('href'))
  }

  #readMeta(attributes: Attributes): void {
    const name = attributes.get('name')?.toLowerCase()
    const content = attributes.get('content')
    if (name === 'description') this.#description ??= content
    else if (name === 'robots' || name === ROBOTS_NAME) this.#robots += `,${content ?? ''}`.slice(0, MAX_TITLE_LENGTH)
    else if (attributes.get('http-equiv')?.toLowerCase() === 'refresh') this.#refresh ??= content
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
    const refresh = this.#refresh === undefined ? undefined : parseRefresh(this.#refresh, this.#base)
    const resolveAll = (hrefs: Iterable<string>) => [...hrefs].flatMap((href) => resolveHref(href, this.#base) ?? [])
    return {
      ...(title === '' ? {} : { title }),
      ...(description === '' ? {} : { description }),
      ...omitUndefined({ canonical, refresh }),
      ...(this.#frames.size === 0 ? {} : { frames: resolveAll(this.#frames) }),
      ...(this.#isFrameset ? { isFrameset: true } : {}),
      ...(this.#robots === '' ? {} : { robots: parseRobotsDirectives(this.#robots) }),
      links: resolveAll(this.#hrefs),
      text: collapseSpaces(this.#words.join(' ')).slice(0, MAX_TEXT_LENGTH).toWellFormed(),
    }
  }
}

function addBounded(addresses: Set<string>, address: string | undefined): void {
  if (address !== undefined && addresses.size < MAX_LINKS) addresses.add(address)
}

function getRelations(attributes: Attributes): string[] {
  return (attributes.get('rel') ?? '').toLowerCase().split(/\s+/)
}

function resolveHref(href: string | undefined, base: URL): URL | undefined {
  if (href === undefined || href.length > MAX_ADDRESS_LENGTH || !URL.canParse(href, base.href)) return undefined
  return new URL(href, base)
}
