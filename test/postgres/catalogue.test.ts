import { readFileSync } from 'node:fs'
import Sqlite from 'better-sqlite3'
import type { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { migratePostgres } from '../../src/engine/store/postgres/migrate.js'
import { SHARED_TABLES } from '../../src/engine/store/postgres/schema/isolation.js'
import { sqliteSchema } from '../../src/engine/store/schema/sqlite.js'
import { TABLES } from '../../src/engine/store/schema/tables.js'
import { addressOf, connect, createEmptyDatabase, createMigratedDatabase, hasServer } from '../helpers/postgres.js'

interface Column {
  name: string
  type: string
  notNull: boolean
  isGenerated: boolean
  default: string | null
}

/** placeholder for an expression in an index */
const EXPRESSION = '(expression)'

interface Index {
  name: string
  isUnique: boolean
  columns: string[]
  where: string | null
}

interface Catalogue {
  columns: Record<string, Column[]>
  primary: Record<string, string[]>
  unique: Record<string, string[][]>
  indexes: Record<string, Index[]>
  foreign: Record<string, string[]>
  /** number of checks of a table, and the texts that they allow */
  checks: Record<string, { count: number; texts: string[] }>
  triggers: Record<string, string[]>
}

/** Parts of PostgreSQL only: row security by tenant, and triggers that fill the tenant. */
const TENANT: Column = {
  name: 'tenant',
  type: 'text',
  notNull: true,
  isGenerated: false,
  default: "NULLIF(current_setting('ks.tenant', true), '')",
}
const TENANT_TRIGGER = 'tenant_of_space'
const COVERING = Object.values(TABLES).flatMap(({ indexes = {} }) =>
  Object.keys(indexes).filter((name) => indexes[name]?.covering === true),
)

const TYPES: Record<string, string> = { INTEGER: 'bigint', TEXT: 'text', REAL: 'double precision', BLOB: 'bytea' }

/** Tables that SQLite does not need: the schema version, and settings that all gateways must share. */
const OF_POSTGRES = ['schema_version', 'deployment']

/** A check, without parts that only one of the two databases writes. */
function plain(text: string | null): string | null {
  return text === null
    ? null
    : text
        .replace(/::\w+(\[\])?/g, '')
        .replace(/= ANY \(ARRAY\[(.*?)\]\)/g, 'IN ($1)')
        .replace(/[()]/g, ' ')
        .replace(/,/g, ' ')
        .replace(/\s+/g, ' ')
        .trim()
}

function texts(text: string): string[] {
  return [...text.matchAll(/'([^']*)'/g)].map(([, one = '']) => one).sort()
}

function sqliteCatalogue(): Catalogue {
  const sqlite = new Sqlite(':memory:')
  sqlite.exec(sqliteSchema())
  const all = <T>(text: string, ...values: string[]) => sqlite.prepare<string[], T>(text).all(...values)
  const found: Catalogue = { columns: {}, primary: {}, unique: {}, indexes: {}, foreign: {}, checks: {}, triggers: {} }
  const tables = all<{ name: string; sql: string }>(
    "SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
  )
  for (const { name: table, sql } of tables) {
    const columns = all<{
      name: string
      type: string
      notnull: number
      pk: number
      hidden: number
      dflt_value: string | null
    }>('SELECT * FROM pragma_table_xinfo(?)', table)
    found.columns[table] = columns.map((column) => ({
      name: column.name,
      type: TYPES[column.type.replace(' GENERATED ALWAYS', '')] ?? column.type,
      notNull: column.notnull === 1 || column.pk > 0,
      isGenerated: column.hidden > 0,
      default: column.dflt_value,
    }))
    found.primary[table] = columns
      .filter(({ pk }) => pk > 0)
      .sort((a, b) => a.pk - b.pk)
      .map(({ name }) => name)
    const indexes = all<{ name: string; unique: number; origin: string }>('SELECT * FROM pragma_index_list(?)', table)
    const columnsOf = (index: string) =>
      all<{ name: string | null }>('SELECT name FROM pragma_index_info(?) ORDER BY seqno', index).map(
        ({ name }) => name ?? EXPRESSION,
      )
    found.unique[table] = indexes
      .filter(({ origin }) => origin === 'u')
      .map(({ name }) => columnsOf(name))
      .sort()
    found.indexes[table] = indexes
      .filter(({ origin }) => origin === 'c')
      .map((index) => {
        const [said] = all<{ sql: string }>('SELECT sql FROM sqlite_schema WHERE name = ?', index.name)
        const where = /\bWHERE\b([\s\S]*)$/.exec(said?.sql ?? '')?.[1] ?? null
        return { name: index.name, isUnique: index.unique === 1, columns: columnsOf(index.name), where: plain(where) }
      })
      .sort((a, b) => (a.name < b.name ? -1 : 1))
    const foreign = all<{ id: number; table: string; from: string; to: string; on_delete: string }>(
      'SELECT * FROM pragma_foreign_key_list(?) ORDER BY id, seq',
      table,
    )
    const ids = [...new Set(foreign.map(({ id }) => id))]
    found.foreign[table] = ids
      .map((id) => {
        const parts = foreign.filter((one) => one.id === id)
        return `(${parts.map(({ from }) => from)}) ${parts[0]?.table} (${parts.map(({ to }) => to)}) ${parts[0]?.on_delete}`
      })
      .sort()
    const checks = sql.match(/CHECK\s*\(\w+ IN\s*\([^)]*\)\)/g) ?? []
    found.checks[table] = { count: checks.length, texts: texts(checks.join()) }
    found.triggers[table] = all<{ name: string }>(
      "SELECT name FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = ? ORDER BY name",
      table,
    ).map(({ name }) => name)
  }
  return found
}

async function postgresCatalogue(client: Client): Promise<Catalogue> {
  const found: Catalogue = { columns: {}, primary: {}, unique: {}, indexes: {}, foreign: {}, checks: {}, triggers: {} }
  const all = async <T>(text: string, table: string) => (await client.query<T & object>(text, [table])).rows
  const { rows: tables } = await client.query<{ name: string }>(
    "SELECT relname name FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND relname <> ALL ($1)",
    [OF_POSTGRES],
  )
  for (const { name: table } of tables) {
    const columns = await all<{ name: string; type: string; notnull: boolean; generated: string; text: string | null }>(
      `SELECT a.attname name, format_type(a.atttypid, a.atttypmod) type, a.attnotnull "notnull", a.attgenerated generated,
         pg_get_expr(d.adbin, d.adrelid) text
       FROM pg_attribute a LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
       WHERE a.attrelid = $1::regclass AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum`,
      table,
    )
    found.columns[table] = columns.map((column) => ({
      name: column.name,
      type: column.type,
      notNull: column.notnull,
      isGenerated: column.generated !== '',
      default: column.generated === '' && column.text !== null ? column.text.replace(/::\w+/g, '') : null,
    }))
    const keys = await all<{ type: string; columns: string[]; text: string }>(
      `SELECT contype type, pg_get_constraintdef(oid) text, ARRAY(SELECT attname::text FROM unnest(conkey) WITH ORDINALITY k(num, place)
         JOIN pg_attribute ON attrelid = conrelid AND attnum = num ORDER BY place) columns
       FROM pg_constraint WHERE conrelid = $1::regclass`,
      table,
    )
    found.primary[table] = keys.find(({ type }) => type === 'p')?.columns ?? []
    found.unique[table] = keys
      .filter(({ type }) => type === 'u')
      .map((key) => key.columns)
      .sort()
    const checks = keys.filter(({ type }) => type === 'c')
    found.checks[table] = { count: checks.length, texts: texts(checks.map(({ text }) => text).join()) }
    found.foreign[table] = keys
      .filter(({ type }) => type === 'f')
      .map(({ text }) =>
        text
          .replace(/^FOREIGN KEY /, '')
          .replace('REFERENCES ', '')
          .replace(/(\w)\(/, '$1 (')
          .replace('ON DELETE ', '')
          .replace(/, /g, ','),
      )
      .sort()
    const indexes = await all<{ name: string; unique: boolean; where: string | null; columns: string[] }>(
      `SELECT relname name, indisunique "unique", pg_get_expr(indpred, indrelid) "where",
         ARRAY(SELECT coalesce(attname::text, '${EXPRESSION}') FROM unnest(indkey) WITH ORDINALITY k(num, place)
           LEFT JOIN pg_attribute ON attrelid = indrelid AND attnum = num ORDER BY place) columns
       FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
       WHERE indrelid = $1::regclass AND NOT EXISTS (SELECT 1 FROM pg_constraint WHERE conindid = indexrelid AND contype IN ('p', 'u'))`,
      table,
    )
    found.indexes[table] = indexes
      .map((index) => ({ name: index.name, isUnique: index.unique, columns: index.columns, where: plain(index.where) }))
      .sort((a, b) => (a.name < b.name ? -1 : 1))
    found.triggers[table] = (
      await all<{ name: string }>(
        'SELECT tgname name FROM pg_trigger WHERE tgrelid = $1::regclass AND NOT tgisinternal ORDER BY tgname',
        table,
      )
    ).map(({ name }) => name)
  }
  return found
}

/** The functions, triggers, policies, indexes and computed columns, as the server prints them. */
async function definitions(client: Client): Promise<string[]> {
  const { rows } = await client.query<{ text: string }>(`
    SELECT pg_get_functiondef(oid) text FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND prokind = 'f'
    UNION ALL SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal
    UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname = 'public'
    UNION ALL SELECT tablename || policyname || cmd || qual || coalesce(with_check, '') FROM pg_policies
    UNION ALL SELECT relname || relrowsecurity || relforcerowsecurity FROM pg_class
      WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
    UNION ALL SELECT adrelid::regclass || pg_get_expr(adbin, adrelid) FROM pg_attrdef`)
  const normal = (text: string) =>
    text
      .replace(/\bINNER JOIN\b/g, 'JOIN')
      .replace(/--.*$/gm, '')
      .replace(/\s+/g, ' ')
      .replace(/ ?([(),;]) ?/g, '$1')
  return rows.map(({ text }) => normal(text)).sort()
}

describe.skipIf(!hasServer)('the schema on PostgreSQL', () => {
  const wanted = sqliteCatalogue()
  let client: Client
  let found: Catalogue

  beforeAll(async () => {
    client = await connect(await createMigratedDatabase())
    found = await postgresCatalogue(client)
  })

  afterAll(async () => {
    await client.end()
  })

  it('contains the tables of SQLite, with the same columns in the same order, plus the tenant', () => {
    expect(Object.keys(found.columns).sort()).toEqual(Object.keys(wanted.columns).sort())
    const withTenants = Object.entries(wanted.columns).map(([table, columns]) => {
      const isWhole = table in SHARED_TABLES || columns.some(({ name }) => name === 'tenant')
      return [table, isWhole ? columns : [...columns, TENANT]]
    })
    // A column that was added later follows the tenant.
    const tenantLast = Object.entries(found.columns).map(([table, columns]) => {
      const own = wanted.columns[table]?.some(({ name }) => name === 'tenant') === true
      const isTenant = ({ name }: { name: string }) => !own && name === 'tenant'
      return [table, [...columns.filter((one) => !isTenant(one)), ...columns.filter(isTenant)]]
    })
    expect(Object.fromEntries(tenantLast)).toEqual(Object.fromEntries(withTenants))
  })

  it('contains the primary, unique and foreign keys of SQLite', () => {
    expect(found.primary).toEqual(wanted.primary)
    expect(found.unique).toEqual(wanted.unique)
    expect(found.foreign).toEqual(wanted.foreign)
  })

  it('contains the indexes of SQLite, over the same rows', () => {
    const covering = Object.entries(wanted.indexes).map(([table, indexes]) => {
      const columns = (index: Index) => (COVERING.includes(index.name) ? [...index.columns, 'tenant'] : index.columns)
      return [table, indexes.map((index) => ({ ...index, columns: columns(index) }))]
    })
    expect(found.indexes).toEqual(Object.fromEntries(covering))
  })

  it('allows the same values as SQLite, and contains the same triggers', () => {
    expect(found.checks).toEqual(wanted.checks)
    const filled = Object.entries(wanted.triggers).map(([table, triggers]) => {
      const names = (wanted.columns[table] ?? []).map(({ name }) => name)
      const isFilled = names.includes('space_key') && !names.includes('tenant') && !(table in SHARED_TABLES)
      return [table, isFilled ? [...triggers, TENANT_TRIGGER].sort() : triggers]
    })
    expect(found.triggers).toEqual(Object.fromEntries(filled))
  })

  it('equals the schema of a database that was migrated from schema 48 and kept its rows', async () => {
    const name = await createEmptyDatabase()
    const old = await connect(name)
    await old.query("SELECT set_config('ks.deployment', 'on', false)")
    await old.query(readFileSync(new URL('schema-48.sql', import.meta.url), 'utf8'))
    expect(await migratePostgres(addressOf(name))).toMatchObject({ from: 48 })
    const { columns, ...rest } = await postgresCatalogue(old)
    const { columns: foundColumns, ...foundRest } = found
    expect(rest).toEqual(foundRest)
    // The position of the tenant column varies: a table got it when it was isolated.
    const sorted = (tables: Catalogue['columns']) =>
      Object.entries(tables).map(([table, all]) => [
        table,
        [...all.filter((one) => one.name !== 'tenant'), ...all.filter((one) => one.name === 'tenant')],
      ])
    expect(Object.fromEntries(sorted(columns))).toEqual(Object.fromEntries(sorted(foundColumns)))
    expect(await definitions(old)).toEqual(await definitions(client))
    const { rows } = await old.query('SELECT filename, base, tenant FROM documents')
    expect(rows).toEqual([{ filename: 'tides/brest.md', base: 'brest.md', tenant: 'a' }])
    const { rows: usage } = await old.query('SELECT document_count, artifact_bytes, trace_bytes FROM space_usage')
    expect(usage).toEqual([{ document_count: '1', artifact_bytes: '6', trace_bytes: '21' }])
    await old.end()
  })
})
