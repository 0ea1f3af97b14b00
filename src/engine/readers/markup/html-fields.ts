import { isRecord } from '../../../lib/json/values.js'
import { omitUndefined } from '../../../lib/omit-undefined.js'
import type { DeclaredFields } from '../parsed.js'
import type { Attributes } from './markup-events.js'

type FieldKey = 'published' | 'modified' | 'created' | 'author' | 'title' | 'canonical' | 'language'

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
      ['title', 'og:title citation_title'],
      ['canonical', 'og:url'],
      ['language', 'content-language'],
    ] as const
  ).flatMap(([key, names], rank) => names.split(' ').map((name) => [name, [key, rank] as const] as const)),
)
/** Rank of JSON-LD: programs write it for programs, so it precedes `meta`. */
const JSON_LD_RANK = -1
/** Rank of a `time` element in the page, which is last. */
const TIME_RANK = 100
const MAX_VALUE_LENGTH = 1000
const MAX_JSON_LENGTH = 256 * 1024
const MAX_NODES = 500
/** Types of schema.org that are about the page itself. */
const PAGE_TYPES = /(?:Article|Posting|WebPage|Report|NewsArticle|CreativeWork|TechArticle|Book|Review)$/

/** Collects the fields that a page states: `meta`, `link`, JSON-LD, and the first `time` that is marked as its date. */
export class HtmlFields {
  readonly #values = new Map<FieldKey, { rank: number; values: string[] }>()
  #json: string[] | undefined
  #jsonLength = 0

  /** Reads an opening tag of the page. */
  open(name: string, attributes: Attributes): void {
    if (name === 'meta') this.#meta(attributes)
    else if (name === 'link' && attributes.get('rel')?.toLowerCase() === 'canonical')
      this.#add('canonical', JSON_LD_RANK, attributes.get('href'))
    else if (name === 'time') this.#time(attributes)
    else if (name === 'script') this.#json = /ld\+json/i.test(attributes.get('type') ?? '') ? [] : undefined
  }

  /** Adds text of an element that is not for readers. */
  addDroppedText(text: string): void {
    if (this.#json === undefined || this.#jsonLength + text.length > MAX_JSON_LENGTH) return
    this.#jsonLength += text.length
    this.#json.push(text)
  }

  close(name: string): void {
    if (name !== 'script' || this.#json === undefined) return
    const source = this.#json.join('')
    this.#json = undefined
    try {
      this.#jsonLd(JSON.parse(source))
    } catch {
      // Invalid JSON states nothing.
    }
  }

  finish(): { title?: string; language?: string; declared: DeclaredFields } {
    const getFirst = (key: FieldKey): string | undefined => this.#values.get(key)?.values[0]
    const language = getFirst('language')
    return {
      ...omitUndefined({ title: getFirst('title') }),
      ...(language !== undefined && /^[a-z]{2,3}(?:-[\w-]{1,20})?$/i.test(language) ? { language } : {}),
      declared: omitUndefined({
        published: getFirst('published'),
        modified: getFirst('modified'),
        created: getFirst('created'),
        authors: this.#values.get('author')?.values.filter((author) => !/^https?:/.test(author)),
        canonicalUrl: getFirst('canonical'),
      }),
    }
  }

  #meta(attributes: Attributes): void {
    for (const attribute of ['name', 'property', 'itemprop', 'http-equiv']) {
      const match = META.get(attributes.get(attribute)?.toLowerCase() ?? '')
      if (match === undefined) continue
      this.#add(match[0], match[1], attributes.get('content'))
      return
    }
  }

  #time(attributes: Attributes): void {
    const dateTime = attributes.get('datetime')
    const property = attributes.get('itemprop')?.toLowerCase()
    if (property === 'datemodified' || /\bupdated\b/.test(attributes.get('class') ?? ''))
      this.#add('modified', TIME_RANK, dateTime)
    else if (
      property === 'datepublished' ||
      attributes.has('pubdate') ||
      /\b(?:published|entry-date)\b/.test(attributes.get('class') ?? '')
    )
      this.#add('published', TIME_RANK, dateTime)
  }

  #jsonLd(value: unknown): void {
    const pending: unknown[] = [value]
    for (let nodeCount = 0; pending.length > 0 && nodeCount < MAX_NODES; nodeCount++) {
      const node = pending.shift()
      if (Array.isArray(node)) pending.push(...node.slice(0, MAX_NODES))
      if (!isRecord(node)) continue
      if (Array.isArray(node['@graph'])) pending.push(...node['@graph'].slice(0, MAX_NODES))
      const types = [node['@type']].flat()
      if (!types.some((type) => typeof type === 'string' && PAGE_TYPES.test(type))) continue
      this.#add('published', JSON_LD_RANK, node.datePublished)
      this.#add('modified', JSON_LD_RANK, node.dateModified)
      this.#add('created', JSON_LD_RANK, node.dateCreated)
      this.#add('language', JSON_LD_RANK, node.inLanguage)
      for (const author of [node.author].flat())
        this.#add('author', JSON_LD_RANK, isRecord(author) ? author.name : author)
    }
  }

  #add(key: FieldKey, rank: number, value: unknown): void {
    if (typeof value !== 'string' || value.trim() === '') return
    const text = value.replace(/\s+/g, ' ').trim().slice(0, MAX_VALUE_LENGTH)
    const known = this.#values.get(key)
    if (known === undefined || rank < known.rank) this.#values.set(key, { rank, values: [text] })
    // Each of several authors has a separate element.
    else if (rank === known.rank && key === 'author') known.values.push(text)
  }
}

/** The title of the page, without the name of its site where the page declares a title without it. */
export function chooseTitle(title: string | undefined, sharedTitle: string | undefined): string | undefined {
  const fullTitle = title?.replace(/\s+/g, ' ').trim() ?? ''
  if (
    sharedTitle !== undefined &&
    (fullTitle === '' || (fullTitle.startsWith(sharedTitle) && fullTitle.length > sharedTitle.length))
  )
    return sharedTitle
  return fullTitle === '' ? undefined : fullTitle
}
