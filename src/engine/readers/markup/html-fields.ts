import { omitUndefined } from '../../../lib/omit-undefined.js'
import { toComparisonKey } from '../implied-headings.js'
import type { DeclaredFields } from '../parsed.js'
import { BylineReader } from './html-byline.js'
import { readJsonLd } from './json-ld.js'
import type { Attributes } from './markup-events.js'

type FieldKey =
  | 'published'
  | 'modified'
  | 'created'
  | 'author'
  | 'title'
  | 'canonical'
  | 'language'
  | 'site'
  | 'description'
  | 'keywords'

/**
 * Names of `meta` elements by field, the most reliable first: Dublin Core, Open Graph, schema.org, and old conventions.
 */
const META: ReadonlyMap<string, readonly [FieldKey, number]> = new Map(
  (
    [
      [
        'published',
        'article:published_time citation_publication_date citation_date dc.date.issued dcterms.issued datepublished',
      ],
      [
        'published',
        'publish_date publish-date pubdate publication_date parsely-pub-date sailthru.date dc.date dcterms.date date',
      ],
      ['modified', 'article:modified_time og:updated_time dcterms.modified dc.date.modified datemodified'],
      ['modified', 'last-modified last_modified lastmod revised'],
      ['created', 'dcterms.created dc.date.created datecreated'],
      ['author', 'author article:author dc.creator dcterms.creator citation_author parsely-author sailthru.author'],
      ['author', 'dc:creator dcterm:creator dcterms:creator'],
      ['title', 'citation_title dc.title dc:title dcterms.title dcterms:title og:title'],
      ['title', 'weibo:article:title weibo:webpage:title twitter:title parsely-title title'],
      ['site', 'og:site_name application-name'],
      ['canonical', 'og:url'],
      ['description', 'description'],
      ['keywords', 'keywords'],
      ['language', 'content-language'],
    ] as const
  ).flatMap(([key, names], rank) => names.split(' ').map((name) => [name, [key, rank] as const] as const)),
)
/** Rank of JSON-LD: programs write it for programs, so it precedes `meta`. */
const JSON_LD_RANK = -1
/** Ranks below `meta`: a date or author that the text marks, a date in the address of the page, and any `time`. */
const MARKED_RANK = 100
const ADDRESS_RANK = 200
const TIME_RANK = 300
const MAX_VALUE_LENGTH = 1000
const MAX_JSON_LENGTH = 256 * 1024
/** `og:type`, also as sites wrote it before its list was fixed. */
const ARTICLE_KIND = /article|blog|news/i
const ARTICLE_ITEM = /\/(?:\w*Article|BlogPosting)$/
/** Class names of a publication date. */
const DATE_CLASS = /\b(?:published|entry-date|pub-?date|post-date|dateline|timestamp)\b/i
const ADDRESS_DATE = /\/((?:19|20)\d{2})[/-](\d{1,2})[/-](\d{1,2})(?:[/-]|$)/

/** The fields of a page. */
interface HtmlFieldValues {
  /** titles for links to the page */
  titles: string[]
  site?: string
  language?: string
  metadata: Record<string, unknown>
  declared: DeclaredFields
}

/** Collects the fields that a page states: `meta`, `link`, JSON-LD, and dates and the author that its text marks. */
export class HtmlFields {
  readonly #values = new Map<FieldKey, { rank: number; values: string[] }>()
  readonly #byline = new BylineReader()
  #isArticle = false
  #articleElements = 0
  #json: string[] | undefined
  #jsonLength = 0

  /**
   * Whether the page states that it is an article (Open Graph, schema.org), or is one `article` element with an author
   * and a date. Known at the end of the page.
   */
  get isArticle(): boolean {
    return (
      this.#isArticle ||
      (this.#articleElements === 1 &&
        this.#values.has('author') &&
        (this.#values.has('published') || this.#values.has('modified')))
    )
  }

  /** Reads an opening tag of the page. */
  open(name: string, attributes: Attributes): void {
    if (name === 'meta') this.#readMeta(attributes)
    else if (name === 'link') {
      if (attributes.get('rel')?.toLowerCase() === 'canonical')
        this.#add('canonical', JSON_LD_RANK, attributes.get('href'))
    } else if (name === 'script') this.#json = /ld\+json/i.test(attributes.get('type') ?? '') ? [] : undefined
    else {
      if (name === 'article') this.#articleElements++
      if (!attributes.isEmpty) this.#readProperty(name, attributes)
      this.#byline.open(name, attributes)
    }
  }

  /** Adds text for readers. */
  text(text: string): void {
    this.#byline.text(text)
  }

  /** Adds text of an element that is not for readers. */
  addDroppedText(text: string): void {
    if (this.#json === undefined || this.#jsonLength + text.length > MAX_JSON_LENGTH) return
    this.#jsonLength += text.length
    this.#json.push(text)
  }

  close(name: string): void {
    this.#byline.close(name)
    if (name !== 'script' || this.#json === undefined) return
    const source = this.#json.join('')
    this.#json = undefined
    for (const { node, isArticle, authors } of readJsonLd(source)) {
      this.#isArticle ||= isArticle
      this.#add('published', JSON_LD_RANK, node.datePublished)
      this.#add('modified', JSON_LD_RANK, node.dateModified)
      this.#add('created', JSON_LD_RANK, node.dateCreated)
      this.#add('language', JSON_LD_RANK, node.inLanguage)
      for (const title of isArticle ? [node.name, node.headline] : []) this.#add('title', JSON_LD_RANK, title)
      for (const author of authors) this.#add('author', JSON_LD_RANK, author)
    }
  }

  finish(): HtmlFieldValues {
    this.#add('author', MARKED_RANK, this.#byline.byline)
    const [, year, month = '', day = ''] = ADDRESS_DATE.exec(this.#values.get('canonical')?.values[0] ?? '') ?? []
    if (year !== undefined)
      this.#add('published', ADDRESS_RANK, `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`)
    const getFirst = (key: FieldKey): string | undefined => this.#values.get(key)?.values[0]
    const language = getFirst('language')
    return {
      ...omitUndefined({ site: getFirst('site') }),
      titles: this.#values.get('title')?.values ?? [],
      ...(language !== undefined && /^[a-z]{2,3}(?:-[\w-]{1,20})?$/i.test(language) ? { language } : {}),
      metadata: omitUndefined({ description: getFirst('description'), keywords: getFirst('keywords') }),
      declared: omitUndefined({
        published: getFirst('published'),
        modified: getFirst('modified'),
        created: getFirst('created'),
        authors: this.#values.get('author')?.values.filter((author) => !/^https?:/.test(author)),
        canonicalUrl: getFirst('canonical'),
      }),
    }
  }

  #readMeta(attributes: Attributes): void {
    const content = attributes.get('content')
    // `property` and `name` may list several names.
    for (const attribute of ['name', 'property', 'itemprop', 'http-equiv'])
      for (const name of attributes.get(attribute)?.toLowerCase().split(/\s+/, 10) ?? []) {
        if (name.startsWith('article:') || (name === 'og:type' && ARTICLE_KIND.test(content ?? '')))
          this.#isArticle = true
        const match = META.get(name)
        if (match !== undefined) this.#add(match[0], match[1], content)
      }
  }

  #readProperty(name: string, attributes: Attributes): void {
    const property = attributes.get('itemprop')
    if (name === 'time' || property !== undefined) this.#readDate(name, property, attributes)
    if (!this.#isArticle && ARTICLE_ITEM.test(attributes.get('itemtype') ?? '')) this.#isArticle = true
  }

  /** A date that the text of the page states in a `time` element or with a property of schema.org. */
  #readDate(name: string, property: string | undefined, attributes: Attributes): void {
    const value = attributes.get('datetime') ?? attributes.get('content')
    const className = attributes.get('class') ?? ''
    const key = property?.toLowerCase()
    if (key === 'datemodified' || (name === 'time' && /\bupdated\b/.test(className)))
      this.#add('modified', MARKED_RANK, value)
    else if (key === 'datepublished' || (name === 'time' && (attributes.has('pubdate') || DATE_CLASS.test(className))))
      this.#add('published', MARKED_RANK, value)
    else if (name === 'time' && this.#isArticle) this.#add('published', TIME_RANK, value)
  }

  #add(key: FieldKey, rank: number, value: unknown): void {
    if (typeof value !== 'string' || value.trim() === '') return
    const text = value.replace(/\s+/g, ' ').trim().slice(0, MAX_VALUE_LENGTH)
    const known = this.#values.get(key)
    if (known === undefined || rank < known.rank) this.#values.set(key, { rank, values: [text] })
    // Each of several authors has a separate element; schema.org knows a name and a headline.
    else if (rank === known.rank && (key === 'author' || key === 'title')) known.values.push(text)
  }
}

/** Signs between the title of a page and the name of its site. */
const TITLE_SEPARATOR = /\s+[|\-–—\\/>»·•:]+\s+|:\s+/g

/**
 * The title of a page without the name of its site: the title that it declares for links to it, otherwise the part of
 * `<title>` that is also a heading, or that is not the declared name of the site.
 */
export function chooseTitle(
  title: string | undefined,
  { titles, site }: { titles: readonly string[]; site?: string },
  headings: readonly string[],
): string | undefined {
  const siteKey = toComparisonKey(site ?? '')
  const isSite = (text: string) => siteKey !== '' && toComparisonKey(text) === siteKey
  const declared = titles.filter((text) => !isSite(text))
  const titleKey = toComparisonKey(title ?? '')
  // Of the name and the headline of JSON-LD, one is the title, and the other may name the site or describe the page.
  const [shared, other] = declared
  if (shared !== undefined) {
    const isOther = other !== undefined && countCommonStart(other, titleKey) > countCommonStart(shared, titleKey)
    return isOther ? other : shared
  }
  const fullTitle = title?.replace(/\s+/g, ' ').trim() ?? ''
  if (fullTitle === '') return titles[0]
  const headingKeys = new Set(headings.map(toComparisonKey))
  if (headingKeys.has(titleKey)) return fullTitle
  for (const { index, 0: separator } of fullTitle.matchAll(TITLE_SEPARATOR)) {
    const before = fullTitle.slice(0, index)
    const after = fullTitle.slice(index + separator.length)
    if (isSite(after) || (before !== '' && headingKeys.has(toComparisonKey(before)))) return before
    if (isSite(before) || headingKeys.has(toComparisonKey(after))) return after
  }
  return fullTitle
}

/** Length of the common start of a title and another one, both as comparison keys. */
function countCommonStart(title: string, otherKey: string): number {
  const key = toComparisonKey(title)
  let length = 0
  while (length < key.length && key.charAt(length) === otherKey.charAt(length)) length++
  return length
}
