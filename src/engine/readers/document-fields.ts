import { isRecord } from '../../lib/json/values.js'
import { omitUndefined } from '../../lib/omit-undefined.js'
import { parseDocumentDate } from './document-dates.js'
import type { DeclaredFields, ParsedDocument } from './parsed.js'
import { findDateInFilename, findStatedDate, findYearInFilename } from './stated-date.js'

const MAX_AUTHORS = 50
const MAX_NAME_LENGTH = 200
const MAX_URL_LENGTH = 2000

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
export function buildDocumentFields(
  { declared, metadata }: Pick<ParsedDocument, 'declared' | 'metadata'>,
  { filename = '', text = '' }: { filename?: string; text?: string } = {},
): Record<string, unknown> {
  const front = readFrontMatterFields(metadata.frontMatter)
  const stated = { ...front, ...omitUndefined(declared ?? {}) }
  const datePublished = toIsoDate(stated.published)
  const dateModified = toIsoDate(stated.modified)
  const dateCreated = toIsoDate(stated.created)
  const authors = cleanNames(stated.authors ?? (typeof metadata.author === 'string' ? [metadata.author] : []))
  return omitUndefined({
    documentDate:
      datePublished ??
      toIsoDate(front.modified ?? front.created) ??
      toIsoDate(findStatedDate(text)) ??
      toIsoDate(findDateInFilename(filename)) ??
      dateModified ??
      dateCreated ??
      toIsoDate(findYearInFilename(filename)),
    datePublished,
    dateModified,
    dateCreated,
    ...(authors.length === 0 ? {} : { author: authors.join(', '), authors }),
    canonicalUrl: parseWebUrl(stated.canonicalUrl),
  })
}

function toIsoDate(text: string | undefined): string | undefined {
  const time = text === undefined ? undefined : parseDocumentDate(text)
  return time === undefined ? undefined : new Date(time).toISOString()
}

function cleanNames(names: readonly string[]): string[] {
  const clean = names
    .map((name) => name.replace(/\s+/g, ' ').trim().slice(0, MAX_NAME_LENGTH))
    .filter((name) => name !== '')
  return [...new Set(clean)].slice(0, MAX_AUTHORS)
}

function parseWebUrl(text: string | undefined): string | undefined {
  if (text === undefined || text.length > MAX_URL_LENGTH || !URL.canParse(text)) return undefined
  const url = new URL(text)
  return url.protocol === 'https:' || url.protocol === 'http:' ? url.href : undefined
}

function readFrontMatterFields(front: unknown): DeclaredFields {
  if (!isRecord(front)) return {}
  const values = new Map(Object.entries(front).map(([key, value]) => [key.toLowerCase(), value]))
  const findDate = (keys: readonly string[]): string | undefined => {
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
  return omitUndefined({
    published: findDate(published),
    modified: findDate(modified),
    created: findDate(created),
    authors: authors.length === 0 ? undefined : authors,
  })
}
