import { KsError } from '../../../contract/errors.js'
import type { DocumentFilter } from '../../../contract/gateway/document-filter.js'
import { MAX_FILTER_DOCS } from '../../search/index.js'
import type { Read } from '../../store/program.js'
import { listDocumentFields } from '../../store/rows/document-fields.js'
import type { ReaderIdentity } from '../../store/rows/permissions.js'

/**
 * Finds the row keys of the documents of a revision that the reader may know of and that match a filter. A document
 * without a field of the filter does not match.
 *
 * @throws KsError `invalid-request` when more than `MAX_FILTER_DOCS` match
 */
export function* findMatchingDocuments(
  reader: ReaderIdentity,
  spaceKey: number,
  revision: number,
  filter: DocumentFilter,
): Read<number[]> {
  const { dateFrom, dateTo, author, language } = filter
  const span = {
    from: dateFrom === undefined ? null : toIso(dateFrom),
    to: dateTo === undefined ? null : toEndIso(dateTo),
  }
  const rows = yield* listDocumentFields(reader, spaceKey, revision, span)
  const name = author?.toLowerCase()
  const languageTag = language?.toLowerCase()
  const keys = rows
    .filter((row) => name === undefined || row.author?.toLowerCase().includes(name) === true)
    .filter((row) => languageTag === undefined || isLanguageOf(row.language?.toLowerCase(), languageTag))
    .map((row) => row.doc_key)
  if (keys.length <= MAX_FILTER_DOCS) return keys
  const [found, max] = [keys.length, MAX_FILTER_DOCS].map((count) => count.toLocaleString('en-US'))
  throw new KsError(
    'invalid-request',
    `filter matches ${found} documents, more than the maximum of ${max}; narrow the filter or remove it`,
  )
}

function toIso(text: string): string {
  return new Date(text).toISOString()
}

/** Last instant of a day, or the instant itself. */
function toEndIso(text: string): string {
  return /^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T23:59:59.999Z` : toIso(text)
}

function isLanguageOf(language: string | undefined, requested: string): boolean {
  return language === requested || language?.startsWith(`${requested}-`) === true
}
