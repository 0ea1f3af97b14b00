import type { Bindable } from '../../../base/statements.js'
import { type Read, sql } from '../../../store/program.js'
import type { SpaceRow } from '../../../store/rows/spaces.js'
import { SPACE_TABLES, type SpaceTable } from './tables.js'

/** A row as it is stored. */
export type BundleRow = Readonly<Record<string, unknown>>

/**
 * The next rows of a table of a space, in bundle order.
 *
 * @param after the previous row, of which the ordering columns are read; absent for the first rows
 */
export function* listRowsAfter(
  space: SpaceRow,
  requestedTable: SpaceTable,
  after: BundleRow | undefined,
): Read<BundleRow[]> {
  for (const [table, where, order, maxRows] of SPACE_TABLES) {
    if (table !== requestedTable) continue
    const before = order.map((column) => getAfterValue(after, column))
    return yield* sql.all<BundleRow>(
      `SELECT t.* FROM ${table} t WHERE ${where} AND (${order.map((column) => `t.${column}`).join(', ')}) > (${order.map((_column) => '?').join(', ')})
       ORDER BY ${order.map((column) => `t.${column}`).join(', ')} LIMIT ${maxRows}`,
      [...toOwnerParameters(space, where), ...before],
    )
  }
  return []
}

/** The maximum number of rows that `listRowsAfter` returns. */
export function getPageSize(requestedTable: SpaceTable): number {
  return SPACE_TABLES.find(([table]) => table === requestedTable)?.[3] ?? 0
}

/** Ordering columns with numbers; all others contain text. */
const NUMERIC_COLUMNS: ReadonlySet<string> = new Set(['revision', 'sequence', 'place', 'seq', 'from_seq'])

function getAfterValue(after: BundleRow | undefined, column: string): Bindable {
  const value = after?.[column]
  if (typeof value === 'string' || typeof value === 'number') return value
  return NUMERIC_COLUMNS.has(column) ? -1 : ''
}

/** The tenant and then the key of the space, one value for each parameter of a condition. */
function toOwnerParameters({ tenant, key }: SpaceRow, where: string): Bindable[] {
  const parameterCount = where.split('?').length - 1
  return [tenant, ...Array.from({ length: parameterCount - 1 }, () => key)]
}

/** A document as a bundle contains it. */
export interface BundledDocument extends BundleRow {
  key: number
  id: string
  source_id: string | null
  sha256: string
  object_key: string
  size_bytes: number
}

/**
 * The next documents of a space by id: published documents, and those that failed to parse. A document before its first
 * publication has no content to export.
 */
export function* listBundledDocuments(
  { tenant, key }: SpaceRow,
  after: string,
  limit: number,
): Read<BundledDocument[]> {
  return yield* sql.all<BundledDocument>(
    `SELECT d.*, EXISTS (SELECT 1 FROM versions v WHERE v.doc_key = d.key AND v.from_revision IS NOT NULL
         AND v.until_revision IS NULL) is_shown
     FROM documents d WHERE d.tenant = ? AND d.space_key = ? AND d.id > ? AND d.deleted_at IS NULL
       AND (d.parser_status = 'failed' OR EXISTS (SELECT 1 FROM versions v WHERE v.doc_key = d.key
         AND v.from_revision IS NOT NULL AND v.until_revision IS NULL))
     ORDER BY d.id LIMIT ?`,
    [tenant, key, after, limit],
  )
}

/** A version as a bundle contains it. */
export interface BundledVersion extends BundleRow {
  key: number
  doc_key: number
  version: number
  node_count: number
  first_node: number | null
}

/** The published versions of documents, including superseded ones; without those that are about to be purged. */
export function* listBundledVersions(spaceKey: number, documents: readonly number[]): Read<BundledVersion[]> {
  return yield* sql.all<BundledVersion>(
    `SELECT v.* FROM json_each(?) wanted CROSS JOIN versions v ON v.doc_key = wanted.value
     WHERE v.space_key = ? AND v.from_revision IS NOT NULL AND v.obsolete_at IS NULL
     ORDER BY wanted.key, v.version`,
    [JSON.stringify(documents), spaceKey],
  )
}

/** Of some versions, those that have rows in an additional table. */
export function* filterVersionsWithRows(
  table: 'version_parts' | 'item_assets',
  versions: readonly number[],
): Read<Set<number>> {
  const rows = yield* sql.all<{ key: number }>(
    `SELECT wanted.value key FROM json_each(?) wanted
     WHERE EXISTS (SELECT 1 FROM ${table} t WHERE t.version_key = wanted.value)`,
    [JSON.stringify(versions)],
  )
  return new Set(rows.map(({ key }) => Number(key)))
}

/** large parts have hundreds of kilobytes, pictures some megabytes */
const MAX_LARGE_ROWS = 4

/** The next parts of a version, after one of them. */
export function* listPartsAfter(versionKey: number, after: { part: string; place: number }): Read<BundleRow[]> {
  return yield* sql.all<BundleRow>(
    `SELECT t.* FROM version_parts t WHERE t.version_key = ? AND (t.part, t.place) > (?, ?)
     ORDER BY t.part, t.place LIMIT ${MAX_LARGE_ROWS}`,
    [versionKey, after.part, after.place],
  )
}

/** The next pictures of a version, after one of them. */
export function* listAssetsAfter(versionKey: number, after: string): Read<BundleRow[]> {
  return yield* sql.all<BundleRow>(
    `SELECT t.* FROM item_assets t WHERE t.version_key = ? AND t.item_id > ? ORDER BY t.item_id LIMIT ${MAX_LARGE_ROWS}`,
    [versionKey, after],
  )
}

/** A passage with its vector, as a bundle contains it. */
export interface BundledNode extends BundleRow {
  key: number
  version_key: number
  ordinal: number
  vector: Uint8Array | null
}

/**
 * The next passages of versions, with their vectors of a vector space. @param after ordinal; not -1 only if one version
 * is requested
 */
export function* listBundledNodes(
  versions: readonly number[],
  vectorSpace: number | undefined,
  after: number,
  limit: number,
): Read<BundledNode[]> {
  return yield* sql.all<BundledNode>(
    `SELECT n.*, x.vector FROM json_each(?) wanted
     CROSS JOIN nodes n INDEXED BY nodes_version ON n.version_key = wanted.value
     LEFT JOIN vectors x ON x.vector_space = ? AND x.node_key = n.key
     WHERE n.ordinal > ? ORDER BY wanted.key, n.ordinal LIMIT ?`,
    [JSON.stringify(versions), vectorSpace ?? -1, after, limit],
  )
}

/** A model's reply about a passage, requested for the graph. */
export interface ModelRead {
  node_key: number
  model: string
  text_hash: string
  said: string
}

/** Replies of models about passages; none if the space never asked a model. */
export function* listBundledModelReads(spaceKey: number, nodes: readonly number[]): Read<ModelRead[]> {
  if (!(yield* sql.exists('SELECT 1 one FROM graph_model_reads WHERE space_key = ? LIMIT 1', [spaceKey]))) return []
  return yield* sql.all<ModelRead>(
    `SELECT r.node_key, r.model, r.text_hash, r.said FROM json_each(?) wanted
     CROSS JOIN graph_model_reads r ON r.node_key = wanted.value
     WHERE r.space_key = ? ORDER BY wanted.key, r.model`,
    [JSON.stringify(nodes), spaceKey],
  )
}
