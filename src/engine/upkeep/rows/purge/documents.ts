import { sqlHoldsTime } from '../../../store/formats.js'
import { type Read, sql, type Write } from '../../../store/program.js'
import { listObjectKeys } from '../../../store/rows/documents.js'
import { markUnreferenced } from '../../../store/rows/objects.js'
import { removePictureDescriptions } from '../../../store/rows/pictures.js'
import { removeNode } from './parts.js'

/** parts of documents, and pictures in them, have hundreds of kilobytes each */
const LARGE_ROWS_PER_SLICE = 8
/** a page that was read by OCR has some kilobytes */
const OCR_PAGES_PER_SLICE = 100
const ROWS_PER_SLICE = 500 // limits the time that a slice blocks the event loop to milliseconds

/** Tables with rows of one version, their keys, and the number of rows in a slice. */
const VERSION_TABLES = [
  ['version_parts', 'part, place', LARGE_ROWS_PER_SLICE],
  ['item_assets', 'item_id', LARGE_ROWS_PER_SLICE],
  ['graph_relation_nodes', 'relation_key, node_key', ROWS_PER_SLICE],
  ['graph_mentions', 'entity_key, node_key', ROWS_PER_SLICE],
] as const

export interface DeletedDocument {
  key: number
  object_key: string
  next_object_key: string | null
  space_key: number
  tenant: string
}

/**
 * @param readers see `listReadersSince`: a query that began before the deletion may still load the passages it found
 */
export function* findDocumentToPurge(readers: string): Read<DeletedDocument | undefined> {
  return yield* sql.get<DeletedDocument>(
    `SELECT key, object_key, next_object_key, space_key,
       coalesce((SELECT tenant FROM spaces WHERE spaces.key = space_key), '') tenant FROM documents
     WHERE ${sqlHoldsTime('deleted_at')} AND ${sqlIsNotRead('deleted_at')}
     ORDER BY deleted_at LIMIT 1`,
    [readers],
  )
}

/** Removes a slice of a deleted document, and with the last one its row. @returns whether there may be more */
export function* purgeDocumentSlice(document: DeletedDocument): Write<boolean> {
  const { key, space_key, tenant } = document
  if (yield* removeNodeSlice(space_key, 'doc_key', key)) return true
  for (const version of yield* sql.all<{ key: number }>('SELECT key FROM versions WHERE doc_key = ?', [key]))
    if (yield* removeVersionSlice(version.key)) return true
  const { changes } = yield* sql.run(
    'DELETE FROM ocr_pages WHERE doc_key = ? AND page IN (SELECT page FROM ocr_pages WHERE doc_key = ? LIMIT ?)',
    [key, key, OCR_PAGES_PER_SLICE],
  )
  if (changes === OCR_PAGES_PER_SLICE) return true
  yield* removePictureDescriptions(key)
  yield* sql.run(`DELETE FROM documents WHERE key = ? AND ${sqlHoldsTime('deleted_at')}`, [key])
  yield* markUnreferenced(tenant, listObjectKeys(document))
  return false
}

export interface ObsoleteVersion {
  key: number
  space_key: number
  obsolete_at: number
}

/**
 * The version that has been obsolete for the longest time, of those that no query may read. @param readers see
 * `listReadersSince`
 */
export function* findObsoleteVersion(readers: string): Read<ObsoleteVersion | undefined> {
  return yield* sql.get<ObsoleteVersion>(
    `SELECT key, space_key, obsolete_at FROM versions WHERE ${sqlHoldsTime('obsolete_at')} AND until_revision IS NOT NULL
       AND ${sqlIsNotRead('obsolete_at')} ORDER BY obsolete_at LIMIT 1`,
    [readers],
  )
}

/** Removes a slice of an obsolete version, and with the last one its row. */
export function* purgeVersionSlice({ key, space_key }: ObsoleteVersion): Write<void> {
  if (yield* removeNodeSlice(space_key, 'key', key)) return
  yield* removeVersionSlice(key)
}

/**
 * SQL: no query has been reading the space since before the time in `column`. Takes `listReadersSince` as its
 * parameter.
 */
function sqlIsNotRead(column: 'deleted_at' | 'obsolete_at'): string {
  return `NOT EXISTS (SELECT 1 FROM json_each(?) reader
    WHERE CAST(reader.value ->> 0 AS INTEGER) IN (space_key, 0) AND CAST(reader.value ->> 1 AS INTEGER) <= ${column})`
}

/** Removes a slice of nodes with their vectors. @returns whether there may be more */
function* removeNodeSlice(spaceKey: number, column: 'doc_key' | 'key', owner: number): Write<boolean> {
  const nodes = yield* sql.all<{ key: number }>(
    `SELECT nodes.key FROM versions CROSS JOIN nodes ON nodes.version_key = versions.key WHERE versions.${column} = ? LIMIT ?`,
    [owner, ROWS_PER_SLICE],
  )
  for (const { key } of nodes) yield* removeNode(spaceKey, key)
  return nodes.length === ROWS_PER_SLICE
}

/**
 * Removes a version whose nodes are removed: first, slice by slice, the tables that are large for a large version; the
 * rest is removed with its row.
 *
 * @returns whether there may be more
 */
function* removeVersionSlice(versionKey: number): Write<boolean> {
  for (const [table, key, rows] of VERSION_TABLES) {
    const { changes } = yield* sql.run(
      `DELETE FROM ${table} WHERE version_key = ? AND (${key}) IN (SELECT ${key} FROM ${table} WHERE version_key = ? LIMIT ?)`,
      [versionKey, versionKey, rows],
    )
    if (changes === rows) return true
  }
  yield* sql.run('DELETE FROM versions WHERE key = ?', [versionKey])
  return false
}
