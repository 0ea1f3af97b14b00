import type { Bindable } from '../../../base/statements.js'
import { type Read, sql, type Write } from '../../../store/program.js'
import { buildInsertSql, type ImportTable } from './tables.js'

/** Inserts a row of a bundle, inside the caller's transaction. @param cells in the order of `listImportColumns` */
export function* insertBundledRow(table: ImportTable, cells: readonly Bindable[]): Write<void> {
  yield* sql.run(buildInsertSql(table), cells)
}

/** Like `insertBundledRow`, for tables whose rows have keys. @returns the row key */
export function* insertRowWithKey(
  table: 'documents' | 'versions' | 'vector_spaces',
  cells: readonly Bindable[],
): Write<number> {
  return yield* sql.inserted(`${buildInsertSql(table)} RETURNING key`, cells)
}

/** Inserts a reader of a source; the row of the source may have added it already. */
export function* insertReader(spaceKey: number, sourceId: string, subject: string): Write<void> {
  yield* sql.run('INSERT OR IGNORE INTO source_readers (space_key, source_id, subject) VALUES (?, ?, ?)', [
    spaceKey,
    sourceId,
    subject,
  ])
}

/** Stores the vector of a new passage unchanged. */
export function* insertStoredVector(vectorSpace: number, nodeKey: number, vector: Uint8Array): Write<void> {
  yield* sql.run('INSERT INTO vectors (vector_space, node_key, vector) VALUES (?, ?, ?)', [
    vectorSpace,
    nodeKey,
    vector,
  ])
}

/** Stores a model's reply about a passage; the graph does not contain it yet. */
export function* insertModelRead(
  spaceKey: number,
  nodeKey: number,
  { model, text_hash, said }: { model: string; text_hash: string; said: string },
): Write<void> {
  yield* sql.run(
    `INSERT INTO graph_model_reads (node_key, model, space_key, text_hash, said, is_current) VALUES (?, ?, ?, ?, ?, 0)`,
    [nodeKey, model, spaceKey, text_hash, said],
  )
}

/** Of some node ids, one that already exists in any space. Node ids are unique in the store. */
export function* findTakenNode(ids: readonly string[]): Read<string | undefined> {
  return (yield* sql.get<{ id: string }>(
    'SELECT n.id FROM json_each(?) wanted CROSS JOIN nodes n ON n.id = wanted.value LIMIT 1',
    [JSON.stringify(ids)],
  ))?.id
}

/** Whether any space has a vector space with this id. */
export function* isVectorSpaceTaken(id: string): Read<boolean> {
  return yield* sql.exists('SELECT 1 one FROM vector_spaces WHERE id = ?', [id])
}

/**
 * Of some source ids, one that exists in another space of any tenant: readers of a source are looked up by its id
 * alone, so an imported id must be new.
 */
export function* findTakenSource(spaceKey: number, ids: readonly string[]): Read<string | undefined> {
  const list = JSON.stringify(ids)
  const row =
    (yield* sql.get<{ id: string }>(
      `SELECT s.id FROM json_each(?) wanted CROSS JOIN sources s ON s.id = wanted.value WHERE s.space_key <> ? LIMIT 1`,
      [list, spaceKey],
    )) ??
    (yield* sql.get<{ id: string }>(
      `SELECT r.source_id id FROM json_each(?) wanted CROSS JOIN source_readers r ON r.source_id = wanted.value
       WHERE r.space_key <> ? LIMIT 1`,
      [list, spaceKey],
    ))
  return row?.id
}

/** Tables whose ids are unique per tenant. */
const TABLES_WITH_IDS = [
  'publications',
  'documents',
  'golden_questions',
  'failed_queries',
  'traces',
  'evidence_bundles',
  'missing_reviews',
  'missing_review_history',
  'research_tasks',
  'workspace_snapshots',
  'retention_policies',
] as const

/** Of some ids, one that the tenant already has in a table whose ids are unique per tenant. */
export function* findTakenId(tenant: string, requestedTable: string, ids: readonly string[]): Read<string | undefined> {
  const table = TABLES_WITH_IDS.find((name) => name === requestedTable)
  if (table === undefined) return undefined
  return (yield* sql.get<{ id: string }>(
    `SELECT t.id FROM json_each(?) wanted CROSS JOIN ${table} t ON t.id = wanted.value WHERE t.tenant = ? LIMIT 1`,
    [JSON.stringify(ids), tenant],
  ))?.id
}
