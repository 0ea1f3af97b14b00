import { readdirSync } from 'node:fs'
import Sqlite from 'better-sqlite3'
import { expect, test } from 'vitest'
import { migrate } from '../../../src/engine/storage/migrate.js'
import { MIGRATIONS } from '../../../src/engine/storage/schema.js'

const FOLDER = new URL('../../../src/engine/storage/migrations/', import.meta.url)
/** A store with the first `count` migrations. */
function storeOf(count: number): Sqlite.Database {
  const sqlite = new Sqlite(':memory:')
  for (const step of MIGRATIONS.slice(0, count)) sqlite.exec(step)
  sqlite.pragma(`user_version = ${count}`)
  return sqlite
}

/** The statements that created the schema of a store, by kind and name. */
function catalogueOf(sqlite: Sqlite.Database): unknown[] {
  return sqlite.prepare('SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name').all()
}

function migrated(sqlite: Sqlite.Database) {
  migrate(sqlite, (work) => sqlite.transaction(work)())
  return { number: sqlite.pragma('user_version', { simple: true }), catalogue: catalogueOf(sqlite) }
}

test('the number in the name of a migration is the schema version it creates', async () => {
  const files = readdirSync(FOLDER).sort()
  const texts = await Promise.all(
    files.map(async (file) => {
      const module: Record<string, unknown> = await import(new URL(file, FOLDER).href)
      return Object.values(module)
    }),
  )
  expect(files.map((file) => file.slice(0, 5))).toEqual(
    MIGRATIONS.map((_, place) => `${String(place + 1).padStart(4, '0')}-`),
  )
  const ofSqlite = texts.map((steps) =>
    steps.map((step) => (typeof step === 'object' && step !== null && 'sqlite' in step ? step.sqlite : step)),
  )
  expect(ofSqlite).toEqual(MIGRATIONS.map((text) => [text]))
})

test('a store of any earlier schema ends with the version and catalogue of a new one', { timeout: 120_000 }, () => {
  const fresh = migrated(new Sqlite(':memory:'))
  expect(fresh.number).toBe(MIGRATIONS.length)
  for (let count = 1; count < MIGRATIONS.length; count++) expect(migrated(storeOf(count))).toEqual(fresh)
})

test('a store of schema 34 keeps its log entries, and numbers continue after the last one of each space', () => {
  const sqlite = storeOf(34)
  sqlite.exec(`
    INSERT INTO projection_log (seq, space_key, op, first_node, last_node)
      VALUES (1, 7, 1, 1, 3), (2, 8, 1, 4, 4), (5, 7, -1, 1, 3), (9, 8, 1, 5, 6);
    INSERT INTO sqlite_sequence (name, seq) VALUES ('nodes', 41);
    INSERT INTO research_tasks (id, tenant, subject, space_key, queue_id, query, mode, route, snapshot, profile, stage, run_after, created_at, updated_at)
      VALUES ('t', 'a', 's', 7, 'q', 'why', 'fast', 'fast', '{}', '{}', 'queued', 0, 0, 0);
    INSERT INTO research_events (task_id, sequence, event, data) VALUES ('t', 1, 'e', '{}'), ('t', 2, 'e', '{}')`)
  migrate(sqlite, (work) => sqlite.transaction(work)())
  const rows = (text: string) => sqlite.prepare(text).raw().all()
  expect(rows('SELECT space_key, seq, op, first_node, last_node FROM projection_log ORDER BY space_key, seq')).toEqual([
    [7, 1, 1, 1, 3],
    [7, 5, -1, 1, 3],
    [8, 2, 1, 4, 4],
    [8, 9, 1, 5, 6],
  ])
  expect(rows('SELECT space_key, seq FROM space_counters ORDER BY space_key')).toEqual([
    [7, 5],
    [8, 9],
  ])
  expect(rows('SELECT last FROM node_keys')).toEqual([[41]])
  expect(rows('SELECT events FROM research_tasks')).toEqual([[2]])
})
