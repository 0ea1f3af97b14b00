import { defined } from '../../../lib/defined.js'
import { isRecord } from '../../../lib/json/values.js'
import type { Declared } from '../parsed.js'
import type { Attributes } from './markup-events.js'

type Key = 'published' | 'modified' | 'created' | 'author' | 'title' | 'canonical' | 'language'

/**
 * Names of `meta` elements by field, the most reliable first: Dublin Core, Open Graph, schema.org, and old conventions.
 */
const META: ReadonlyMap<string, readonly [Key, number]> = new Map(
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
const JSON_LD = -1
/** Rank of a `time` element in the page, which is last. */
const TIME = 100
const MAX_VALUE = 1000
const MAX_JSON = 256 * 1024
const MAX_NODES = 500
/** Types of schema.org that are about the page itself. */
const PAGE_TYPES = /(?:Article|Posting|WebPage|Report|NewsArticle|CreativeWork|TechArticle|Book|Review)$/

/** Collects the fields that a page states: `meta`, `link`, JSON-LD, and the first `time` that is marked as its date. */
export class HtmlFields {
  readonly #values = new Map<Key, { rank: number; values: string[] }>()
  #json: string[] | undefined
  #jsonLength = 0

  /** Reads an opening tag of the page. */
  open(name: string, attributes: Attributes): void {
    if (name === 'meta') this.#meta(attributes)
    else if (name === 'link' && attributes.get('rel')?.toLowerCase() === 'canonical')
      this.#add('canonical', JSON_LD, attributes.get('href'))
    else if (name === 'time') this.#time(attributes)
    else if (name === 'script') this.#json = /ld\+json/i.test(attributes.get('type') ?? '') ? [] : undefined
  }

  /** Adds text of an element that is not for readers. */
  dropped(text: string): void {
    if (this.#json === undefined || this.#jsonLength + text.length > MAX_JSON) return
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

  finish(): { title?: string; language?: string; declared: Declared } {
    const one = (key: Key): string | undefined => this.#values.get(key)?.values[0]
    const language = one('language')
    return {
      ...defined({ title: one('title') }),
      ...(language !== undefined && /^[a-z]{2,3}(?:-[\w-]{1,20})?$/i.test(language) ? { language } : {}),
      declared: defined({
        published: one('published'),
        modified: one('modified'),
        created: one('created'),
        authors: this.#values.get('author')?.values.filter((author) => !/^https?:/.test(author)),
        canonicalUrl: one('canonical'),
      }),
    }
  }

  #meta(attributes: Attributes): void {
    for (const attribute of ['name', 'property', 'itemprop', 'http-equiv']) {
      const found = META.get(attributes.get(attribute)?.toLowerCase() ?? '')
      if (found === undefined) continue
      this.#add(found[0], found[1], attributes.get('content'))
      return
    }
  }

  #time(attributes: Attributes): void {
    const said = attributes.get('datetime')
    const property = attributes.get('itemprop')?.toLowerCase()
    if (property === 'datemodified' || /\bupdated\b/.test(attributes.get('class') ?? ''))
      this.#add('modified', TIME, said)
    else if (
      property === 'datepublished' ||
      attributes.has('pubdate') ||
      /\b(?:published|entry-date)\b/.test(attributes.get('class') ?? '')
    )
      this.#add('published', TIME, said)
  }

  #jsonLd(value: unknown): void {
    const open: unknown[] = [value]
    for (let seen = 0; open.length > 0 && seen < MAX_NODES; seen++) {
      const node = open.shift()
      if (Array.isArray(node)) open.push(...node.slice(0, MAX_NODES))
      if (!isRecord(node)) continue
      if (Array.isArray(node['@graph'])) open.push(...node['@graph'].slice(0, MAX_NODES))
      const types = [node['@type']].flat()
      if (!types.some((type) => typeof type === 'string' && PAGE_TYPES.test(type))) continue
      this.#add('published', JSON_LD, node.datePublished)
      this.#add('modified', JSON_LD, node.dateModified)
      this.#add('created', JSON_LD, node.dateCreated)
      this.#add('language', JSON_LD, node.inLanguage)
      for (const author of [node.author].flat()) this.#add('author', JSON_LD, isRecord(author) ? author.name : author)
    }
  }

  #add(key: Key, rank: number, value: unknown): void {
    if (typeof value !== 'string' || value.trim() === '') return
    const text = value.replace(/\s+/g, ' ').trim().slice(0, MAX_VALUE)
    const known = this.#values.get(key)
    if (known === undefined || rank < known.rank) this.#values.set(key, { rank, values: [text] })
    // Each of several authors has a separate element.
    else if (rank === known.rank && key === 'author') known.values.push(text)
  }
}

/** The title of the page, without the name of its site where the page declares a title without it. */
export function pageTitle(title: string | undefined, shared: string | undefined): string | undefined {
  const shown = title?.replace(/\s+/g, ' ').trim() ?? ''
  if (shared !== undefined && (shown === '' || (shown.startsWith(shared) && shown.length > shared.length)))
    return shared
  return shown === '' ? undefined : shown
}
