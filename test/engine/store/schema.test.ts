import { mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import { removeFolder } from '../../../bench/lib/removed-folder.js'
import { Database } from '../../../src/engine/store/database.js'
import { migrate } from '../../../src/engine/store/migrate.js'
import { FIRST_SCHEMA, MIGRATIONS, SCHEMA } from '../../../src/engine/store/migrations.js'
import { sql } from '../../../src/engine/store/program.js'

const STORAGE = new URL('../../../src/engine/store/', import.meta.url)

/** A store of the first schema, with a few rows. */
function firstStore(path = ':memory:'): Sqlite.Database {
  const sqlite = new Sqlite(path)
  sqlite.exec(readFileSync(new URL('schema-48.sql', import.meta.url), 'utf8'))
  return sqlite
}

function migrated(sqlite: Sqlite.Database, steps = MIGRATIONS): Sqlite.Database {
  migrate(sqlite, (work) => sqlite.transaction(work)(), steps)
  return sqlite
}

function normal(text: string): string {
  return text
    .replace(/--.*$/gm, '')
    .replace(/"/g, '')
    .replace(/\b(old|new)\./g, (row) => row.toUpperCase())
    .replace(/\s+/g, ' ')
    .replace(/ ?([(),;]) ?/g, '$1')
    .replace('INTO vector_counts VALUES', 'INTO vector_counts(vector_space,live)VALUES')
    .trim()
}

/** The properties that a schema determines, independent of how its SQL is written. */
function catalogueOf(sqlite: Sqlite.Database): Record<string, unknown> {
  const all = (text: string, ...values: string[]) =>
    sqlite.prepare<string[], Record<string, unknown>>(text).all(...values)
  const texts = (type: string, table: string) =>
    all(
      'SELECT sql FROM sqlite_schema WHERE type = ? AND tbl_name = ? AND sql IS NOT NULL ORDER BY rowid',
      type,
      table,
    ).map((row) => normal(String(row['sql'])))
  const tables = all("SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'sqlite_sequence'")
  return Object.fromEntries(
    tables.map(({ name }) => {
      const table = String(name)
      const [text = ''] = texts('table', table)
      const keys = all('SELECT name, origin FROM pragma_index_list(?)', table).filter((key) => key['origin'] !== 'c')
      return [
        table,
        {
          kind: all('SELECT ncol, wr, strict FROM pragma_table_list(?)', table),
          columns: all('SELECT * FROM pragma_table_xinfo(?)', table).map((column) => ({
            ...column,
            notnull: column['notnull'] === 1 || Number(column['pk']) > 0,
          })),
          ascending: text.includes('AUTOINCREMENT'),
          checks: (text.match(/CHECK\(\w+ IN\(.*?\)\)/g) ?? []).map((check) => check.split(/[(,)]/).sort()),
          generated: text.match(/GENERATED ALWAYS AS.*?VIRTUAL/g),
          foreign: all('SELECT * FROM pragma_foreign_key_list(?)', table),
          unique: keys
            .map((key) => JSON.stringify(all('SELECT * FROM pragma_index_xinfo(?)', String(key['name']))))
            .sort(),
          indexes: texts('index', table),
          triggers: texts('trigger', table),
        },
      ]
    }),
  )
}

describe('a SQLite store', () => {
  it('gets the same schema, whether it is new or migrated from schema 48', () => {
    const fresh = migrated(new Sqlite(':memory:'))
    const old = migrated(firstStore())
    expect(fresh.pragma('user_version', { simple: true })).toBe(SCHEMA)
    expect(old.pragma('user_version', { simple: true })).toBe(SCHEMA)
    expect(catalogueOf(old)).toEqual(catalogueOf(fresh))
    expect(old.pragma('foreign_key_check')).toEqual([])
  })

  it('keeps its rows when it is opened with schema 48', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'ks-schema-'))
    const path = join(folder, 'main.sqlite')
    firstStore(path).close()
    const db = new Database(path, Date.now)
    expect(db.now(sql.all('SELECT filename, base, metadata FROM documents'))).toEqual([
      { filename: 'tides/brest.md', base: 'brest.md', metadata: '{}' },
    ])
    expect(db.now(sql.all('SELECT document_count, artifact_bytes, trace_bytes FROM space_usage'))).toEqual([
      { document_count: 1, artifact_bytes: 6, trace_bytes: 21 },
    ])
    expect(db.now(sql.get('SELECT last FROM node_keys'))).toEqual({ last: 1 })
    await db.close()
    removeFolder(folder)
  })

  it('rejects a schema before 48 or after its own, and names what the user can do', () => {
    const store = (schema: number) => {
      const sqlite = new Sqlite(':memory:')
      sqlite.pragma(`user_version = ${schema}`)
      return () => migrated(sqlite)
    }
    expect(store(47)).toThrow(/has schema 47, this version opens schema 48 and later: export .*`ks bundle export`/)
    expect(store(1)).toThrow(/has schema 1, .* or start with a new store/)
    expect(store(SCHEMA + 1)).toThrow(/use a newer version/)
  })

  it('applies each migration once and stores its schema number', () => {
    const steps = ['one', 'two'].map((name) => ({ sqlite: `CREATE TABLE ${name} (x INTEGER) STRICT`, postgres: '' }))
    const sqlite = firstStore()
    migrated(sqlite, steps.slice(0, 1))
    expect(sqlite.pragma('user_version', { simple: true })).toBe(FIRST_SCHEMA + 1)
    migrated(sqlite, steps)
    migrated(sqlite, steps)
    expect(sqlite.pragma('user_version', { simple: true })).toBe(FIRST_SCHEMA + 2)
    expect(sqlite.prepare("SELECT name FROM sqlite_schema WHERE name IN ('one', 'two')").pluck().all()).toEqual([
      'one',
      'two',
    ])
  })

  it('keeps the migrations before a failed migration', () => {
    const sqlite = firstStore()
    const steps = [
      { sqlite: 'CREATE TABLE one (x INTEGER) STRICT', postgres: '' },
      { sqlite: 'CREATE TABLE two (x INTEGER) STRICT; SELECT nothing', postgres: '' },
    ]
    expect(() => migrated(sqlite, steps)).toThrow()
    expect(sqlite.pragma('user_version', { simple: true })).toBe(FIRST_SCHEMA + 1)
    expect(sqlite.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'two'").all()).toEqual([])
  })
})

it('each migration has a file whose name starts with its schema number', () => {
  const folders = readdirSync(STORAGE).filter((name) => name === 'migrations')
  const files = folders.flatMap((name) => readdirSync(new URL(`${name}/`, STORAGE))).sort()
  expect(files.map((file) => file.slice(0, 5))).toEqual(
    MIGRATIONS.map((_, index) => `${String(FIRST_SCHEMA + index + 1).padStart(4, '0')}-`),
  )
})
