import Sqlite from 'better-sqlite3'
import { expect, test } from 'vitest'
import { sqliteSchema } from '../../../src/engine/store/schema/sqlite.js'

/** Keys and indexes of tables with a tenant that do not begin with it, each with the reason. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  'chat_keys (hash)': 'whoever comes with a key is of no tenant until it is found',
  'chat_files (id)': 'a signed address names a file alone, and is the proof',
  'chat_message_files (id)': 'a signed address names a file alone, and is the proof',
  'chat_files (expires_at)': 'a sweep over the files of all tenants',
  'chat_messages (id)': 'a sweep over the answers of all tenants that a dead gateway left',
  'chat_turn_requests (gateway)': 'what a gateway is asked of its answers, which are of all tenants',
  'research_tasks (id)': 'a sweep over the tasks of all tenants that a dead gateway left',
  'sources (id)': 'a sweep over the syncs of all tenants that a dead gateway left',
  'sources (next_sync_at)': 'a sweep over the sources of all tenants that are due',
  'sources (deleted_at)': 'a sweep over the deleted sources of all tenants',
  'sessions (expires_at)': 'a sweep over the sessions of all tenants',
  'workspace_snapshots (deleted_at)': 'a sweep over the deleted snapshots of all tenants',
  'documents (deleted_at)': 'a sweep over the deleted documents of all tenants',
  'idempotency (created_at)': 'a sweep over the answers of all tenants',
  'spaces (id)': 'the search indexes name a space by its id',
  'chat_files (object_key)': 'the key of an object begins with a digest of its tenant',
  'documents (next_object_key)': 'the key of an object begins with a digest of its tenant',
  'documents (object_key)': 'the key of an object begins with a digest of its tenant',
  'snapshot_files (object_key)': 'the key of an object begins with a digest of its tenant',
  'staged_commits (published_object_key)': 'the key of an object begins with a digest of its tenant',
  'jobs (id)': 'compilation names a job by its id alone: see decision 40',
  'staged_commits (id)': 'compilation names a commit by its id alone: see decision 40',
  'staged_commits (job_id)': 'compilation names a commit by its job alone: see decision 40',
}

/** Columns with row keys: they are read from a row of the same tenant and never leave the process. */
const ROW_KEYS: ReadonlySet<string> = new Set(['key', 'space_key', 'doc_key'])

/** Tables without a tenant belong to the entire deployment. */
const GLOBAL = ['gateways', 'revoked_tokens', 'store']

interface Key {
  table: string
  columns: string[]
  isUnique: boolean
}

function catalogue(): { tables: Map<string, string[]>; keys: Key[] } {
  const sqlite = new Sqlite(':memory:')
  sqlite.exec(sqliteSchema())
  const names = sqlite
    .prepare<[], { name: string }>("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    .all()
  const tables = new Map<string, string[]>()
  const keys: Key[] = []
  for (const { name: table } of names) {
    const columns = sqlite.prepare<[string], { name: string; pk: number }>('SELECT name, pk FROM pragma_table_info(?)')
    const found = columns.all(table)
    tables.set(
      table,
      found.map(({ name }) => name),
    )
    const primary = found.filter(({ pk }) => pk > 0).sort((a, b) => a.pk - b.pk)
    if (primary.length > 0) keys.push({ table, columns: primary.map(({ name }) => name), isUnique: true })
    const indexes = sqlite.prepare<[string], { name: string; unique: number }>(
      'SELECT name, "unique" FROM pragma_index_list(?)',
    )
    const parts = sqlite.prepare<[string], { name: string }>('SELECT name FROM pragma_index_info(?) ORDER BY seqno')
    for (const index of indexes.all(table))
      keys.push({ table, columns: parts.all(index.name).map(({ name }) => name), isUnique: index.unique === 1 })
  }
  return { tables, keys }
}

test('the tenant is the first column of every key of a table with tenants, or the exception has a reason', () => {
  const { tables, keys } = catalogue()
  const withTenant = keys.filter(({ table }) => tables.get(table)?.includes('tenant') === true)
  const others = withTenant.filter(({ columns }) => columns[0] !== 'tenant' && !ROW_KEYS.has(columns[0] ?? ''))
  const said = others.map(({ table, columns }) => `${table} (${columns[0]})`)
  expect([...new Set(said)].sort()).toEqual(Object.keys(EXCEPTIONS).sort())
})

test('a unique key with an id begins with the tenant, except in the listed tables', () => {
  const { tables, keys } = catalogue()
  const byId = keys.filter(({ columns, isUnique }) => isUnique && columns.some((column) => /(^|_)id$/.test(column)))
  const bare = byId.filter(({ columns }) => columns[0] !== 'tenant').map(({ table }) => table)
  // These carry the row key of their space, by which every statement reaches them: see decision 40.
  const bySpace = bare.filter((table) => tables.get(table)?.includes('space_key') === true)
  const rest = bare.filter((table) => !bySpace.includes(table) && !GLOBAL.includes(table))
  // The id of an item is unique within its version only.
  expect([...new Set(rest)]).toEqual(['item_assets'])
  expect([...new Set(bySpace)].sort()).toEqual([
    'conflicts',
    'embedding_migrations',
    'graph_entities',
    'graph_readings',
    'graph_relations',
    'held_leases',
    'jobs',
    'nodes',
    'source_readers',
    'staged_commits',
    'vector_spaces',
  ])
})
