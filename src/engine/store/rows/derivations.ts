import { type Read, sql } from '../program.js'
import { PAGE_INDEX_FORMAT } from './page-indexes.js'

/** Increased when the extraction rules change: documents of other versions are extracted again. */
export const EXTRACTION_VERSION = 6

/** SQL: whether version `v` has its page index. */
export const IS_INDEXED = `EXISTS (SELECT 1 FROM page_index p WHERE p.version_key = v.key AND p.format = ${PAGE_INDEX_FORMAT})`

/** SQL: whether version `v` was extracted for page index and graph. */
export const IS_READ = `(EXISTS (SELECT 1 FROM graph_versions g WHERE g.version_key = v.key AND g.extraction_version = ${EXTRACTION_VERSION})
  AND ${IS_INDEXED})`

/** version rows are large: joined only when a query needs documents */
const JOIN_DOCUMENTS = 'CROSS JOIN versions row ON row.key = v.key CROSS JOIN documents d ON d.key = row.doc_key'

/** Position in a walk over a space's versions: they are published in the order of this key. */
export interface VersionPosition {
  revision: number
  nodes: number
  key: number
}

export const FIRST_VERSION_POSITION: VersionPosition = { revision: 0, nodes: -1, key: 0 }

export type LiveVersionMatch = VersionPosition & { meets: number }

/**
 * Live versions of a space, in the order of `VersionPosition`, and whether they meet a condition.
 *
 * @param condition SQL over version `v`
 */
export function* listLiveVersionsAfter(
  spaceKey: number,
  after: VersionPosition,
  condition: string,
  limit: number,
): Read<LiveVersionMatch[]> {
  return yield* sql.all<LiveVersionMatch>(
    `SELECT v.key, v.from_revision revision, v.node_count nodes, ${condition} meets
     FROM versions v INDEXED BY versions_live
     WHERE v.space_key = ? AND v.until_revision IS NULL AND v.from_revision > 0
       AND (v.from_revision, v.node_count, v.key) > (?, ?, ?)
     ORDER BY v.from_revision, v.node_count, v.key LIMIT +?`,
    [spaceKey, after.revision, after.nodes, after.key, limit],
  )
}

export interface CountScope {
  spaceKey: number
  /** only documents up to this revision count */
  revision?: number
  withDocuments?: boolean
}

/**
 * Computes a count for each of the next visible documents of a space.
 *
 * @param condition SQL over the key of version `v`, and over document `d` if `withDocuments` is set
 */
export function* countPerVersion(
  { spaceKey, revision = Number.MAX_SAFE_INTEGER, withDocuments = false }: CountScope,
  after: VersionPosition,
  { condition, parameters, limit }: { condition: string; parameters: readonly number[]; limit: number },
): Read<(VersionPosition & { counts: number })[]> {
  return yield* sql.all<VersionPosition & { counts: number }>(
    `SELECT v.revision, v.nodes, v.key, (${condition}) counts
       FROM (SELECT key, from_revision revision, node_count nodes FROM versions INDEXED BY versions_live
             WHERE space_key = ? AND until_revision IS NULL AND from_revision <= ?
               AND (from_revision, node_count, key) > (?, ?, ?)
             ORDER BY from_revision, node_count, key LIMIT +?) v ${withDocuments ? JOIN_DOCUMENTS : ''}
       ORDER BY v.revision, v.nodes, v.key`,
    [...parameters, spaceKey, revision, after.revision, after.nodes, after.key, limit],
  )
}

/** A version that was not extracted for page index and graph. */
export interface PendingVersion {
  key: number
  doc_key: number
  title: string
  filename: string
  /** 1 if its page index exists, as it does soon after its publication */
  isIndexed: number
}

const PENDING = `FROM versions v INDEXED BY versions_live
  WHERE v.space_key = ? AND v.until_revision IS NULL AND v.from_revision IS NOT NULL
    AND NOT ${IS_READ}`

export function* listPendingVersions(spaceKey: number, limit: number): Read<PendingVersion[]> {
  const keys = yield* sql.all<{ key: number }>(`SELECT v.key ${PENDING} LIMIT +?`, [spaceKey, limit])
  return yield* sql.all<PendingVersion>(
    `SELECT v.key, v.doc_key, v.title, d.filename, ${IS_INDEXED} isIndexed FROM json_each(?) wanted
     CROSS JOIN versions v ON v.key = wanted.value CROSS JOIN documents d ON d.key = v.doc_key`,
    [JSON.stringify(keys.map(({ key }) => key))],
  )
}

/** Titles of versions and file names of their documents. */
export function* listVersionNames(
  keys: readonly number[],
): Read<{ key: number; docKey: number; title: string; filename: string }[]> {
  return yield* sql.all<{ key: number; docKey: number; title: string; filename: string }>(
    `SELECT v.key, v.doc_key docKey, v.title, d.filename FROM json_each(?) wanted
         CROSS JOIN versions v ON v.key = wanted.value CROSS JOIN documents d ON d.key = v.doc_key`,
    [JSON.stringify(keys)],
  )
}

export interface DerivedNodeRow {
  key: number
  ordinal: number
  title: string
  text: string
  /** JSON of the heading path */
  section: string
  outlineNode: string
  page: number | null
}

/** The next nodes of a version in reading order. */
export function* listNodeRowsAfter(versionKey: number, after: number, limit: number): Read<DerivedNodeRow[]> {
  return yield* sql.all<DerivedNodeRow>(
    `SELECT key, ordinal, title, text, section, outline_node outlineNode, page FROM nodes
       WHERE version_key = ? AND ordinal > ? ORDER BY ordinal LIMIT +?`,
    [versionKey, after, limit],
  )
}

/** The current revision of a space; undefined if the space does not exist. */
export function* findHeadRevision(spaceKey: number): Read<number | undefined> {
  return (yield* sql.get<{ head_revision: number }>('SELECT head_revision FROM spaces WHERE key = ?', [spaceKey]))
    ?.head_revision
}
