import { isUuid } from '../../../lib/ids.js'
import type { Caller } from '../../base/caller.js'
import { type Read, sql, type Write } from '../program.js'

/*
 * The only place that decides who may read content of a source. `source_readers` contains the subjects of every
 * `permissionScope` that is not empty, and keeps them after the source is deleted. A source without readers there, and
 * content without a source, is readable by the whole tenant. Documents that were retained when their source was deleted
 * have a separate scope with the same readers.
 */

/** The identity of a reader as scopes of sources check it. */
export type ReaderIdentity = Pick<Caller, 'subject' | 'isDaemon'>

/** A reader and its tenant. */
export type Reader = ReaderIdentity & Pick<Caller, 'tenant'>

/** A scope entry that permits every subject of the tenant to read a source. */
export const EVERYBODY = '*'

/**
 * SQL: whether a reader may read content of the source in `column`. It takes one parameter,
 * `toReaderParameter(reader)`.
 *
 * @param column of a source's id, with its table's name; NULL for content without a source
 */
export function sqlCanRead(column: string): string {
  return `(${column} IS NULL OR EXISTS (SELECT 1 FROM (SELECT ? subject) asker WHERE asker.subject IS NULL
    OR NOT EXISTS (SELECT 1 FROM source_readers WHERE source_id = ${column})
    OR EXISTS (SELECT 1 FROM source_readers reader WHERE reader.source_id = ${column}
                 AND reader.subject IN (asker.subject, '${EVERYBODY}'))))`
}

/** SQL: whether every subject of the tenant may read content of the source in `column`. */
export function sqlIsOpen(column: string): string {
  return `(${column} IS NULL OR NOT EXISTS (SELECT 1 FROM source_readers WHERE source_id = ${column})
    OR EXISTS (SELECT 1 FROM source_readers WHERE source_id = ${column} AND subject = '${EVERYBODY}'))`
}

/** prefix of a deleted source's id, in `source_id` of documents that were retained with restricted readers */
const RETAINED_PREFIX = 'kept-'

/**
 * Creates the scope for documents that outlive their source, inside the caller's transaction.
 *
 * @returns the value for their `source_id`; null if every subject of the tenant may read them
 */
export function* createRetainedScope(sourceId: string): Write<string | null> {
  const scope = RETAINED_PREFIX + sourceId
  const open = yield* sql.get<{ open: number }>(`SELECT ${sqlIsOpen('wanted.id')} open FROM (SELECT ? id) wanted`, [
    sourceId,
  ])
  if (open?.open === 1) return null
  yield* sql.run(
    `INSERT OR IGNORE INTO source_readers (source_id, subject, space_key)
     SELECT ?, subject, space_key FROM source_readers WHERE source_id = ?`,
    [scope, sourceId],
  )
  return scope
}

/** Whether a value of `source_id` is a scope of retained documents. */
export function isRetainedScope(name: string): boolean {
  return name.startsWith(RETAINED_PREFIX) && isUuid(name.slice(RETAINED_PREFIX.length))
}

/** The source of a document, from its column `source_id`; none for a retained document. */
export function toSourceField(column: string | null): { sourceId?: string } {
  return column === null || isRetainedScope(column) ? {} : { sourceId: column }
}

/** The parameter of `sqlCanRead`. */
export function toReaderParameter({ subject, isDaemon }: ReaderIdentity): string | null {
  return isDaemon === true ? null : subject
}

/**
 * Of some nodes, those that the reader may not read.
 *
 * @param keys node keys of the space
 */
export function* filterDeniedNodes(
  spaceKey: number,
  reader: ReaderIdentity,
  keys: readonly number[],
): Read<Set<number>> {
  return yield* filterNodesOfDeniedSources(yield* listDeniedSources(spaceKey, reader), reader, keys)
}

/** The same for known denied sources. */
export function* filterNodesOfDeniedSources(
  denied: readonly string[],
  reader: ReaderIdentity,
  keys: readonly number[],
): Read<Set<number>> {
  if (denied.length === 0 || keys.length === 0) return new Set()
  const rows = yield* sql.all<{ key: number }>(
    `SELECT n.key FROM json_each(?) wanted CROSS JOIN nodes n ON n.key = wanted.value
     CROSS JOIN documents d ON d.key = n.doc_key WHERE NOT ${sqlCanRead('d.source_id')}`,
    [JSON.stringify(keys), toReaderParameter(reader)],
  )
  return new Set(rows.map(({ key }) => key))
}

/** Ids of the sources that a reader may not read, deleted ones included. */
export function* listDeniedSources(spaceKey: number, reader: ReaderIdentity): Read<string[]> {
  const rows = yield* sql.all<{ source_id: string }>(
    `SELECT DISTINCT restricted.source_id FROM source_readers restricted
     WHERE restricted.space_key = ? AND NOT ${sqlCanRead('restricted.source_id')}`,
    [spaceKey, toReaderParameter(reader)],
  )
  return rows.map(({ source_id }) => source_id)
}

/** Row keys of the documents that a reader may not read, deleted ones included. */
export function* listDeniedDocuments(spaceKey: number, reader: ReaderIdentity): Read<Set<number>> {
  const denied = yield* listDeniedSources(spaceKey, reader)
  if (denied.length === 0) return new Set()
  const rows = yield* sql.all<{ key: number }>(
    'SELECT key FROM documents WHERE space_key = ? AND source_id IN (SELECT value FROM json_each(?))',
    [spaceKey, JSON.stringify(denied)],
  )
  return new Set(rows.map(({ key }) => key))
}

/** The documents of a space that a reader may read, and the number of their nodes in a revision. */
export interface ReadableScope {
  /** the shorter list: these documents, or all others */
  documents: { docs: number[]; isExcluded: boolean }
  nodes: number
}

/**
 * The documents that a reader may read, deleted ones included.
 *
 * @returns undefined if the reader may read all documents
 */
export function* findReadableScope(
  spaceKey: number,
  reader: ReaderIdentity,
  revision: number,
): Read<ReadableScope | undefined> {
  const denied = yield* listDeniedSources(spaceKey, reader)
  if (denied.length === 0) return undefined
  const sources = JSON.stringify(denied)
  const isDenied = 'source_id IN (SELECT value FROM json_each(?))'
  const counted = yield* sql.get<{ all_documents: number; denied: number | null }>(
    `SELECT count(*) all_documents, sum(CASE WHEN ${isDenied} THEN 1 ELSE 0 END) denied
     FROM documents WHERE space_key = ?`,
    [sources, spaceKey],
  )
  const { all_documents: documentCount = 0, denied: deniedCount = 0 } = counted ?? {}
  if (deniedCount === null || deniedCount === 0) return undefined
  const isExcluded = 2 * deniedCount <= documentCount
  const condition = isExcluded ? isDenied : `(source_id IS NULL OR NOT ${isDenied})`
  const rows = yield* sql.all<{ key: number }>(`SELECT key FROM documents WHERE space_key = ? AND ${condition}`, [
    spaceKey,
    sources,
  ])
  const visible = yield* sql.get<{ nodes: number | null }>(
    `SELECT sum(v.node_count) nodes FROM documents d CROSS JOIN versions v ON v.doc_key = d.key
     WHERE d.space_key = ? AND d.deleted_at IS NULL AND (d.source_id IS NULL OR NOT d.${isDenied})
       AND v.from_revision <= ? AND (v.until_revision IS NULL OR v.until_revision > ?)`,
    [spaceKey, sources, revision, revision],
  )
  return { documents: { docs: rows.map(({ key }) => key), isExcluded }, nodes: visible?.nodes ?? 0 }
}
