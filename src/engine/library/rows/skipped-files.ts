import { FILE_FAILURES } from '../../../contract/values.js'
import { type Read, readClock, sql, type Write } from '../../store/program.js'
import { type Reader, sqlCanRead, toReaderParameter } from '../../store/rows/permissions.js'

/** A file that is no document, and the reason. */
export interface SkippedFileRow {
  filename: string
  reason: string
  size_bytes: number | null
  created_at: number
}

/** Files that clients skipped and that were not received since then, by name. */
export function* listRecordedSkips(spaceKey: number, after: string, limit: number): Read<SkippedFileRow[]> {
  return yield* sql.all<SkippedFileRow>(
    `SELECT filename, reason, size_bytes, created_at FROM skipped_files WHERE space_key = ? AND filename > ?
       AND NOT EXISTS (SELECT 1 FROM documents WHERE documents.space_key = skipped_files.space_key AND source_id IS NULL
         AND documents.filename = skipped_files.filename AND deleted_at IS NULL
         AND (next_object_key IS NOT NULL OR coalesce(received_at, documents.created_at) >= skipped_files.created_at))
     ORDER BY filename LIMIT ?`,
    [spaceKey, after, limit],
  )
}

/** A document that was never published, since its file could not be read. */
export interface UnreadableDocument {
  id: string
  filename: string
  error: string
  size_bytes: number
  updated_at: number
}

/** Unreadable documents that the reader may read, by name. */
export function* listUnreadableDocuments(
  reader: Reader,
  spaceKey: number,
  after: string,
  limit: number,
): Read<UnreadableDocument[]> {
  return yield* sql.all<UnreadableDocument>(
    `SELECT id, filename, error, size_bytes, updated_at FROM documents
     WHERE space_key = ? AND parser_status = 'failed' AND deleted_at IS NULL AND error IS NOT NULL AND filename > ?
       AND error_code IN (SELECT value FROM json_each(?)) AND ${sqlCanRead('documents.source_id')}
     ORDER BY filename LIMIT ?`,
    [spaceKey, after, JSON.stringify(FILE_FAILURES), toReaderParameter(reader), limit],
  )
}

/** Stores skipped files, inside the caller's transaction; the last reason for a name wins. */
export function* insertSkippedFiles(
  spaceKey: number,
  files: readonly { filename: string; reason: string; sizeBytes: number | null }[],
): Write<void> {
  const now = yield* readClock()
  yield* sql.runEach(
    `INSERT INTO skipped_files (space_key, filename, reason, size_bytes, created_at) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (space_key, filename) DO UPDATE SET reason = excluded.reason, size_bytes = excluded.size_bytes,
       created_at = excluded.created_at`,
    files.map(({ filename, reason, sizeBytes }) => [spaceKey, filename, reason, sizeBytes, now]),
  )
}

/** @returns the number of rows that existed */
export function* removeSkippedFiles(spaceKey: number, filenames: readonly string[]): Write<number> {
  const changes = yield* sql.runEach(
    'DELETE FROM skipped_files WHERE space_key = ? AND filename = ?',
    filenames.map((filename) => [spaceKey, filename]),
  )
  return changes.reduce((sum, count) => sum + count, 0)
}
