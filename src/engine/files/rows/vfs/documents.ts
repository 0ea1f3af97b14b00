import { isDamaged } from '../../../store/guarded-rows.js'
import { type Read, sql } from '../../../store/program.js'
import { jsonPathSql } from '../../../store/readable.js'
import type { SpaceRow } from '../../../store/rows/spaces.js'

// `LIMIT +?`, not `LIMIT ?`: SQLite reads a bare parameter when it plans, and then plans again at every run, which
// takes ten times as long as a lookup.

/** A space at a revision. */
export interface SpaceRevision {
  space: Pick<SpaceRow, 'key' | 'tenant'>
  revision: number
}

/** A document in listings, with the version that is visible. */
export interface DocumentEntry {
  key: number
  id: string
  source_id: string | null
  filename: string
  /** the name in paths */
  path_name: string
  /** folders, each ended by U+0001; empty at the top */
  folder: string
  /** name within its folder */
  base: string
  mime_type: string
  size_bytes: number
  parser_status: 'pending' | 'parsed' | 'failed'
  metadata: string
  error: string | null
  created_at: number
  updated_at: number
  version: number
  /** null when no version is visible: shown in previews only */
  version_key: number | null
  /** metadata fields of the version */
  document_date: string | null
  author: string | null
  language: string | null
}

export interface FileEntry extends DocumentEntry {
  /** 1 if a folder next to the document has its name */
  name_taken: number
}

/** Position of a document within a source. */
export type SourcePosition = readonly [folder: string, base: string, id: string]
/** Position of a document by name within its space. */
export type NamePosition = readonly [base: string, id: string]

const COLUMNS = `d.key, d.id, d.source_id, d.filename, coalesce(d.path_name, d.filename) path_name, d.folder, d.base, d.mime_type, d.size_bytes, d.parser_status,
  d.metadata, d.error, d.created_at, d.updated_at, coalesce(v.version, d.version) version, v.key version_key,
  ${jsonPathSql('v.metadata', '$.documentDate')} document_date, ${jsonPathSql('v.metadata', '$.author')} author,
  ${jsonPathSql('v.metadata', '$.language')} language`
const NAME_TAKEN = `EXISTS (SELECT 1 FROM documents f WHERE f.space_key = d.space_key AND f.source_id IS d.source_id
  AND f.deleted_at IS NULL AND f.folder >= d.folder || d.base || char(1) AND f.folder < d.folder || d.base || char(2))
  name_taken`
// LEFT JOIN keeps the order of the documents' index and returns invisible documents too; the caller skips them in
// batches.
const FROM = `FROM documents d LEFT JOIN versions v ON v.doc_key = d.key AND v.from_revision <= ?
    AND (v.until_revision IS NULL OR v.until_revision > ?)
  WHERE d.space_key = ? AND d.deleted_at IS NULL`

const IN_SOURCE = `SELECT ${COLUMNS}, ${NAME_TAKEN} ${FROM} AND d.source_id IS ?
  AND (d.folder, d.base, d.id) > (?, ?, ?) AND (d.folder, d.base, d.id) < (?, ?, ?)
  ORDER BY d.folder, d.base, d.id LIMIT +?`
const IN_SOURCE_BACK = IN_SOURCE.replace('d.folder, d.base, d.id LIMIT', 'd.folder DESC, d.base DESC, d.id DESC LIMIT')
const BY_NAME = `SELECT ${COLUMNS} ${FROM} AND (d.base, d.id) > (?, ?) AND (d.base, d.id) < (?, ?)
  ORDER BY d.base, d.id LIMIT +?`
const BY_NAME_BACK = BY_NAME.replace('d.base, d.id LIMIT', 'd.base DESC, d.id DESC LIMIT')
const OF_SOURCES = `SELECT ${COLUMNS} ${FROM} AND (d.source_id, d.folder, d.base, d.id) > (?, ?, ?, ?)
  ORDER BY d.source_id, d.folder, d.base, d.id LIMIT +?`

/** A range between two positions, both exclusive. */
export interface PositionRange<Key> {
  after: Key
  before: Key
  backwards?: true
}

/** Documents of a source (null: uploads) in order, including those without a visible version. */
export function* listSourceFiles(
  { space, revision }: SpaceRevision,
  source: string | null,
  { after, before, backwards }: PositionRange<SourcePosition>,
  limit: number,
): Read<FileEntry[]> {
  const values = [revision, revision, space.key, source, ...after, ...before, limit]
  return yield* sql.all<FileEntry>(backwards ? IN_SOURCE_BACK : IN_SOURCE, values)
}

/** Documents of the space by name, including those without a visible version. */
export function* listDocumentsByName(
  { space, revision }: SpaceRevision,
  { after, before, backwards }: PositionRange<NamePosition>,
  limit: number,
): Read<DocumentEntry[]> {
  const values = [revision, revision, space.key, ...after, ...before, limit]
  return yield* sql.all<DocumentEntry>(backwards ? BY_NAME_BACK : BY_NAME, values)
}

/** Documents that came from sources, source by source, after a position. */
export function* listDocumentsOfSources(
  { space, revision }: SpaceRevision,
  after: readonly [source: string, ...SourcePosition],
  limit: number,
): Read<DocumentEntry[]> {
  return yield* sql.all<DocumentEntry>(OF_SOURCES, [revision, revision, space.key, ...after, limit])
}

/** Documents by row key, in the order of the keys. */
export function* listDocumentsByKey(
  { space, revision }: SpaceRevision,
  keys: readonly number[],
): Read<DocumentEntry[]> {
  return yield* sql.all<DocumentEntry>(
    `SELECT ${COLUMNS} FROM json_each(?) wanted CROSS JOIN documents d ON d.key = wanted.value
     LEFT JOIN versions v ON v.doc_key = d.key AND v.from_revision <= ? AND (v.until_revision IS NULL OR v.until_revision > ?)
     WHERE d.space_key = ? AND d.deleted_at IS NULL ORDER BY wanted.key`,
    [JSON.stringify(keys), revision, revision, space.key],
  )
}

/** The location of a document; it may be deleted. */
export function* findDocumentLocation(
  space: SpaceRevision['space'],
  id: string,
): Read<Pick<DocumentEntry, 'id' | 'source_id' | 'folder' | 'base'> | undefined> {
  return yield* sql.get<Pick<DocumentEntry, 'id' | 'source_id' | 'folder' | 'base'>>(
    'SELECT id, source_id, folder, base FROM documents WHERE tenant = ? AND id = ? AND space_key = ?',
    [space.tenant, id, space.key],
  )
}

/** Sources with a name, the oldest first. */
export function* listSourcesByName({ space }: SpaceRevision, name: string): Read<string[]> {
  return (yield* sql.all<{ id: string }>(
    'SELECT id FROM sources WHERE tenant = ? AND space_key = ? AND name = ? AND deleted_at IS NULL ORDER BY id',
    [space.tenant, space.key, name],
  )).map(({ id }) => id)
}

/** Name and type of a source; undefined for a deleted one, and for a damaged row. */
export function* findSourceLabel(
  { space }: SpaceRevision,
  id: string,
): Read<{ name: string; type: string } | undefined> {
  const row = yield* sql.get<{ name: string; type: string }>(
    'SELECT name, type FROM sources WHERE tenant = ? AND space_key = ? AND id = ? AND deleted_at IS NULL',
    [space.tenant, space.key, id],
  )
  return row === undefined || isDamaged(row) ? undefined : row
}
