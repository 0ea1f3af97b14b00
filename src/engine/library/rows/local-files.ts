import type { LocalFile, RecordLocalFilesBody } from '../../../contract/gateway/local-files.js'
import { toStoredName } from '../../base/file-names.js'
import { type Read, sql, type Write } from '../../store/program.js'

const SHA256_DIGITS = 64

/** A row of `local_files`. */
export interface LocalFileRow {
  filename: string
  path: string
  root: string | null
  fingerprint: string
  device: string
  size_bytes: number
  sha256: string
}

interface LocalFileFilter {
  root?: string | undefined
  filename?: string | undefined
  after?: string | undefined
  limit: number
}

/** Rows of a space in the order of their filenames. */
export function* listLocalFiles(
  spaceKey: number,
  { root, filename, after, limit }: LocalFileFilter,
): Read<LocalFileRow[]> {
  const columns = 'filename, path, root, fingerprint, device, size_bytes, sha256'
  if (filename !== undefined)
    return yield* sql.all<LocalFileRow>(
      `SELECT ${columns} FROM local_files WHERE space_key = ? AND filename = ? AND root IS coalesce(?, root)`,
      [spaceKey, toStoredName(filename), root ?? null],
    )
  const rooted = root === undefined ? '' : 'AND root = ?'
  return yield* sql.all<LocalFileRow>(
    `SELECT ${columns} FROM local_files WHERE space_key = ? ${rooted} AND filename > ? ORDER BY filename LIMIT ?`,
    [...(root === undefined ? [spaceKey] : [spaceKey, root]), after ?? '', limit],
  )
}

/** Stores rows, inside the caller's transaction; the last one for a filename wins. */
export function* recordLocalFiles(spaceKey: number, { root, files }: RecordLocalFilesBody): Write<void> {
  for (const file of files)
    yield* sql.run(
      `INSERT INTO local_files (space_key, filename, path, root, fingerprint, device, size_bytes, sha256)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (space_key, filename) DO UPDATE SET path = excluded.path, root = excluded.root,
         fingerprint = excluded.fingerprint, device = excluded.device, size_bytes = excluded.size_bytes,
         sha256 = excluded.sha256`,
      [
        spaceKey,
        toStoredName(file.filename),
        file.path,
        root ?? null,
        file.fingerprint,
        file.device,
        file.sizeBytes,
        file.sha256,
      ],
    )
}

/** @returns the number of rows that existed */
export function* removeLocalFiles(spaceKey: number, filenames: readonly string[]): Write<number> {
  let removedCount = 0
  for (const filename of filenames)
    removedCount += (yield* sql.run('DELETE FROM local_files WHERE space_key = ? AND filename = ?', [
      spaceKey,
      toStoredName(filename),
    ])).changes
  return removedCount
}

/** The hash at the end of an object's key. */
function toSha256(objectKey: string | null): string | undefined {
  return objectKey?.slice(-SHA256_DIGITS)
}

/** The live documents without a source with their newest files, by filename, newest first. */
export function* findDocumentsByFilename(
  spaceKey: number,
  filenames: readonly string[],
): Read<Map<string, LocalFile['documents']>> {
  const rows = yield* sql.all<{
    id: string
    filename: string
    sha256: string
    parser_status: 'pending' | 'parsed' | 'failed'
    next_object_key: string | null
    error: string | null
  }>(
    `SELECT documents.id, documents.filename, documents.sha256, documents.parser_status, documents.next_object_key,
       documents.error FROM json_each(?) wanted
     CROSS JOIN documents INDEXED BY documents_name ON documents.filename = wanted.value
     WHERE documents.space_key = ? AND documents.source_id IS NULL AND documents.deleted_at IS NULL
       AND documents.parent_id IS NULL
     ORDER BY documents.key DESC`,
    [JSON.stringify(filenames), spaceKey],
  )
  const byFilename = new Map<string, LocalFile['documents']>()
  for (const { id, filename, sha256, parser_status, next_object_key: nextKey, error } of rows) {
    const documents = byFilename.get(filename) ?? []
    const hasFailed = nextKey !== null && error !== null
    documents.push({ id, sha256: toSha256(nextKey) ?? sha256, parserStatus: hasFailed ? 'failed' : parser_status })
    byFilename.set(filename, documents)
  }
  return byFilename
}

/** The file that a document was made from, and the document's hash. */
export interface LocalFileDocument {
  key: number
  filename: string
  space_key: number
  path: string
  /** the folder below which it was found, as the user gave it */
  root: string | null
  fingerprint: string
  sha256: string
  document_sha: string
}

/** Of some documents, those whose files are recorded. @param documents row keys */
export function* listLocalFileDocuments(documents: readonly number[]): Read<LocalFileDocument[]> {
  return yield* sql.all<LocalFileDocument>(
    `SELECT documents.key, documents.filename, documents.space_key, documents.sha256 document_sha,
       local_files.path, local_files.root, local_files.fingerprint, local_files.sha256
     FROM json_each(?) wanted CROSS JOIN documents ON documents.key = wanted.value
     CROSS JOIN local_files ON local_files.space_key = documents.space_key AND local_files.filename = documents.filename
     WHERE documents.source_id IS NULL AND documents.parent_id IS NULL`,
    [JSON.stringify(documents)],
  )
}

/** Stores a new fingerprint of a file whose bytes are still the recorded ones. */
export function* updateFingerprint(file: LocalFileDocument, fingerprint: string): Write<void> {
  yield* sql.run(
    'UPDATE local_files SET fingerprint = ? WHERE space_key = ? AND filename = ? AND sha256 = ? AND path = ?',
    [fingerprint, file.space_key, file.filename, file.sha256, file.path],
  )
}
