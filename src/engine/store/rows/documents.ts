import { KsError, notFoundError } from '../../../contract/errors.js'
import type { DocumentAsset } from '../../../contract/gateway/documents.js'
import { isUuid } from '../../../lib/ids.js'
import { isRecord } from '../../../lib/json/values.js'
import { omitUndefined } from '../../../lib/omit-undefined.js'
import { toVirtualName } from '../../base/file-names.js'
import { type Read, readClock, sql, type Write } from '../program.js'
import { parseJsonCell } from '../readable.js'
import { type Reader, sqlCanRead, toReaderParameter, toSourceField } from './permissions.js'

/** A row of `documents`. */
export interface DocumentRow {
  key: number
  tenant: string
  id: string
  space_key: number
  source_id: string | null
  filename: string
  mime_type: string
  object_key: string
  sha256: string
  size_bytes: number
  parser_status: 'pending' | 'parsed' | 'failed'
  version: number
  metadata: string
  error_code: string | null
  error: string | null
  created_at: number
  updated_at: number
  deleted_at: number | null
  /** the document whose file contains this one's; see `contained-documents.ts` */
  parent_id: string | null
  next_parent_id: string | null
  /** a newer file; see `next-files.ts` */
  next_object_key: string | null
  next_file: string | null
}

/** A newer file of a document. */
export interface NextFile {
  objectKey: string
  sha256: string
  sizeBytes: number
  mimeType: string
  metadata: DocumentAsset['metadata']
}

/** A document with its newest file, which its next job compiles, in place of the published one. */
export function withNewestFile(row: DocumentRow): DocumentRow {
  if (row.next_object_key === null || row.next_file === null) return row
  const file: Omit<NextFile, 'objectKey'> = parseJsonCell(row.next_file)
  return {
    ...row,
    object_key: row.next_object_key,
    sha256: file.sha256,
    size_bytes: file.sizeBytes,
    mime_type: file.mimeType,
    metadata: JSON.stringify(file.metadata),
  }
}

/** The keys of all stored files of a document. */
export function listObjectKeys({
  object_key,
  next_object_key,
}: Pick<DocumentRow, 'object_key' | 'next_object_key'>): string[] {
  return next_object_key === null ? [object_key] : [object_key, next_object_key]
}

/** @throws KsError `not-found` when the space has no such document, or the reader may not read it */
export function* findDocument(reader: Reader, spaceKey: number, id: string): Read<DocumentRow> {
  const row = yield* lookupDocument(reader, spaceKey, id)
  if (row === undefined) throw notFoundError('document', id)
  return row
}

/** A document of a space; undefined also when the scope of its source excludes the reader. */
export function* lookupDocument(reader: Reader, spaceKey: number, id: string): Read<DocumentRow | undefined> {
  return (yield* lookupDocuments(reader, spaceKey, [id]))[0]?.row
}

/** Documents by their ids, each once; without a row if the reader may not read it or it does not exist. */
export function* lookupDocuments(
  reader: Reader,
  spaceKey: number,
  ids: readonly string[],
): Read<{ id: string; row: DocumentRow | undefined }[]> {
  const uniqueIds = [...new Set(ids)]
  const rows = yield* sql.getEach<DocumentRow>(
    `SELECT * FROM documents WHERE tenant = ? AND id = ? AND space_key = ? AND deleted_at IS NULL
       AND ${sqlCanRead('documents.source_id')}`,
    uniqueIds.filter(isUuid).map((id) => [reader.tenant, id, spaceKey, toReaderParameter(reader)]),
  )
  const byId = new Map(rows.flatMap((row) => (row === undefined ? [] : [[row.id, row] as const])))
  return uniqueIds.map((id) => ({ id, row: byId.get(id) }))
}

/** Of some ids, those of documents that the reader may read. */
export function* filterReadableDocuments(reader: Reader, spaceKey: number, ids: readonly string[]): Read<Set<string>> {
  const rows = yield* sql.all<{ id: string }>(
    `SELECT d.id FROM json_each(?) wanted CROSS JOIN documents d ON d.tenant = ? AND d.id = wanted.value
     WHERE d.space_key = ? AND d.deleted_at IS NULL AND ${sqlCanRead('d.source_id')}`,
    [JSON.stringify([...new Set(ids)]), reader.tenant, spaceKey, toReaderParameter(reader)],
  )
  return new Set(rows.map(({ id }) => id))
}

/**
 * The newest live document for each of some names, of one source; contained documents are left out. The caller has
 * checked that the reader may read the source.
 */
export function* findNewestByName(
  spaceKey: number,
  sourceId: string | null,
  filenames: readonly string[],
): Read<(DocumentRow | undefined)[]> {
  return yield* sql.getEach<DocumentRow>(
    `SELECT * FROM documents INDEXED BY documents_name WHERE space_key = ? AND filename = ? AND source_id IS ?
       AND parent_id IS NULL AND deleted_at IS NULL ORDER BY key DESC LIMIT 1`,
    filenames.map((filename) => [spaceKey, filename, sourceId]),
  )
}

/**
 * For each document, other live documents of its name and source; contained documents are compared with contained ones
 * only.
 */
export function* listNamesakes(documents: readonly DocumentRow[]): Read<DocumentRow[][]> {
  return yield* sql.allEach<DocumentRow>(
    `SELECT * FROM documents INDEXED BY documents_name WHERE space_key = ? AND filename = ? AND source_id IS ?
       AND CASE WHEN parent_id IS NULL THEN 0 ELSE 1 END = CAST(? AS INTEGER) AND deleted_at IS NULL AND key <> ? ORDER BY key DESC`,
    documents.map(({ space_key, filename, source_id, parent_id, key }) => [
      space_key,
      filename,
      source_id,
      parent_id === null ? 0 : 1,
      key,
    ]),
  )
}

/** Documents of a space that the reader may read, by id; all of them, or one page. */
export function* listDocumentsAfter(
  reader: Reader,
  spaceKey: number,
  page?: { after: string; limit: number },
): Read<DocumentRow[]> {
  if (page === undefined)
    return yield* sql.all<DocumentRow>(
      `SELECT * FROM documents WHERE space_key = ? AND deleted_at IS NULL AND ${sqlCanRead('documents.source_id')}
         ORDER BY id`,
      [spaceKey, toReaderParameter(reader)],
    )
  return yield* sql.all<DocumentRow>(
    `SELECT * FROM documents WHERE space_key = ? AND deleted_at IS NULL AND id > ?
       AND ${sqlCanRead('documents.source_id')} ORDER BY id LIMIT ?`,
    [spaceKey, page.after, toReaderParameter(reader), page.limit],
  )
}

export type NewDocument = Pick<
  DocumentRow,
  'tenant' | 'id' | 'space_key' | 'source_id' | 'filename' | 'mime_type' | 'object_key'
> &
  Pick<DocumentRow, 'sha256' | 'size_bytes'> & { metadata: object; parent_id?: string }

export function* insertDocuments(documents: readonly NewDocument[]): Write<DocumentRow[]> {
  const now = yield* readClock()
  const rows = yield* sql.returningEach<DocumentRow>(
    `INSERT INTO documents (tenant, id, space_key, source_id, metadata, filename, path_name, mime_type, object_key, sha256, size_bytes,
       parent_id, parser_status, created_at, updated_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'pending', ?, ?) RETURNING *`,
    documents.map((document) => {
      const pathName = toVirtualName(document.filename)
      return [
        document.tenant,
        document.id,
        document.space_key,
        document.source_id,
        JSON.stringify(document.metadata),
        document.filename,
        pathName === document.filename ? null : pathName,
        document.mime_type,
        document.object_key,
        document.sha256,
        document.size_bytes,
        document.parent_id ?? null,
        now,
        now,
      ]
    }),
  )
  return rows.flat()
}

/** The document with its newest file, as the API returns it. */
export function toAsset(stored: DocumentRow, spaceId: string): DocumentAsset {
  const row = withNewestFile(stored)
  return {
    id: row.id,
    knowledgeSpaceId: spaceId,
    ...toSourceField(row.source_id),
    ...omitUndefined({ parentDocumentId: row.parent_id ?? undefined }),
    filename: row.filename,
    mimeType: row.mime_type,
    objectKey: row.object_key,
    sha256: row.sha256,
    sizeBytes: row.size_bytes,
    parserStatus: row.parser_status,
    version: row.version,
    metadata: assetMetadata(row),
    createdAt: new Date(row.created_at).toISOString(),
    updatedAt: new Date(row.updated_at).toISOString(),
  }
}

/** Stored metadata, and the error of a failed document. */
function assetMetadata(row: DocumentRow): Record<string, unknown> {
  const stored: unknown = parseJsonCell(row.metadata)
  if (typeof stored !== 'object' || stored === null) throw new KsError('internal', 'stored metadata is not an object')
  if (row.error === null) return { ...stored }
  return { ...stored, error: { code: row.error_code ?? 'failed', message: row.error } }
}

/** The charset of the header that came with the file of a document. */
export function getDeclaredCharset({ metadata }: Pick<DocumentRow, 'metadata'>): string | undefined {
  const stored: unknown = parseJsonCell(metadata)
  return isRecord(stored) && typeof stored.charset === 'string' ? stored.charset : undefined
}
