import type { Bindable } from '../../base/statements.js'
import { type Read, sql } from '../../storage/program.js'
import type { SpaceRow } from '../spaces.js'
import { READS, type WholeTable } from './tables.js'

/** A row as it is stored. */
export type Row = Readonly<Record<string, unknown>>

/**
 * The next rows of a table of a space, in the order in which a bundle has them.
 *
 * @param after the columns that order the last row before; absent for the first
 */
export function* rowsAfter(space: SpaceRow, wanted: WholeTable, after: Row | undefined): Read<Row[]> {
  for (const [table, where, order, most] of READS) {
    if (table !== wanted) continue
    const before = order.map((column) => beforeValue(after, column))
    return yield* sql.all<Row>(
      `SELECT t.* FROM ${table} t WHERE ${where} AND (${order.map((column) => `t.${column}`).join(', ')}) > (${order.map((_column) => '?').join(', ')})
       ORDER BY ${order.map((column) => `t.${column}`).join(', ')} LIMIT ${most}`,
      [...owners(space, where), ...before],
    )
  }
  return []
}

/** How many rows `rowsAfter` gives at most. */
export function pageOf(wanted: WholeTable): number {
  return READS.find(([table]) => table === wanted)?.[3] ?? 0
}

/** Columns that order rows by numbers; all others are texts. */
const NUMBERS: ReadonlySet<string> = new Set(['revision', 'sequence', 'place', 'seq', 'from_seq'])

function beforeValue(after: Row | undefined, column: string): Bindable {
  const value = after?.[column]
  if (typeof value === 'string' || typeof value === 'number') return value
  return NUMBERS.has(column) ? -1 : ''
}

/** The tenant and the key of the space, as often as a condition asks for them. */
function owners({ tenant, key }: SpaceRow, where: string): Bindable[] {
  const asked = where.split('?').length - 1
  return [tenant, ...Array.from({ length: asked - 1 }, () => key)]
}

/** A document as a bundle has it. */
export interface BundledDocument extends Row {
  key: number
  id: string
  source_id: string | null
  sha256: string
  object_key: string
  size_bytes: number
}

/**
 * The next documents of a space by id: those that are published, and those that could not be read. What is still on its way
 * to its first publication has nothing yet that could be moved.
 */
export function* documentsFor({ tenant, key }: SpaceRow, after: string, most: number): Read<BundledDocument[]> {
  return yield* sql.all<BundledDocument>(
    `SELECT d.*, EXISTS (SELECT 1 FROM versions v WHERE v.doc_key = d.key AND v.from_revision IS NOT NULL
         AND v.until_revision IS NULL) is_shown
     FROM documents d WHERE d.tenant = ? AND d.space_key = ? AND d.id > ? AND d.deleted_at IS NULL
       AND (d.parser_status = 'failed' OR EXISTS (SELECT 1 FROM versions v WHERE v.doc_key = d.key
         AND v.from_revision IS NOT NULL AND v.until_revision IS NULL))
     ORDER BY d.id LIMIT ?`,
    [tenant, key, after, most],
  )
}

/** A version as a bundle has it. */
export interface BundledVersion extends Row {
  key: number
  doc_key: number
  version: number
  node_count: number
  first_node: number | null
}

/** The published versions of documents, the superseded ones among them; not those that are about to be purged. */
export function* versionsFor(spaceKey: number, documents: readonly number[]): Read<BundledVersion[]> {
  return yield* sql.all<BundledVersion>(
    `SELECT v.* FROM json_each(?) wanted CROSS JOIN versions v ON v.doc_key = wanted.value
     WHERE v.space_key = ? AND v.from_revision IS NOT NULL AND v.obsolete_at IS NULL
     ORDER BY wanted.key, v.version`,
    [JSON.stringify(documents), spaceKey],
  )
}

/** Of versions, those with something in a table beside them. */
export function* versionsIn(table: 'version_parts' | 'item_assets', versions: readonly number[]): Read<Set<number>> {
  const rows = yield* sql.all<{ key: number }>(
    `SELECT wanted.value key FROM json_each(?) wanted
     WHERE EXISTS (SELECT 1 FROM ${table} t WHERE t.version_key = wanted.value)`,
    [JSON.stringify(versions)],
  )
  return new Set(rows.map(({ key }) => Number(key)))
}

/** large ones are hundreds of kilobytes, pictures some megabytes */
const LARGE_ROWS = 4

/** The next parts of a version, behind one of them. */
export function* partsAfter(versionKey: number, after: { part: string; place: number }): Read<Row[]> {
  return yield* sql.all<Row>(
    `SELECT t.* FROM version_parts t WHERE t.version_key = ? AND (t.part, t.place) > (?, ?)
     ORDER BY t.part, t.place LIMIT ${LARGE_ROWS}`,
    [versionKey, after.part, after.place],
  )
}

/** The next pictures of a version, behind one of them. */
export function* assetsAfter(versionKey: number, after: string): Read<Row[]> {
  return yield* sql.all<Row>(
    `SELECT t.* FROM item_assets t WHERE t.version_key = ? AND t.item_id > ? ORDER BY t.item_id LIMIT ${LARGE_ROWS}`,
    [versionKey, after],
  )
}

/** A passage with its vector, as a bundle has it. */
export interface BundledNode extends Row {
  key: number
  version_key: number
  ordinal: number
  vector: Uint8Array | null
}

/** The next passages of versions, with their vectors of a vector space. @param after of the only version that is asked for */
export function* nodesFor(
  versions: readonly number[],
  vectorSpace: number | undefined,
  after: number,
  most: number,
): Read<BundledNode[]> {
  return yield* sql.all<BundledNode>(
    `SELECT n.*, x.vector FROM json_each(?) wanted
     CROSS JOIN nodes n INDEXED BY nodes_version ON n.version_key = wanted.value
     LEFT JOIN vectors x ON x.vector_space = ? AND x.node_key = n.key
     WHERE n.ordinal > ? ORDER BY wanted.key, n.ordinal LIMIT ?`,
    [JSON.stringify(versions), vectorSpace ?? -1, after, most],
  )
}

/** What models said of a passage when they read it for the graph. */
export interface ModelRead {
  node_key: number
  model: string
  text_hash: string
  said: string
}

/** What models said of passages; nothing where none was asked in the space. */
export function* modelReadsFor(spaceKey: number, nodes: readonly number[]): Read<ModelRead[]> {
  if ((yield* sql.get('SELECT 1 one FROM graph_model_reads WHERE space_key = ? LIMIT 1', [spaceKey])) === undefined)
    return []
  return yield* sql.all<ModelRead>(
    `SELECT r.node_key, r.model, r.text_hash, r.said FROM json_each(?) wanted
     CROSS JOIN graph_model_reads r ON r.node_key = wanted.value
     WHERE r.space_key = ? ORDER BY wanted.key, r.model`,
    [JSON.stringify(nodes), spaceKey],
  )
}
