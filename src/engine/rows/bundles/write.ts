import type { Bindable } from '../../base/statements.js'
import { type Read, sql, type Write } from '../../storage/program.js'
import { insertText, type RowTable } from './tables.js'

/** Writes a row of a bundle, inside the caller's transaction. @param cells in the order of `writtenColumns` */
export function* insertRow(table: RowTable, cells: readonly Bindable[]): Write<void> {
  yield* sql.run(insertText(table), cells)
}

/** The same of a row that others name. @returns its row key */
export function* insertKeyed(
  table: 'documents' | 'versions' | 'vector_spaces',
  cells: readonly Bindable[],
): Write<number> {
  return yield* sql.inserted(`${insertText(table)} RETURNING key`, cells)
}

/** A reader of a source; the row of the source may have made it already. */
export function* insertReader(spaceKey: number, sourceId: string, subject: string): Write<void> {
  yield* sql.run('INSERT OR IGNORE INTO source_readers (space_key, source_id, subject) VALUES (?, ?, ?)', [
    spaceKey,
    sourceId,
    subject,
  ])
}

/** Stores the vector of a new passage as it came. */
export function* insertStoredVector(vectorSpace: number, nodeKey: number, vector: Uint8Array): Write<void> {
  yield* sql.run('INSERT INTO vectors (vector_space, node_key, vector) VALUES (?, ?, ?)', [
    vectorSpace,
    nodeKey,
    vector,
  ])
}

/** Stores what a model said of a passage; the graph does not hold it yet. */
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

/** Of ids, one that a passage of any space has. Ids of passages are unique in the store. */
export function* takenNode(ids: readonly string[]): Read<string | undefined> {
  return (yield* sql.get<{ id: string }>(
    'SELECT n.id FROM json_each(?) wanted CROSS JOIN nodes n ON n.id = wanted.value LIMIT 1',
    [JSON.stringify(ids)],
  ))?.id
}

/** Whether any space has a vector space with this id. */
export function* isVectorSpaceTaken(id: string): Read<boolean> {
  return (yield* sql.get('SELECT 1 one FROM vector_spaces WHERE id = ?', [id])) !== undefined
}

/**
 * Of ids of sources, one that stands in another space, whosever it is: readers of a source are found by its id alone, so
 * that of a bundle must be nobody else's.
 */
export function* takenSource(spaceKey: number, ids: readonly string[]): Read<string | undefined> {
  const wanted = JSON.stringify(ids)
  const found =
    (yield* sql.get<{ id: string }>(
      `SELECT s.id FROM json_each(?) wanted CROSS JOIN sources s ON s.id = wanted.value WHERE s.space_key <> ? LIMIT 1`,
      [wanted, spaceKey],
    )) ??
    (yield* sql.get<{ id: string }>(
      `SELECT r.source_id id FROM json_each(?) wanted CROSS JOIN source_readers r ON r.source_id = wanted.value
       WHERE r.space_key <> ? LIMIT 1`,
      [wanted, spaceKey],
    ))
  return found?.id
}

const IDS = [
  ['publications', 'id'],
  ['documents', 'id'],
  ['golden_questions', 'id'],
  ['failed_queries', 'id'],
  ['traces', 'id'],
  ['evidence_bundles', 'id'],
  ['missing_reviews', 'id'],
  ['missing_review_history', 'id'],
  ['research_tasks', 'id'],
  ['workspace_snapshots', 'id'],
  ['retention_policies', 'id'],
] as const

/** Of ids, one that the tenant has already in a table whose ids are unique in it. */
export function* takenId(tenant: string, wanted: string, ids: readonly string[]): Read<string | undefined> {
  for (const [table, column] of IDS)
    if (table === wanted)
      return (yield* sql.get<{ id: string }>(
        `SELECT t.${column} id FROM json_each(?) wanted CROSS JOIN ${table} t ON t.${column} = wanted.value
         WHERE t.tenant = ? LIMIT 1`,
        [JSON.stringify(ids), tenant],
      ))?.id
  return undefined
}
