import { describe, expect, it } from 'vitest'
import { TABLES } from '../../../../src/engine/store/schema/tables.js'
import { listBundleColumns, ROW_TABLES, SPACE_COLUMNS } from '../../../../src/engine/upkeep/rows/bundles/tables.js'

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
    'golden_runs',
    'golden_run_results',
    'embedding_migrations',
    'embedding_migration_refusals',
    'graph_readings',
    'skipped_files',
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

describe('bundles', () => {
  it('contain every table of the database, except those that this test lists with a reason', () => {
    const known = ['spaces', ...ROW_TABLES, ...Object.values(LEFT_OUT).flat()].sort()
    expect(Object.keys(TABLES).sort()).toEqual(known)
  })

  it('carry no row key, tenant or object key', () => {
    const keys = ROW_TABLES.flatMap((table) =>
      listBundleColumns(table).filter((column) => /(_|^)(key|node)$/.test(column)),
    )
    // These columns are text despite their names.
    expect(keys.filter((column) => !['query_key', 'cluster_key', 'item_key', 'outline_node'].includes(column))).toEqual(
      [],
    )
    expect(ROW_TABLES.flatMap((table) => listBundleColumns(table))).not.toContain('tenant')
  })

  it('carry no column about work in progress, deletion or secrets', () => {
    const carried = ROW_TABLES.flatMap((table) => listBundleColumns(table).map((column) => `${table}.${column}`))
    const ofStore = /\.(claimed_by|fence|imported_by|credentials|deleted_at|obsolete_at|next_sync_at|run_after)$/
    expect(carried.filter((column) => ofStore.test(column))).toEqual([])
    expect(
      SPACE_COLUMNS.filter((column) => ofStore.test(`.${column}`) || /^(key|tenant|manifest)$/.test(column)),
    ).toEqual([])
  })
})
