import { TABLES } from '../../storage/schema/tables.js'

/*
 * The tables that a bundle has rows of, with all columns but those that the schema marks as `notBundled`. A table that is not
 * here is left out; `test/engine/bundles/tables.test.ts` has the reason for each.
 */

/** SQL: the rows `t` of a space, by its tenant and its row key. */
const OWN = 't.tenant = ? AND t.space_key = ?'
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
 * Tables that are read in one go over a space: where the rows stand, the columns that order them, which are public ids and
 * places so that two stores give the same order, and how many rows are read at a time.
 */
export const READS = [
  ['retrieval_profiles', OF_SPACE, ['revision'], 1],
  ['publications', OWN, ['revision'], 500],
  ['vector_spaces', `${OF_SPACE} AND t.state = 'active'`, ['id'], 1],
  ['source_readers', OF_SPACE, ['source_id', 'subject'], 500],
  ['sources', `${OWN} AND t.deleted_at IS NULL`, ['id'], 200],
  ['retention_policies', OWN, ['id'], 1],
  ['conflict_verdicts', OF_SPACE, ['pair'], 500],
  ['semantic_views', `${OF_SPACE} AND t.kind = 'topic' AND t.named = 1`, ['slug'], 200],
  ['golden_questions', OWN, ['id'], 200],
  ['failed_queries', OWN, ['id'], 200],
  ['quoted_sources', OF_OWNER, ['owner', 'source_id'], 500],
  ['traces', OWN, ['id'], 50],
  ['missing_reviews', OWN, ['id'], 200],
  ['missing_review_history', OWN, ['id'], 200],
  ['research_tasks', `${OWN} AND t.completed_at IS NOT NULL`, ['id'], 50],
  ['research_steps', OF_TASK, ['task_id', 'step'], 50],
  ['research_partials', OF_TASK, ['task_id', 'sequence'], 50],
  ['research_costs', OF_TASK, ['task_id', 'sequence'], 200],
  ['research_events', OF_TASK, ['task_id', 'sequence'], 200],
  ['evidence_bundles', OF_ANSWER, ['id'], 50],
  ['workspace_changes', OF_SPACE, ['seq'], 1],
  ['workspace_files', `${OF_SPACE} AND t.removed = 0 AND t.until_seq IS NULL`, ['id', 'from_seq'], 32],
  ['workspace_snapshots', `${OWN} AND t.deleted_at IS NULL`, ['id'], 200],
  ['snapshot_files', OF_SNAPSHOT, ['snapshot_id', 'path'], 32],
  ['snapshot_queries', OF_SNAPSHOT, ['snapshot_id', 'place'], 50],
] as const

/** Tables of which a bundle has the documents of a space, page by page; they follow one another in this order. */
export const DOCUMENT_TABLES = ['documents', 'versions', 'version_parts', 'item_assets', 'nodes'] as const

export type DocumentTable = (typeof DOCUMENT_TABLES)[number]
export type WholeTable = (typeof READS)[number][0]
export type RowTable = WholeTable | DocumentTable
export const ROW_TABLES: readonly RowTable[] = [...READS.map(([table]) => table), ...DOCUMENT_TABLES]

/** Columns that an import fills by itself, of any table and of single ones. */
const MADE: ReadonlySet<string> = new Set([
  'tenant',
  'space_key',
  'doc_key',
  'version_key',
  'object_key',
  ...['nodes.key', 'nodes.row_hash', 'versions.first_node', 'versions.last_node'],
  ...['semantic_views.created_at', 'semantic_views.revision', 'semantic_views.total'],
])

const isCarried = (table: RowTable, column: string) => !MADE.has(column) && !MADE.has(`${table}.${column}`)

/** The columns of a table that a bundle is about: not those that the database computes, nor those of one store. */
function bundledColumns(table: RowTable | 'spaces'): string[] {
  return Object.entries(TABLES[table]?.columns ?? {}).flatMap(([name, { rowKey, generated, notBundled }]) => {
    const isAssigned = rowKey !== undefined && !MADE.has(`${table}.${name}`)
    return isAssigned || notBundled || generated !== undefined ? [] : [name]
  })
}

const WRITTEN: ReadonlyMap<string, readonly string[]> = new Map(
  ROW_TABLES.map((table): [RowTable, string[]] => [table, bundledColumns(table)]),
)
const CARRIED: ReadonlyMap<string, readonly string[]> = new Map(
  ROW_TABLES.map((table) => [table, writtenColumns(table).filter((column) => isCarried(table, column))]),
)

/** The columns of a table that an import writes. */
export function writtenColumns(table: RowTable): readonly string[] {
  return WRITTEN.get(table) ?? []
}

/** The columns of a table that a bundle contains as the database does. */
export function carriedColumns(table: RowTable): readonly string[] {
  return CARRIED.get(table) ?? []
}

/** The columns of the row of a space that a bundle contains. */
export const SPACE_COLUMNS: readonly string[] = bundledColumns('spaces')

/** SQL: inserts a row of a bundle, its cells in the order of `writtenColumns`. */
export function insertText(table: RowTable): string {
  const columns = writtenColumns(table)
  return `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`
}
