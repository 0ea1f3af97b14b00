import { isRecord } from '../../../lib/json/values.js'
import { type Read, readClock, sql, type Write } from '../program.js'
import { parseJsonCell } from '../readable.js'
import { type DocumentRow, withNewestFile } from './documents.js'
import { type Reader, sqlCanRead, toReaderParameter } from './permissions.js'

/* Documents as their compilation reads and marks them. */

/** The document of a job, also a deleted one. */
export function* findJobDocument(job: { doc_key: number }): Read<DocumentRow | undefined> {
  return (yield* listJobDocuments([job]))[0]
}

/** The document of each of some jobs, with the file that the job compiles. */
export function* listJobDocuments(jobs: readonly { doc_key: number }[]): Read<(DocumentRow | undefined)[]> {
  const rows = yield* sql.getEach<DocumentRow>(
    'SELECT * FROM documents WHERE key = ?',
    jobs.map(({ doc_key }) => [doc_key]),
  )
  return rows.map((row) => row && withNewestFile(row))
}

/** Documents of a space whose last job failed or was canceled, of those that the reader may read. */
export function* listUncompiledDocuments(reader: Reader, spaceKey: number): Read<DocumentRow[]> {
  return yield* sql.all<DocumentRow>(
    `SELECT documents.* FROM documents JOIN jobs ON jobs.key =
       (SELECT key FROM jobs last WHERE last.doc_key = documents.key ORDER BY version DESC, key DESC LIMIT 1)
     WHERE documents.space_key = ? AND documents.deleted_at IS NULL AND jobs.stage IN ('failed', 'canceled')
       AND ${sqlCanRead('documents.source_id')} ORDER BY documents.key`,
    [spaceKey, toReaderParameter(reader)],
  )
}

/** Stores on a document why its job failed; a published version stays visible. */
export function* markDocumentFailed(docKey: number, failure: { code: string; message: string }): Write<void> {
  yield* sql.run(
    `UPDATE documents SET error_code = ?, error = ?, updated_at = ?, parser_status =
         CASE WHEN EXISTS (SELECT 1 FROM versions WHERE doc_key = documents.key AND from_revision IS NOT NULL)
              THEN 'parsed' ELSE 'failed' END
       WHERE key = ?`,
    [failure.code, failure.message, yield* readClock(), docKey],
  )
}

/** The same for a document whose job was canceled. */
export function* markDocumentCanceled(docKey: number): Write<void> {
  yield* sql.run(
    `UPDATE documents SET parser_status = 'failed', error_code = 'canceled', error = 'the compilation was canceled', updated_at = ?
       WHERE key = ? AND parser_status = 'pending'`,
    [yield* readClock(), docKey],
  )
}

/** A version of a document. */
export interface DocumentVersionKey {
  document: DocumentRow
  version: number
  versionKey: number
}

/** JSON of the warnings of a version, which state what its file has and its text lacks; empty if there are none. */
function listWarnings(versionMetadata: string): string {
  const metadata: unknown = parseJsonCell(versionMetadata)
  return isRecord(metadata) && Array.isArray(metadata.warnings) ? JSON.stringify(metadata.warnings) : ''
}

/** Updates documents from their versions that are published now. */
export function* markDocumentsPublished(published: readonly DocumentVersionKey[]): Write<void> {
  const versions = yield* sql.getEach<{ metadata: string; title: string }>(
    'SELECT metadata, title FROM versions WHERE key = ?',
    published.map(({ versionKey }) => [versionKey]),
  )
  const now = yield* readClock()
  yield* sql.runEach(
    `UPDATE documents SET parser_status = 'parsed', version = ?, error_code = NULL, error = NULL, updated_at = ?,
       mime_type = coalesce(json_extract(?, '$.mediaType'), mime_type),
       metadata = CASE WHEN NOT json_valid(metadata) THEN metadata
         WHEN ? = '' THEN json_remove(json_set(metadata, '$.title', ?), '$.warnings')
         ELSE json_set(json_set(metadata, '$.title', ?), '$.warnings', json(?)) END
     WHERE key = ?`,
    published.map(({ document: { key, filename }, version }, index) => {
      const { metadata = '{}', title = filename } = versions[index] ?? {}
      const warnings = listWarnings(metadata)
      return [version, now, metadata, warnings, title, title, warnings, key]
    }),
  )
}
