/*
 * The tables of a bundle. `test/engine/bundles/tables.test.ts` gives the reason for each table that is left out, and
 * for each left-out column of these tables.
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

/**
 * The columns that an import writes, by table. Those in `STORE_COLUMNS` are not in the bundle: the store computes them.
 */
export const IMPORT_COLUMNS = [
  ['retrieval_profiles', 'space_key, revision, body', '?, ?, ?'],
  ['publications', 'tenant, space_key, id, revision, fingerprint, created_at', '?, ?, ?, ?, ?, ?'],
  [
    'vector_spaces',
    `space_key, id, revision, dimension, trained_nodes, model, state, created_at`,
    '?, ?, ?, ?, ?, ?, ?, ?',
  ],
  ['source_readers', 'space_key, source_id, subject', '?, ?, ?'],
  [
    'sources',
    `tenant, space_key, id, name, type, uri, status, permission_scope, metadata, version, last_sync_at,
    last_sync_error, sync_summary, created_at, updated_at, deletes_documents`,
    '?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?',
  ],
  [
    'retention_policies',
    `tenant, space_key, id, answer_trace_days, evidence_cache_days, inactive_projection_days,
    artifact_versions, raw_document_days, session_minutes, created_at, updated_at`,
    '?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?',
  ],
  [
    'documents',
    `tenant, space_key, object_key, id, source_id, filename, path_name, mime_type, sha256, size_bytes,
    parser_status, version, metadata, error_code, error, created_at, updated_at, validators, parent_id`,
    '?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?',
  ],
  [
    'versions',
    `space_key, doc_key, first_node, last_node, version, from_revision, until_revision, node_count,
    artifact_id, artifact_hash, content_type, parser, outline_id, items_id, created_at, title, metadata,
    outline, items, artifact, segment_count`,
    '?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?',
  ],
  ['version_parts', 'space_key, version_key, part, place, bytes', '?, ?, ?, ?, ?'],
  ['item_assets', 'version_key, item_id, content_type, sha256, bytes', '?, ?, ?, ?, ?'],
  [
    'nodes',
    `key, space_key, doc_key, version_key, row_hash, id, ordinal, title, text, section, outline_node,
    elements, start_offset, end_offset, page, kind, shows`,
    '?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?',
  ],
  ['conflict_verdicts', 'space_key, pair, verdict', '?, ?, ?'],
  [
    'semantic_views',
    `space_key, created_at, revision, total, kind, slug, name, terms, named, member_limit,
    generated_version`,
    '?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?',
  ],
  [
    'golden_questions',
    `tenant, space_key, id, question, expected_evidence, expected_answer, tags, metadata, created_at,
    updated_at`,
    '?, ?, ?, ?, ?, ?, ?, ?, ?, ?',
  ],
  [
    'failed_queries',
    `tenant, space_key, id, query_key, cluster_key, mode, trigger, status, occurrences, asked_at,
    answer_trace_id, created_at, updated_at, metadata, query, unclustered`,
    '?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?',
  ],
  ['quoted_sources', 'tenant, owner, source_id', '?, ?, ?'],
  [
    'traces',
    `tenant, space_key, id, subject, query, mode, requested_mode, completed, bundle_id, evidence_state,
    steps, created_at, session_id`,
    '?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?',
  ],
  ['evidence_bundles', 'tenant, space_key, id, trace_id, body, created_at', '?, ?, ?, ?, ?, ?'],
  [
    'missing_reviews',
    `tenant, space_key, id, trace_id, item_key, status, reason, revision, actor, created_at, updated_at`,
    '?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?',
  ],
  [
    'missing_review_history',
    `tenant, space_key, id, review_id, actor, from_status, to_status, reason, revision, created_at`,
    '?, ?, ?, ?, ?, ?, ?, ?, ?, ?',
  ],
  [
    'research_tasks',
    `tenant, space_key, id, subject, queue_id, query, mode, route, snapshot, profile, limits, budget_usd,
    metadata, permission_scope, stage, error, stopped_by, budget_exceeded, active_ms, attempts,
    created_at, updated_at, completed_at, events`,
    '?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?',
  ],
  [
    'research_steps',
    `tenant, space_key, task_id, step, name, body, tool_calls, scanned, input_tokens, output_tokens,
    latency_ms, created_at`,
    '?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?',
  ],
  ['research_partials', 'tenant, space_key, task_id, sequence, body', '?, ?, ?, ?, ?'],
  [
    'research_costs',
    `tenant, task_id, sequence, step, provider, cost_usd, usage, recorded_at`,
    '?, ?, ?, ?, ?, ?, ?, ?',
  ],
  ['research_events', 'tenant, task_id, sequence, event, data', '?, ?, ?, ?, ?'],
  ['workspace_changes', 'space_key, seq', '?, ?'],
  [
    'workspace_files',
    `space_key, object_key, id, folder, base, sha256, size_bytes, content_type, version, subject,
    created_at, updated_at, from_seq`,
    '?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?',
  ],
  [
    'workspace_snapshots',
    `tenant, space_key, id, subject, workspace, name, session_id, publication_id, file_count, total_bytes,
    query_count, created_at`,
    '?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?',
  ],
  [
    'snapshot_files',
    `tenant, space_key, object_key, snapshot_id, path, sha256, size_bytes, content_type, version,
    updated_at`,
    '?, ?, ?, ?, ?, ?, ?, ?, ?, ?',
  ],
  ['snapshot_queries', 'tenant, space_key, snapshot_id, place, body', '?, ?, ?, ?, ?'],
] as const

export type ImportTable = (typeof IMPORT_COLUMNS)[number][0]
export type SpaceTable = (typeof SPACE_TABLES)[number][0]

/** Columns that an import computes, of any table and of single ones. */
const STORE_COLUMNS: ReadonlySet<string> = new Set([
  'tenant',
  'space_key',
  'doc_key',
  'version_key',
  'object_key',
  ...['nodes.key', 'nodes.row_hash', 'versions.first_node', 'versions.last_node'],
  ...['semantic_views.created_at', 'semantic_views.revision', 'semantic_views.total'],
])

const isInBundle = (table: ImportTable, column: string) =>
  !STORE_COLUMNS.has(column) && !STORE_COLUMNS.has(`${table}.${column}`)

const IMPORT_COLUMNS_BY_TABLE: ReadonlyMap<string, readonly string[]> = new Map(
  IMPORT_COLUMNS.map(([table, columns]): [ImportTable, string[]] => [table, columns.split(/,\s+/)]),
)
const BUNDLE_COLUMNS_BY_TABLE: ReadonlyMap<string, readonly string[]> = new Map(
  IMPORT_COLUMNS.map(([table]) => [table, listImportColumns(table).filter((column) => isInBundle(table, column))]),
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
export const SPACE_COLUMNS = [
  'id',
  'name',
  'slug',
  'description',
  'created_at',
  'updated_at',
  'manifest_id',
  'manifest_version',
  'embedding_plugin',
  'embedding_provider',
  'embedding_model',
  'embedding_revision',
  'vector_space',
  'dimension',
  'frozen_at',
  'head_revision',
  'publication_id',
  'fingerprint',
  'published_at',
] as const
