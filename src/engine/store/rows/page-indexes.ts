import { ANALYZER_VERSION } from '../../../lib/text/analyze.js'
import { type Read, sql, type Write } from '../program.js'
import { doVersionsExist } from './versions.js'

/** Increased when the built data change; another analyzer gives other terms as well. */
const LAYOUT_VERSION = 1
/** Rows of another format are rebuilt. */
export const PAGE_INDEX_FORMAT = LAYOUT_VERSION * 1_000 + ANALYZER_VERSION

/** The rows of one built index, ready for `storePageIndexes`. */
export interface PackedPageIndex {
  length: number
  rangeCount: number
  profile: Uint8Array
  ranges: Uint8Array
}

/** The index of a version, by row keys. */
export interface VersionPageIndex {
  docKey: number
  versionKey: number
  packed: PackedPageIndex
}

/**
 * Stores the indexes of versions of a space in place of earlier ones, inside the caller's transaction. A version that
 * was purged meanwhile gets none: nothing would remove it.
 */
export function* storePageIndexes(spaceKey: number, indexes: readonly VersionPageIndex[]): Write<void> {
  const exist = yield* doVersionsExist(indexes.map(({ versionKey }) => versionKey))
  yield* sql.runEach(
    `INSERT OR REPLACE INTO page_index (version_key, space_key, doc_key, format, length, range_count, terms, ranges)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    indexes
      .filter((_, index) => exist[index])
      .map(({ docKey, versionKey, packed: { length, rangeCount, profile, ranges } }) => [
        versionKey,
        spaceKey,
        docKey,
        PAGE_INDEX_FORMAT,
        length,
        rangeCount,
        profile,
        ranges,
      ]),
  )
}

export interface PageIndexSummaryRow {
  version_key: number
  doc_key: number
  length: number
  range_count: number
  terms: Uint8Array
}

const COLUMNS = 'p.version_key, p.doc_key, p.length, p.range_count, p.terms'
const IS_VISIBLE = 'v.from_revision <= ? AND (v.until_revision IS NULL OR v.until_revision > ?)'

/** Summaries of the documents that are visible in a snapshot, newest first, before a version. */
export function* listSummariesBefore(
  spaceKey: number,
  snapshot: { headRevision: number },
  before: number,
  limit: number,
): Read<PageIndexSummaryRow[]> {
  return yield* sql.all<PageIndexSummaryRow>(
    `SELECT ${COLUMNS} FROM page_index p INDEXED BY page_index_space
     CROSS JOIN versions v INDEXED BY versions_at ON v.key = p.version_key
     WHERE p.space_key = ? AND p.version_key < ? AND p.format = ${PAGE_INDEX_FORMAT} AND ${IS_VISIBLE}
     ORDER BY p.version_key DESC LIMIT +?`,
    [spaceKey, before, snapshot.headRevision, snapshot.headRevision, limit],
  )
}

/** Summaries of some documents (row keys) that are visible in a snapshot. */
export function* listSummaries(
  spaceKey: number,
  snapshot: { headRevision: number },
  docs: number[],
): Read<PageIndexSummaryRow[]> {
  return yield* sql.all<PageIndexSummaryRow>(
    `SELECT ${COLUMNS} FROM json_each(?) wanted
     CROSS JOIN versions v INDEXED BY versions_visible ON v.doc_key = wanted.value
     CROSS JOIN page_index p ON p.version_key = v.key
     WHERE p.space_key = ? AND p.format = ${PAGE_INDEX_FORMAT} AND ${IS_VISIBLE} ORDER BY p.version_key DESC`,
    [JSON.stringify(docs), spaceKey, snapshot.headRevision, snapshot.headRevision],
  )
}

/** The packed ranges of a version's index. */
export function* findPageIndexRanges(versionKey: number): Read<Uint8Array | undefined> {
  return (yield* sql.get<{ ranges: Uint8Array }>('SELECT ranges FROM page_index WHERE version_key = ?', [versionKey]))
    ?.ranges
}
