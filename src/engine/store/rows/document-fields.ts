import { type Read, sql } from '../program.js'
import { jsonPathSql } from '../readable.js'
import { listDeniedSources, type ReaderIdentity } from './permissions.js'

/** Metadata fields of a version that filters use. */
export interface VersionFields {
  doc_key: number
  document_date: string | null
  author: string | null
  language: string | null
  /** file name of the document */
  filename: string
}

const DATE = jsonPathSql('metadata', '$.documentDate')

/**
 * The fields of the documents of a revision that the reader may read and whose own date is in a range, if one is given.
 *
 * @param from ISO 8601 in UTC, as `to`
 */
export function* listDocumentFields(
  reader: ReaderIdentity,
  spaceKey: number,
  revision: number,
  { from, to }: { from: string | null; to: string | null },
): Read<VersionFields[]> {
  const denied = yield* listDeniedSources(spaceKey, reader)
  const isReadable = `AND doc_key NOT IN (SELECT key FROM documents
     WHERE space_key = ? AND source_id IN (SELECT value FROM json_each(?)))`
  return yield* sql.all<VersionFields>(
    `SELECT doc_key, ${DATE} document_date, ${jsonPathSql('metadata', '$.author')} author, ${jsonPathSql('metadata', '$.language')} language,
       (SELECT filename FROM documents WHERE key = doc_key) filename
     FROM versions WHERE space_key = ? AND from_revision <= ? AND (until_revision IS NULL OR until_revision > ?)
       AND (CAST(? AS TEXT) IS NULL OR ${DATE} >= ?) AND (CAST(? AS TEXT) IS NULL OR ${DATE} <= ?)
       ${denied.length === 0 ? '' : isReadable}`,
    [
      ...[spaceKey, revision, revision, from, from, to, to],
      ...(denied.length === 0 ? [] : [spaceKey, JSON.stringify(denied)]),
    ],
  )
}

/** The title and metadata of the published version of a document; undefined before the first publication. */
export function* findPublishedFields(docKey: number): Read<{ title: string; metadata: string } | undefined> {
  return yield* sql.get<{ title: string; metadata: string }>(
    `SELECT title, metadata FROM versions WHERE doc_key = ? AND from_revision IS NOT NULL AND until_revision IS NULL
     ORDER BY version DESC LIMIT 1`,
    [docKey],
  )
}
