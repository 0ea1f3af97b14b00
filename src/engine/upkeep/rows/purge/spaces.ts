import { sqlHoldsTime } from '../../../store/formats.js'
import { type Read, sql, type Write } from '../../../store/program.js'
import { removeTrace } from './parts.js'

/** a research task has some thirty bundles */
const TASKS_PER_SLICE = 5
/** a trace and its bundle are some thirty kilobytes */
const TRACES_PER_SLICE = 50
const ROWS_PER_SLICE = 500 // limits the time that a slice blocks the event loop to milliseconds

export interface DeletedSpace {
  key: number
  id: string
  tenant: string
  deleted_at: number
}

/** A deleted space; without those that a gateway is importing. */
export function* findDeletedSpace(): Read<DeletedSpace | undefined> {
  return yield* sql.get<DeletedSpace>(
    `SELECT key, id, tenant, deleted_at FROM spaces WHERE ${sqlHoldsTime('deleted_at')} AND imported_by IS NULL LIMIT 1`,
  )
}

/** Deletes a slice of a deleted space's documents. @returns their number */
export function* deleteDocumentSlice(space: DeletedSpace): Write<number> {
  return (yield* sql.run(
    `UPDATE documents SET deleted_at = ? WHERE key IN
           (SELECT key FROM documents WHERE space_key = ? AND deleted_at IS NULL LIMIT ?)`,
    [space.deleted_at, space.key, ROWS_PER_SLICE],
  )).changes
}

/** Removes a slice of the tables that grow with the use of a space. @returns whether there may be more */
export function* purgeSpaceSlice(spaceKey: number): Write<boolean> {
  const traces = yield* sql.all<{ tenant: string; id: string }>(
    'SELECT tenant, id FROM traces WHERE space_key = ? LIMIT ?',
    [spaceKey, TRACES_PER_SLICE],
  )
  for (const trace of traces) yield* removeTrace(trace)
  if (traces.length > 0) return true
  if ((yield* removeLogSlice(spaceKey)) > 0) return true
  for (const [table, key, rows] of GROWING_TABLES) {
    const { changes } = yield* sql.run(
      `DELETE FROM ${table} WHERE (${key}) IN (SELECT ${key} FROM ${table} WHERE space_key = ? LIMIT ?)`,
      [spaceKey, rows],
    )
    if (changes > 0) return true
  }
  return false
}

/** Removes the oldest entries of the index log: its key starts with the space's. */
function* removeLogSlice(spaceKey: number): Write<number> {
  return (yield* sql.run(
    `DELETE FROM projection_log WHERE space_key = ? AND seq IN
       (SELECT seq FROM projection_log WHERE space_key = ? ORDER BY seq LIMIT ?)`,
    [spaceKey, spaceKey, ROWS_PER_SLICE],
  )).changes
}

/** Removes the remaining rows of a space, and its own row last. */
export function* removeSpaceRows(spaceKey: number): Write<void> {
  for (const statement of REMAINING_ROW_DELETIONS) yield* sql.run(statement, [spaceKey])
}

/** Tables with a row for every upload, publication or task, their keys, and the number of rows in a slice. */
const GROWING_TABLES = [
  ['staged_commits', 'tenant, id', ROWS_PER_SLICE],
  ['jobs', 'key', ROWS_PER_SLICE],
  ['publications', 'tenant, id', ROWS_PER_SLICE],
  ['research_tasks', 'tenant, id', TASKS_PER_SLICE],
  ['golden_run_results', 'tenant, run_id, sequence', ROWS_PER_SLICE],
  ['local_files', 'key', ROWS_PER_SLICE],
  ['skipped_files', 'space_key, filename', ROWS_PER_SLICE],
] as const

/** The remaining rows of a space without documents, children before their parents. */
const REMAINING_ROW_DELETIONS = [
  'DELETE FROM session_turns WHERE (tenant, session_id) IN (SELECT tenant, id FROM sessions WHERE space_key = ?)',
  'DELETE FROM sessions WHERE space_key = ?',
  'DELETE FROM missing_reviews WHERE space_key = ?',
  'DELETE FROM missing_review_history WHERE space_key = ?',
  'DELETE FROM golden_questions WHERE space_key = ?',
  'DELETE FROM golden_runs WHERE space_key = ?',
  'DELETE FROM failed_queries WHERE space_key = ?',
  'DELETE FROM evidence_bundles WHERE space_key = ?',
  'DELETE FROM traces WHERE space_key = ?',
  'DELETE FROM staged_commits WHERE space_key = ?',
  'DELETE FROM bulk_items WHERE (tenant, bulk_id) IN (SELECT tenant, id FROM bulk_jobs WHERE space_key = ?)',
  'DELETE FROM bulk_jobs WHERE space_key = ?',
  'DELETE FROM jobs WHERE space_key = ?',
  'DELETE FROM publications WHERE space_key = ?',
  'DELETE FROM space_counters WHERE space_key = ?',
  'DELETE FROM vectors_due WHERE space_key = ?',
  'DELETE FROM vector_refusals WHERE space_key = ?',
  'DELETE FROM vector_waits WHERE space_key = ?',
  'DELETE FROM picture_descriptions WHERE space_key = ?',
  'DELETE FROM picture_readings WHERE space_key = ?',
  'DELETE FROM picture_waits WHERE space_key = ?',
  'DELETE FROM embedding_migration_refusals WHERE space_key = ?',
  'DELETE FROM embedding_migrations WHERE space_key = ?',
  'DELETE FROM vectors WHERE vector_space IN (SELECT key FROM vector_spaces WHERE space_key = ?)',
  'DELETE FROM vector_spaces WHERE space_key = ?',
  'DELETE FROM retrieval_profiles WHERE space_key = ?',
  'DELETE FROM retention_policies WHERE space_key = ?',
  'DELETE FROM space_usage WHERE space_key = ?',
  'DELETE FROM research_tasks WHERE space_key = ?',
  'DELETE FROM conflict_verdicts WHERE space_key = ?',
  'DELETE FROM graph_scans WHERE space_key = ?',
  'DELETE FROM graph_readings WHERE space_key = ?',
  'DELETE FROM graph_model_reads WHERE space_key = ?',
  'DELETE FROM semantic_views WHERE space_key = ?',
  'DELETE FROM semantic_reports WHERE space_key = ?',
  'DELETE FROM semantic_builds WHERE space_key = ?',
  'DELETE FROM space_deletions WHERE space_key = ?',
  'DELETE FROM sources WHERE space_key = ?',
  'DELETE FROM source_readers WHERE space_key = ?',
  'DELETE FROM snapshot_queries WHERE space_key = ?',
  'DELETE FROM workspace_snapshots WHERE space_key = ?',
  'DELETE FROM workspace_changes WHERE space_key = ?',
  'DELETE FROM watches WHERE space_key = ?',
  'DELETE FROM spaces WHERE key = ?',
]
