import { TABLES } from '../../../store/schema/tables.js'

/*
 * The tables of a bundle, with all columns except those that the schema marks as `notBundled`.
 * `test/engine/upkeep/bundles/tables.test.ts` gives the reason for each table that is left out.
 */

/** SQL: the rows `t` of a space, by its tenant and its row key. */
const OF_TENANT_AND_SPACE = 't.tenant = ? AND t.space_key = ?'
const OF_SPACE = 't.space_key = (SELECT key FROM spaces WHERE tenant = ? AND key = ?)'
const OF_TASK = `EXISTS (SELECT 1 FROM research_tasks task WHERE task.tenant = t.tenant AND task.id = t.task_id
  AND task.tenant = ? AND task.space_key = ? AND task.completed_at IS NOT NULL)`
const OF_OWNER = `t.tenant = ? AND (
  EXISTS (SELECT 1 FROM golden_questions q WHERE q.tenant = t.tenant AND q.id = t.owner AND q.space_key = ?)
  OR EXISTS (SELECT 1 FROM failed_queries q WHERE q.tenant = t.tenant AND q.id = t.owner AND q.space_key = ?))`
const OF_SNAPSHOT = `EXISTS (SELECT 1 FROM workspace_snapshots kept WHERE kept.tenant = t.tenant AND kept.id = t.snapshot_id
  AND kept.tenant = ? AND kept.space_key = ? AND kept.deleted_at IS NULL)`
/** SQL: evidence of a trace, or of a research task that has ended. */
const OF_ANSWER = `t.tenant = ? AND t.space_key = ? AND (
  EXISTS (SELECT 1 FROM traces WHERE traces.tenant = t.tenant AND traces.id = t.trace_id)
  OR EXISTS (SELECT 1 FROM research_tasks task WHERE task.tenant = t.tenant AND task.id = t.trace_id
    AND task.completed_at IS NOT NULL))`

/**
 * Tables that are exported for a space as one list: the condition on their rows, the columns that order them, and the
 * number of rows per read. The order uses public ids and positions, so that two stores give the same order.
 */
export const SPACE_TABLES = [
  ['retrieval_profiles', OF_SPACE, ['revision'], 1],
  ['publications', OF_TENANT_AND_SPACE, ['revision'], 500],
  ['vector_spaces', `${OF_SPACE} AND t.state = 'active'`, ['id'], 1],
  ['source_readers', OF_SPACE, ['source_id', 'subject'], 500],
  ['sources', `${OF_TENANT_AND_SPACE} AND t.deleted_at IS NULL`, ['id'], 200],
  ['retention_policies', OF_TENANT_AND_SPACE, ['id'], 1],
  ['conflict_verdicts', OF_SPACE, ['pair'], 500],
  ['semantic_views', `${OF_SPACE} AND t.kind = 'topic' AND t.named = 1`, ['slug'], 200],
  ['golden_questions', OF_TENANT_AND_SPACE, ['id'], 200],
  ['failed_queries', OF_TENANT_AND_SPACE, ['id'], 200],
  ['quoted_sources', OF_OWNER, ['owner', 'source_id'], 500],
  ['traces', OF_TENANT_AND_SPACE, ['id'], 50],
  ['missing_reviews', OF_TENANT_AND_SPACE, ['id'], 200],
  ['missing_review_history', OF_TENANT_AND_SPACE, ['id'], 200],
  ['research_tasks', `${OF_TENANT_AND_SPACE} AND t.completed_at IS NOT NULL`, ['id'], 50],
  ['research_steps', OF_TASK, ['task_id', 'step'], 50],
  ['research_partials', OF_TASK, ['task_id', 'sequence'], 50],
  ['research_costs', OF_TASK, ['task_id', 'sequence'], 200],
  ['research_events', OF_TASK, ['task_id', 'sequence'], 200],
  ['evidence_bundles', OF_ANSWER, ['id'], 50],
  ['workspace_changes', OF_SPACE, ['seq'], 1],
  ['workspace_files', `${OF_SPACE} AND t.removed = 0 AND t.until_seq IS NULL`, ['id', 'from_seq'], 32],
  ['workspace_snapshots', `${OF_TENANT_AND_SPACE} AND t.deleted_at IS NULL`, ['id'], 200],
  ['snapshot_files', OF_SNAPSHOT, ['snapshot_id', 'path'], 32],
  ['snapshot_queries', OF_SNAPSHOT, ['snapshot_id', 'place'], 50],
] as const

/** Tables of the documents of a space, page by page; each page repeats them in this order. */
export const DOCUMENT_TABLES = ['documents', 'versions', 'version_parts', 'item_assets', 'nodes'] as const

export type DocumentTable = (typeof DOCUMENT_TABLES)[number]
export type SpaceTable = (typeof SPACE_TABLES)[number][0]
export type ImportTable = SpaceTable | DocumentTable
export const ROW_TABLES: readonly ImportTable[] = [...SPACE_TABLES.map(([table]) => table), ...DOCUMENT_TABLES]

/** Columns that an import computes, of any table and of single ones. */
const STORE_COLUMNS: ReadonlySet<string> = new Set([
  'tenant',
  'space_key',
  'doc_key',
  'version_key',
  'object_key',
  'nodes.key',
  'nodes.row_hash',
  'versions.first_node',
  'versions.last_node',
  'semantic_views.created_at',
  'semantic_views.revision',
  'semantic_views.total',
])

const isInBundle = (table: ImportTable, column: string) =>
  !STORE_COLUMNS.has(column) && !STORE_COLUMNS.has(`${table}.${column}`)

/** The columns of a table that belong in a bundle: not those that the database computes, nor those of one store. */
function listStoredColumns(table: ImportTable | 'spaces'): string[] {
  return Object.entries(TABLES[table]?.columns ?? {}).flatMap(([name, { rowKey, generated, notBundled }]) => {
    const isAssigned = rowKey !== undefined && !STORE_COLUMNS.has(`${table}.${name}`)
    return isAssigned || notBundled || generated !== undefined ? [] : [name]
  })
}

const IMPORT_COLUMNS_BY_TABLE: ReadonlyMap<string, readonly string[]> = new Map(
  ROW_TABLES.map((table): [ImportTable, string[]] => [table, listStoredColumns(table)]),
)
const BUNDLE_COLUMNS_BY_TABLE: ReadonlyMap<string, readonly string[]> = new Map(
  ROW_TABLES.map((table) => [table, listImportColumns(table).filter((column) => isInBundle(table, column))]),
)

/** The columns of a table that an import writes. */
export function listImportColumns(table: ImportTable): readonly string[] {
  return IMPORT_COLUMNS_BY_TABLE.get(table) ?? []
}

/** The columns of a table that a bundle contains unchanged. */
export function listBundleColumns(table: ImportTable): readonly string[] {
  return BUNDLE_COLUMNS_BY_TABLE.get(table) ?? []
}

/** The columns of a space's own row that a bundle contains. */
export const SPACE_COLUMNS: readonly string[] = listStoredColumns('spaces')

/** SQL: inserts a row of a bundle, its cells in the order of `listImportColumns`. */
export function buildInsertSql(table: ImportTable): string {
  const columns = listImportColumns(table)
  return `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`
}
