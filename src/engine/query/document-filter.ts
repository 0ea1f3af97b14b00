import { KsError } from '../../contract/errors.js'
import type { DocumentFilter } from '../../contract/gateway/document-filter.js'
import { fieldsOfDocuments } from '../rows/document-fields.js'
import type { Asker } from '../rows/permissions.js'
import { MAX_FILTER_DOCS } from '../search/limits.js'
import type { Read } from '../storage/program.js'

/**
 * Finds the row keys of the documents of a revision that the reader may know of and that match a filter. A document
 * without a field of the filter does not match.
 *
 * @throws KsError `invalid-request` when more than `MAX_FILTER_DOCS` match
 */
export function* documentsThrough(
  reader: Asker,
  spaceKey: number,
  revision: number,
  filter: DocumentFilter,
): Read<number[]> {
  const { dateFrom, dateTo, author, language } = filter
  const span = {
    from: dateFrom === undefined ? null : isoOf(dateFrom),
    to: dateTo === undefined ? null : endOf(dateTo),
  }
  const rows = yield* fieldsOfDocuments(reader, spaceKey, revision, span)
  const name = author?.toLowerCase()
  const tongue = language?.toLowerCase()
  const keys = rows
    .filter((row) => name === undefined || row.author?.toLowerCase().includes(name) === true)
    .filter((row) => tongue === undefined || isIn(row.language?.toLowerCase(), tongue))
    .map((row) => row.doc_key)
  if (keys.length <= MAX_FILTER_DOCS) return keys
  const [found, most] = [keys.length, MAX_FILTER_DOCS].map((count) => count.toLocaleString('en-US'))
  throw new KsError(
    'invalid-request',
    `filter matches ${found} documents, more than the maximum of ${most}; narrow the filter or remove it`,
  )
}

function isoOf(text: string): string {
  return new Date(text).toISOString()
}

/** Last instant of a day, or the instant itself. */
function endOf(text: string): string {
  return /^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T23:59:59.999Z` : isoOf(text)
}

function isIn(language: string | undefined, asked: string): boolean {
  return language === asked || language?.startsWith(`${asked}-`) === true
}
