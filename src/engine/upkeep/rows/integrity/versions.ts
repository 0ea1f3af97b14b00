import { type Read, sql } from '../../../store/program.js'
import type { PackedVersion } from '../../../store/rows/version-parts.js'

/** A version and its document. */
export interface ScannedVersion extends PackedVersion {
  key: number
  doc_key: number
  space_key: number
  version: number
  title: string
  artifact_id: string
  artifact_hash: string
  node_count: number
  first_node: number | null
  until_revision: number | null
  document_id: string
  filename: string
}

/** SQL: a job is going to store the rest of a version, or to publish it. */
const BEING_STORED = `(versions.from_revision IS NULL AND EXISTS (SELECT 1 FROM jobs WHERE jobs.doc_key = versions.doc_key
  AND jobs.version = versions.version AND jobs.completed_at IS NULL))`

/** The key range of the next versions of a space: as many as fit into `maxBytes`, and at least one. */
function* findNextRange(
  spaceKey: number,
  after: number,
  { most, bytes }: VersionReadLimits,
): Read<{ last: number; full: boolean }> {
  const sizes = yield* sql.allAsStored<{ key: number; bytes: number }>(
    `SELECT key, octet_length(outline) + octet_length(items) + octet_length(artifact) bytes FROM versions NOT INDEXED
     WHERE key > ? AND space_key = ? ORDER BY key LIMIT +?`,
    [after, spaceKey, most],
  )
  let sum = 0
  const overflowIndex = sizes.findIndex((row) => {
    sum += row.bytes
    return sum > bytes
  })
  const takenCount = overflowIndex < 0 ? sizes.length : Math.max(1, overflowIndex)
  return { last: sizes[takenCount - 1]?.key ?? after, full: takenCount < sizes.length || sizes.length === most }
}

/** The limits of one read. */
export interface VersionReadLimits {
  most: number
  bytes: number
}

/**
 * The next versions of a space by key, without those of deleted documents, those that are about to be removed, and
 * those that a job is still storing.
 *
 * @returns also the key to continue after, if there are more
 */
export function* listScannedVersions(
  spaceKey: number,
  after: number,
  limits: VersionReadLimits,
): Read<{ rows: ScannedVersion[]; next?: number }> {
  const { last, full: hasMore } = yield* findNextRange(spaceKey, after, limits)
  const rows = yield* sql.allAsStored<ScannedVersion>(
    `SELECT versions.key, versions.doc_key, versions.space_key, versions.version, versions.title, versions.artifact_id,
       versions.artifact_hash, versions.node_count, versions.first_node, versions.until_revision, versions.outline,
       versions.items, versions.artifact, documents.id document_id, documents.filename
     FROM versions NOT INDEXED JOIN documents ON documents.key = versions.doc_key
     WHERE versions.key > ? AND versions.key <= ? AND versions.space_key = ? AND documents.deleted_at IS NULL
       AND versions.obsolete_at IS NULL AND NOT ${BEING_STORED}
     ORDER BY versions.key`,
    [after, last, spaceKey],
  )
  return hasMore ? { rows, next: last } : { rows }
}

export interface RetainedVersionOwner {
  artifact_id: string
  document: string
}

/** The owner of a version that is not being purged: rows that were read before may be in the process of removal. */
export function* findRetainedOwner(versionKey: number): Read<RetainedVersionOwner | undefined> {
  return yield* sql.get<RetainedVersionOwner>(
    `SELECT artifact_id, documents.id document FROM versions JOIN documents ON documents.key = versions.doc_key
       WHERE versions.key = ? AND versions.obsolete_at IS NULL AND documents.deleted_at IS NULL`,
    [versionKey],
  )
}

/** The bytes of a picture of a version. */
export function* findItemBytes(versionKey: number, itemId: string): Read<Uint8Array | undefined> {
  const row = yield* sql.get<{ bytes: Uint8Array }>(
    'SELECT bytes FROM item_assets WHERE version_key = ? AND item_id = ?',
    [versionKey, itemId],
  )
  return row?.bytes
}

export interface DocumentState {
  key: number
  id: string
  filename: string
  parser_status: string
  /** 1 if it has a published version */
  published: number
}

/** A space's documents, by id. */
export function* listDocumentStates(spaceKey: number, after: string, limit: number): Read<DocumentState[]> {
  return yield* sql.allAsStored<DocumentState>(
    `SELECT key, id, filename, parser_status, EXISTS (SELECT 1 FROM versions WHERE doc_key = documents.key
       AND from_revision IS NOT NULL AND until_revision IS NULL) published
     FROM documents WHERE space_key = ? AND id > ? AND deleted_at IS NULL ORDER BY id LIMIT ?`,
    [spaceKey, after, limit],
  )
}

export interface AbandonedVersion {
  key: number
  doc_key: number
  version: number
  artifact_id: string
  document_id: string
  node_count: number
  bytes: number
}

/** Versions that were built and never published, whose job has ended. */
export function* listAbandonedVersions(spaceKey: number, after: number, limit: number): Read<AbandonedVersion[]> {
  return yield* sql.allAsStored<AbandonedVersion>(
    `SELECT versions.key, doc_key, versions.version, artifact_id, documents.id document_id, node_count,
       length(outline) + length(items) + length(artifact) bytes
     FROM versions JOIN documents ON documents.key = versions.doc_key
     WHERE versions.space_key = ? AND until_revision IS NULL AND from_revision IS NULL AND versions.key > ?
       AND documents.deleted_at IS NULL
       AND NOT EXISTS (SELECT 1 FROM jobs WHERE jobs.doc_key = versions.doc_key AND jobs.version = versions.version
                       AND completed_at IS NULL)
     ORDER BY versions.key LIMIT ?`,
    [spaceKey, after, limit],
  )
}

/** The abandoned version with an artifact. */
export function* findAbandonedVersion(spaceKey: number, artifactId: string): Read<AbandonedVersion | undefined> {
  const row = yield* sql.getAsStored<{ key: number }>(
    'SELECT key FROM versions WHERE space_key = ? AND until_revision IS NULL AND from_revision IS NULL AND artifact_id = ?',
    [spaceKey, artifactId],
  )
  return row && (yield* listAbandonedVersions(spaceKey, row.key - 1, 1)).find(({ key }) => key === row.key)
}
