import Sqlite from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import {
  COLUMNS,
  carriedColumns,
  READS,
  SPACE_COLUMNS,
  writtenColumns,
} from '../../../src/engine/rows/bundles/tables.js'
import { sqliteSchema } from '../../../src/engine/storage/schema/sqlite.js'

/** Why a table is not in a bundle. */
const LEFT_OUT: Readonly<Record<string, readonly string[]>> = {
  'is counted, or made again, of what is there': [
    'space_usage',
    'space_counters',
    'projection_log',
    'ocr_pages',
    'node_keys',
    'vector_counts',
    'vectors_due',
    'space_deletions',
    'page_index',
    'conflict_claims',
    'conflicts',
    'graph_entities',
    'graph_mentions',
    'graph_names',
    'graph_relations',
    'graph_relation_nodes',
    'graph_versions',
    'graph_scans',
    'semantic_view_members',
    'semantic_builds',
    'semantic_reports',
  ],
  'tells how work came about that is done, or is under way here': [
    'jobs',
    'bulk_jobs',
    'bulk_items',
    'staged_commits',
    'gc_outcomes',
    'embedding_migrations',
    'embedding_migration_refusals',
    'graph_readings',
    'vector_refusals',
    'vector_waits',
    'picture_readings',
    'picture_waits',
    'idempotency',
    'sessions',
    'session_turns',
  ],
  'is of this store, or of a machine': [
    'store',
    'gateways',
    'held_leases',
    'objects',
    'revoked_tokens',
    'provider_usage',
    'local_files',
    'watches',
  ],
  'belongs to a tenant, and not to a space': [
    'chat_apps',
    'chat_keys',
    'chat_end_users',
    'chat_conversations',
    'chat_messages',
    'chat_turn_requests',
    'chat_turn_frames',
    'chat_feedback',
    'chat_files',
    'chat_message_files',
    'chat_annotations',
    'chat_annotation_replies',
    'chat_annotation_jobs',
    'chat_conversation_variables',
  ],
  'stands in the lines of passages': ['vectors', 'graph_model_reads'],
  'stands in the items of versions, from which it is taken again': ['picture_descriptions'],
}

/** Why a column of a table that is in a bundle is not. */
const LEFT_COLUMNS: Readonly<Record<string, readonly string[]>> = {
  'a row key, or made of row keys': [
    'spaces.key',
    'vector_spaces.key',
    'documents.key',
    'versions.key',
    'workspace_files.key',
    'snapshot_files.key',
    'semantic_views.key',
  ],
  'of who works at it': [
    'spaces.imported_by',
    'vector_spaces.claimed_by',
    'sources.claimed_by',
    'sources.fence',
    'sources.sync_started_at',
    'research_tasks.claimed_by',
    'research_tasks.fence',
    'research_tasks.unclean_ends',
    'research_tasks.run_after',
  ],
  'nothing of a bundle calls out by itself, and it has no secrets': ['sources.next_sync_at', 'sources.credentials'],
  'the store decides what is allowed': ['spaces.tenant', 'spaces.manifest'],
  'rows for which it is set are left out': [
    'spaces.deleted_at',
    'sources.deleted_at',
    'documents.deleted_at',
    'versions.obsolete_at',
    'workspace_files.removed',
    'workspace_files.until_seq',
    'workspace_files.until_at',
    'workspace_snapshots.deleted_at',
  ],
  'the database makes it': ['documents.folder', 'documents.base'],
  'a newer file that is on its way, which no bundle has': ['documents.next_parent_id'],
  'found again when the topic is first read': [
    'semantic_views.covered',
    'semantic_views.dropped',
    'semantic_views.document_count',
    'semantic_views.passage_count',
    'semantic_views.passage_total',
  ],
}

function catalogue(): Map<string, string[]> {
  const sqlite = new Sqlite(':memory:')
  sqlite.exec(sqliteSchema())
  const tables = sqlite
    .prepare<[], { name: string }>("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    .all()
  return new Map(
    tables.map(({ name }) => [
      name,
      sqlite
        .prepare<[string], { name: string }>('SELECT name FROM pragma_table_xinfo(?)')
        .all(name)
        .map((column) => column.name),
    ]),
  )
}

const BUNDLED: ReadonlyMap<string, readonly string[]> = new Map([
  ['spaces', SPACE_COLUMNS],
  ...COLUMNS.map(([table]): [string, readonly string[]] => [table, writtenColumns(table)]),
])

describe('the tables of the database', () => {
  it('are in a bundle, or left out for a reason', () => {
    const known = [...BUNDLED.keys(), ...Object.values(LEFT_OUT).flat()].sort()
    expect([...catalogue().keys()].sort()).toEqual(known)
  })

  it('of a bundle have all their columns in it, or a reason for each that is not', () => {
    const tables = catalogue()
    const reasons = Object.values(LEFT_COLUMNS).flat().sort()
    const left = [...BUNDLED].flatMap(([table, columns]) =>
      (tables.get(table) ?? []).filter((column) => !columns.includes(column)).map((column) => `${table}.${column}`),
    )
    expect(left.sort()).toEqual(reasons)
  })

  it('have no row key, tenant or key of an object in a bundle', () => {
    const keys = COLUMNS.flatMap(([table]) => carriedColumns(table).filter((column) => /(_|^)(key|node)$/.test(column)))
    // texts that are called keys
    expect(keys.filter((column) => !['query_key', 'cluster_key', 'item_key', 'outline_node'].includes(column))).toEqual(
      [],
    )
    expect(COLUMNS.flatMap(([table]) => carriedColumns(table))).not.toContain('tenant')
  })

  it('are read where they are written', () => {
    const ofDocuments = ['documents', 'versions', 'version_parts', 'item_assets', 'nodes']
    const read = [...READS.map(([table]) => table), ...ofDocuments].sort()
    expect(COLUMNS.map(([table]) => table).sort()).toEqual(read)
  })
})
