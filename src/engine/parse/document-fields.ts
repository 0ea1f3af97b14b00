import { defined } from '../../lib/defined.js'
import { isRecord } from '../../lib/json/values.js'
import { documentDate } from './document-dates.js'
import type { Declared, Parsed } from './parsed.js'
import { dateInFilename, dateStatedIn, yearInFilename } from './stated-date.js'

const MAX_AUTHORS = 50
const MAX_NAME = 200
const MAX_URL = 2000

/** Keys of front matter for each date, in order of preference. */
const FRONT_DATES = {
  published: ['date', 'published', 'publishdate', 'pubdate', 'date_published'],
  modified: ['updated', 'lastmod', 'modified', 'last_modified', 'date_modified'],
  created: ['created', 'date_created'],
} as const

/**
 * The fields of a document that filters, freshness and conflicts use. `documentDate` is the first of: publication date,
 * other date of the front matter, date stated near the top of the text, date in the file name, modification date,
 * creation date, year in the file name. Dates are ISO 8601 in UTC, so that they sort as text. Impossible dates are
 * omitted.
 */
export function documentFields(
  { declared, metadata }: Pick<Parsed, 'declared' | 'metadata'>,
  { filename = '', text = '' }: { filename?: string; text?: string } = {},
): Record<string, unknown> {
  const front = fromFrontMatter(metadata.frontMatter)
  const said = { ...front, ...defined(declared ?? {}) }
  const datePublished = isoDate(said.published)
  const dateModified = isoDate(said.modified)
  const dateCreated = isoDate(said.created)
  const authors = namesOf(said.authors ?? (typeof metadata.author === 'string' ? [metadata.author] : []))
  return defined({
    documentDate:
      datePublished ??
      isoDate(front.modified ?? front.created) ??
      isoDate(dateStatedIn(text)) ??
      isoDate(dateInFilename(filename)) ??
      dateModified ??
      dateCreated ??
      isoDate(yearInFilename(filename)),
    datePublished,
    dateModified,
    dateCreated,
    ...(authors.length === 0 ? {} : { author: authors.join(', '), authors }),
    canonicalUrl: webUrl(said.canonicalUrl),
  })
}

function isoDate(text: string | undefined): string | undefined {
  const time = text === undefined ? undefined : documentDate(text)
  return time === undefined ? undefined : new Date(time).toISOString()
}

function namesOf(names: readonly string[]): string[] {
  const clean = names.map((name) => name.replace(/\s+/g, ' ').trim().slice(0, MAX_NAME)).filter((name) => name !== '')
  return [...new Set(clean)].slice(0, MAX_AUTHORS)
}

function webUrl(text: string | undefined): string | undefined {
  if (text === undefined || text.length > MAX_URL || !URL.canParse(text)) return undefined
  const url = new URL(text)
  return url.protocol === 'https:' || url.protocol === 'http:' ? url.href : undefined
}

function fromFrontMatter(front: unknown): Declared {
  if (!isRecord(front)) return {}
  const values = new Map(Object.entries(front).map(([key, value]) => [key.toLowerCase(), value]))
  const date = (keys: readonly string[]): string | undefined => {
    for (const key of keys) {
      const value = values.get(key)
      if (typeof value === 'string' && value !== '') return value
    }
    return undefined
  }
  const authors = [values.get('author'), values.get('authors')].flat().flatMap((value) => {
    const name = isRecord(value) ? value.name : value
    return typeof name === 'string' ? [name] : []
  })
  const { published, modified, created } = FRONT_DATES
  return defined({
    published: date(published),
    modified: date(modified),
    created: date(created),
    authors: authors.length === 0 ? undefined : authors,
  })
}
