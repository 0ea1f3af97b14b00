import { isUuid } from '../../lib/ids.js'
import type { Caller } from '../base/caller.js'
import { type Read, sql, type Write } from '../storage/program.js'

/*
 * The only place that decides who may read content of a source. `source_readers` contains the subjects of every
 * `permissionScope` that is not empty, and keeps them after the source is deleted. A source without readers there, and
 * content without a source, is readable by the whole tenant. Documents that were retained when their source was deleted
 * have a separate scope with the same readers.
 */

/** The identity of a reader as scopes of sources check it. */
export type Asker = Pick<Caller, 'subject' | 'isDaemon'>

/** A reader and its tenant. */
export type Reader = Asker & Pick<Caller, 'tenant'>

/** A scope entry that permits every subject of the tenant to read a source. */
export const EVERYBODY = '*'

/**
 * SQL: whether a reader may read content of the source in `column`. It takes one parameter,
 * `toReaderParameter(reader)`.
 *
 * @param column of a source's id, with its table's name; NULL for content without a source
 */
export function mayKnow(column: string): string {
  return `(${column} IS NULL OR EXISTS (SELECT 1 FROM (SELECT ? subject) asker WHERE asker.subject IS NULL
    OR NOT EXISTS (SELECT 1 FROM source_readers WHERE source_id = ${column})
    OR EXISTS (SELECT 1 FROM source_readers reader WHERE reader.source_id = ${column}
                 AND reader.subject IN (asker.subject, '${EVERYBODY}'))))`
}

/** SQL: whether every subject of the tenant may read content of the source in `column`. */
export function isOpen(column: string): string {
  return `(${column} IS NULL OR NOT EXISTS (SELECT 1 FROM source_readers WHERE source_id = ${column})
    OR EXISTS (SELECT 1 FROM source_readers WHERE source_id = ${column} AND subject = '${EVERYBODY}'))`
}

/** prefix of a deleted source's id, in `source_id` of documents that were retained with restricted readers */
const KEPT = 'kept-'

/**
 * Creates the scope for documents that outlive their source, inside the caller's transaction.
 *
 * @returns the value for their `source_id`; null if every subject of the tenant may read them
 */
export function* keptScope(sourceId: string): Write<string | null> {
  const kept = KEPT + sourceId
  const open = yield* sql.get<{ open: number }>(`SELECT ${isOpen('wanted.id')} open FROM (SELECT ? id) wanted`, [
    sourceId,
  ])
  if (open?.open === 1) return null
  yield* sql.run(
    `INSERT OR IGNORE INTO source_readers (source_id, subject, space_key)
     SELECT ?, subject, space_key FROM source_readers WHERE source_id = ?`,
    [kept, sourceId],
  )
  return kept
}

/** Whether a value of `source_id` is a scope of retained documents. */
export function isKept(name: string): boolean {
  return name.startsWith(KEPT) && isUuid(name.slice(KEPT.length))
}

/** The source of a document, from its column `source_id`; none for a retained document. */
export function sourceOf(column: string | null): { sourceId?: string } {
  return column === null || isKept(column) ? {} : { sourceId: column }
}

/** The parameter of `sqlCanRead`. */
export function askerOf({ subject, isDaemon }: Asker): string | null {
  return isDaemon === true ? null : subject
}

/**
 * Of some nodes, those that the reader may not read.
 *
 * @param keys node keys of the space
 */
export function* deniedNodes(spaceKey: number, reader: Asker, keys: readonly number[]): Read<Set<number>> {
  return yield* nodesOfDenied(yield* deniedSources(spaceKey, reader), reader, keys)
}

/** The same for known denied sources. */
export function* nodesOfDenied(denied: readonly string[], reader: Asker, keys: readonly number[]): Read<Set<number>> {
  if (denied.length === 0 || keys.length === 0) return new Set()
  const rows = yield* sql.all<{ key: number }>(
    `SELECT n.key FROM json_each(?) wanted CROSS JOIN nodes n ON n.key = wanted.value
     CROSS JOIN documents d ON d.key = n.doc_key WHERE NOT ${mayKnow('d.source_id')}`,
    [JSON.stringify(keys), askerOf(reader)],
  )
  return new Set(rows.map(({ key }) => key))
}

/** Ids of the sources that a reader may not read, deleted ones included. */
export function* deniedSources(spaceKey: number, reader: Asker): Read<string[]> {
  const rows = yield* sql.all<{ source_id: string }>(
    `SELECT DISTINCT restricted.source_id FROM source_readers restricted
     WHERE restricted.space_key = ? AND NOT ${mayKnow('restricted.source_id')}`,
    [spaceKey, askerOf(reader)],
  )
  return rows.map(({ source_id }) => source_id)
}

/** Row keys of the documents that a reader may not read, deleted ones included. */
export function* deniedDocuments(spaceKey: number, reader: Asker): Read<Set<number>> {
  const denied = yield* deniedSources(spaceKey, reader)
  if (denied.length === 0) return new Set()
  const rows = yield* sql.all<{ key: number }>(
    'SELECT key FROM documents WHERE space_key = ? AND source_id IN (SELECT value FROM json_each(?))',
    [spaceKey, JSON.stringify(denied)],
  )
  return new Set(rows.map(({ key }) => key))
}

/** The documents of a space that a reader may read, and the number of their nodes in a revision. */
export interface KnownScope {
  /** the shorter list: these documents, or all others */
  documents: { docs: number[]; isExcluded: boolean }
  nodes: number
}

/**
 * The documents that a reader may read, deleted ones included.
 *
 * @returns undefined if the reader may read all documents
 */
export function* scopeOf(spaceKey: number, reader: Asker, revision: number): Read<KnownScope | undefined> {
  const denied = yield* deniedSources(spaceKey, reader)
  if (denied.length === 0) return undefined
  const sources = JSON.stringify(denied)
  const isDenied = 'source_id IN (SELECT value FROM json_each(?))'
  const counted = yield* sql.get<{ all_documents: number; denied: number | null }>(
    `SELECT count(*) all_documents, sum(CASE WHEN ${isDenied} THEN 1 ELSE 0 END) denied
     FROM documents WHERE space_key = ?`,
    [sources, spaceKey],
  )
  const { all_documents: all = 0, denied: hidden = 0 } = counted ?? {}
  if (hidden === null || hidden === 0) return undefined
  const isExcluded = 2 * hidden <= all
  const listed = isExcluded ? isDenied : `(source_id IS NULL OR NOT ${isDenied})`
  const rows = yield* sql.all<{ key: number }>(`SELECT key FROM documents WHERE space_key = ? AND ${listed}`, [
    spaceKey,
    sources,
  ])
  const shown = yield* sql.get<{ nodes: number | null }>(
    `SELECT sum(v.node_count) nodes FROM documents d CROSS JOIN versions v ON v.doc_key = d.key
     WHERE d.space_key = ? AND d.deleted_at IS NULL AND (d.source_id IS NULL OR NOT d.${isDenied})
       AND v.from_revision <= ? AND (v.until_revision IS NULL OR v.until_revision > ?)`,
    [spaceKey, sources, revision, revision],
  )
  return { documents: { docs: rows.map(({ key }) => key), isExcluded }, nodes: shown?.nodes ?? 0 }
}
