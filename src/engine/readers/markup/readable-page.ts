import { DroppedElementTracker } from './dropped-element.js'
import { DROPPED_ELEMENTS } from './html-elements.js'
import type { Attributes, MarkupHandler } from './markup-events.js'
import { OpenElements, VOID_ELEMENTS } from './open-elements.js'
import { PageDocument, PageElement, PageText } from './page-dom.js'

/** Larger pages are no articles. Readability visits each element many times. */
const MAX_ELEMENTS = 20_000
/** Attributes that Readability reads, except for long values such as embedded pictures. */
const READ_ATTRIBUTES =
  'class id style href src srcset alt title role rel hidden aria-hidden aria-modal itemprop property name content lang dir summary type'.split(
    ' ',
  )
const MAX_VALUE_LENGTH = 2000
/** Fraction of letters in links from which a line is a teaser. */
const MIN_TEASER_FRACTION = 0.9
/** A marked body has at least this fraction of the letters of the article. */
const MIN_BODY_FRACTION = 0.5
const HEAD_ELEMENTS = new Set('title meta link base'.split(' '))

/** The texts and pictures of a page that its article does not contain, by their numbers. */
export interface OmittedParts {
  texts: ReadonlySet<number>
  pictures: ReadonlySet<number>
}

/**
 * Finds the article of a page with Readability.
 *
 * @param feed passes the events of the page to a handler
 * @returns undefined for a page without an article
 */
export async function findArticle(feed: (handler: MarkupHandler) => void): Promise<OmittedParts | undefined> {
  const { Readability } = await import('@mozilla/readability')
  const page = new PageDocument()
  const builder = new PageBuilder(page)
  feed(builder)
  if (builder.isTooLarge) return undefined
  const article = new Readability<PageElement | undefined>(page, {
    keepClasses: true,
    serializer: (node: unknown) => (node instanceof PageElement ? node : undefined),
  }).parse()
  const content = article?.content
  if (content === null || content === undefined) return undefined
  for (const teaser of findTeasers(content)) teaser.remove()
  const { texts, pictures } = builder
  const root = findMarkedBody(content) ?? content
  root.visit((node) => {
    if (node instanceof PageText) texts.delete(node.index)
    else pictures.delete(node.index)
  })
  return { texts, pictures }
}

/** The element that the page marks as the body of its article (schema.org), with most of what Readability found. */
function findMarkedBody(content: PageElement): PageElement | undefined {
  const [body, second] = content
    .getElementsByTagName('*')
    .filter((element) => element.getAttribute('itemprop')?.includes('articleBody') === true)
  if (body === undefined || second !== undefined) return undefined
  return countLetters(body) >= countLetters(content) * MIN_BODY_FRACTION ? body : undefined
}

/** Headings and paragraphs that are nothing but a link to another page. */
function findTeasers(content: PageElement): PageElement[] {
  return ['h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'p'].flatMap((name) =>
    content.getElementsByTagName(name).filter((element) => {
      const linked = element
        .getElementsByTagName('a')
        .reduce((sum, link) => sum + (/^(?:#|$)/.test(link.getAttribute('href') ?? '') ? 0 : countLetters(link)), 0)
      return linked > 0 && linked >= countLetters(element) * MIN_TEASER_FRACTION
    }),
  )
}

function countLetters(element: PageElement): number {
  return element.textContent.replace(/\s+/g, '').length
}

/** Builds the tree of a page, without elements that are not for readers. */
class PageBuilder implements MarkupHandler {
  readonly texts = new Set<number>()
  readonly pictures = new Set<number>()
  readonly #page: PageDocument
  readonly #open = new OpenElements<{ name: string; element: PageElement }>()
  readonly #dropped = new DroppedElementTracker()
  #textCount = 0
  #pictureCount = 0
  #elementCount = 0

  constructor(page: PageDocument) {
    this.#page = page
  }

  get isTooLarge(): boolean {
    return this.#elementCount > MAX_ELEMENTS
  }

  open(name: string, attributes: Attributes): void {
    if (this.#dropped.open(name, isDropped(name, attributes)) || name === 'head') return
    const picture = name === 'img' ? this.#pictureCount++ : -1
    if (++this.#elementCount > MAX_ELEMENTS) return
    if (name === 'html' || name === 'body') {
      const element = name === 'html' ? this.#page.documentElement : this.#page.body
      for (const [key, value] of pickAttributes(attributes)) element.setAttribute(key, value)
      return
    }
    this.#open.closeImplied(name)
    const element = new PageElement(this.#page, name, pickAttributes(attributes), picture)
    if (picture !== -1) this.pictures.add(picture)
    const isInHead = this.#open.length === 0 && HEAD_ELEMENTS.has(name)
    const parent = isInHead ? this.#page.head : (this.#open.top?.element ?? this.#page.body)
    parent.appendChild(element)
    if (!VOID_ELEMENTS.has(name) && !this.#open.isFull) this.#open.push({ name, element })
  }

  close(name: string): void {
    if (!this.#dropped.close(name)) this.#open.close(name)
  }

  text(text: string): void {
    if (this.#dropped.isActive) return
    const index = this.#textCount++
    if (this.isTooLarge) return
    const parent = this.#open.top
    if (parent?.name !== 'title' && parent?.name !== 'script') this.texts.add(index)
    const element = parent?.element ?? this.#page.body
    element.appendChild(new PageText(text, index))
  }
}

/** Whether an element is not passed to Readability, which reads the JSON-LD of a page. */
function isDropped(name: string, attributes: Attributes): boolean {
  return DROPPED_ELEMENTS.has(name) && !(name === 'script' && /ld\+json/i.test(attributes.get('type') ?? ''))
}

function pickAttributes(attributes: Attributes): Map<string, string> {
  const picked = new Map<string, string>()
  for (const name of READ_ATTRIBUTES) {
    const value = attributes.get(name)
    // Readability would replace links to scripts by their texts.
    if (
      value !== undefined &&
      value.length <= MAX_VALUE_LENGTH &&
      !(name === 'href' && value.startsWith('javascript:'))
    )
      picked.set(name, value)
  }
  return picked
}

/** Passes on a page without the parts that its article does not contain. */
export class ArticleFilter implements MarkupHandler {
  readonly #inner: MarkupHandler
  readonly #omitted: OmittedParts
  readonly #dropped = new DroppedElementTracker()
  #textCount = 0
  #pictureCount = 0

  constructor(inner: MarkupHandler, omitted: OmittedParts) {
    this.#inner = inner
    this.#omitted = omitted
  }

  open(name: string, attributes: Attributes): void {
    const isRead = !this.#dropped.open(name, isDropped(name, attributes))
    if (isRead && name === 'img' && this.#omitted.pictures.has(this.#pictureCount++)) return
    this.#inner.open(name, attributes)
  }

  close(name: string): void {
    this.#dropped.close(name)
    this.#inner.close(name)
  }

  text(text: string): void {
    if (this.#dropped.isActive || !this.#omitted.texts.has(this.#textCount++)) this.#inner.text(text)
  }
}
