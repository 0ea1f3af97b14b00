import Sqlite from 'better-sqlite3'
import type { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { asDeployment, asTenant } from '../../src/engine/base/tenant-scope.js'
import { migratePostgres } from '../../src/engine/store/postgres/migrate.js'
import { Postgres } from '../../src/engine/store/postgres/postgres.js'
import { SHARED_TABLES } from '../../src/engine/store/postgres/schema/isolation.js'
import { sql } from '../../src/engine/store/program.js'
import { findAppById, listChatKeys } from '../../src/engine/store/rows/chat/apps.js'
import { sqliteSchema } from '../../src/engine/store/schema/sqlite.js'
import { addressOf, connect, createMigratedDatabase, hasServer } from '../helpers/postgres.js'
import { SUPERUSER } from '../helpers/postgres-server.js'

const REFUSED = { code: '42501' }

/** The tables of the schema in SQLite. */
function tables(): string[] {
  const sqlite = new Sqlite(':memory:')
  sqlite.exec(sqliteSchema())
  return sqlite
    .prepare<[], { name: string }>(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name",
    )
    .all()
    .map(({ name }) => name)
}

interface Column {
  name: string
  type: string
}

const PRIVATE = tables().filter((table) => !(table in SHARED_TABLES))

describe.skipIf(!hasServer)('rows of a tenant on PostgreSQL', () => {
  let database: string
  /** a role without policies, and the role of the engine */
  let all: Client
  let client: Client
  const columns = new Map<string, Column[]>()
  const allowed = new Map<string, string>()

  beforeAll(async () => {
    database = await createMigratedDatabase()
    all = await connect(database, SUPERUSER)
    client = await connect(database)
    // One row a table is enough: foreign keys are not checked.
    await all.query("SET session_replication_role = 'replica'")
    const { rows: found } = await all.query<Column & { table: string }>(
      `SELECT relname "table", attname name, format_type(atttypid, atttypmod) type FROM pg_attribute
       JOIN pg_class ON pg_class.oid = attrelid AND relkind = 'r' AND relnamespace = 'public'::regnamespace
       WHERE attnum > 0 AND NOT attisdropped AND attgenerated = ''`,
    )
    for (const { table, ...column } of found) columns.set(table, [...(columns.get(table) ?? []), column])
    const { rows: checks } = await all.query<{ table: string; column: string; text: string }>(
      `SELECT conrelid::regclass::text "table", attname "column", pg_get_constraintdef(pg_constraint.oid) text
       FROM pg_constraint JOIN pg_attribute ON attrelid = conrelid AND attnum = conkey[1] WHERE contype = 'c'`,
    )
    for (const { table, column, text } of checks) {
      const value = /ARRAY\['?\(?([^',:)]*)/.exec(text)?.[1]
      if (value !== undefined) allowed.set(`${table}.${column}`, value)
    }
    for (const table of PRIVATE) for (const tenant of ['a', 'b']) await insert(all, table, tenant)
  })

  afterAll(async () => {
    await all.end()
    await client.end()
  })

  /** Inserts a row of a tenant, with or without naming it. */
  async function insert(by: Client, table: string, tenant: string, isNamed = true): Promise<void> {
    const named = (columns.get(table) ?? []).filter(({ name }) => isNamed || name !== 'tenant')
    const values = named.map(({ name, type }) => {
      const one = allowed.get(`${table}.${name}`)
      if (name === 'tenant' || one !== undefined) return one ?? tenant
      return type === 'text' || type === 'bytea' ? `${tenant} ${name}` : tenant.charCodeAt(0)
    })
    await by.query(
      `INSERT INTO ${table} (${named.map(({ name }) => `"${name}"`)}) VALUES (${named.map((_, place) => `$${place + 1}`)})`,
      values,
    )
  }

  /** Queries like the engine, with the settings of a transaction, and rolls back. */
  async function as<T>(settings: Record<string, string>, work: () => Promise<T>): Promise<T> {
    await client.query('BEGIN')
    try {
      for (const [name, value] of Object.entries(settings))
        await client.query('SELECT set_config($1, $2, true)', [name, value])
      return await work()
    } finally {
      await client.query('ROLLBACK')
    }
  }

  const tenantsIn = async (table: string): Promise<string[]> => {
    const { rows } = await client.query<{ tenant: string }>(`SELECT tenant FROM ${table} ORDER BY tenant`)
    return rows.map(({ tenant }) => tenant)
  }
  const changed = async (statement: string): Promise<number | null> => (await client.query(statement)).rowCount

  it('have row security in every table that is not listed as shared', async () => {
    const { rows } = await client.query<{ name: string; isForced: boolean; policies: number }>(
      `SELECT relname name, relrowsecurity AND relforcerowsecurity "isForced",
         (SELECT count(*)::int FROM pg_policy WHERE polrelid = pg_class.oid) policies
       FROM pg_class WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace`,
    )
    expect(
      rows
        .filter(({ isForced }) => !isForced)
        .map(({ name }) => name)
        .sort(),
    ).toEqual(Object.keys(SHARED_TABLES).sort())
    expect(rows.filter(({ isForced, policies }) => isForced && policies !== 1)).toEqual([])
    expect(
      rows
        .filter(({ isForced }) => isForced)
        .map(({ name }) => name)
        .sort(),
    ).toEqual(PRIVATE)
  })

  describe.each(PRIVATE)('in the table %s', (table) => {
    it('cannot be read or written without a tenant', async () => {
      expect(await as({}, () => tenantsIn(table))).toEqual([])
      expect(await as({}, () => changed(`DELETE FROM ${table}`))).toBe(0)
      await expect(as({}, () => insert(client, table, 'c'))).rejects.toMatchObject(REFUSED)
      await expect(as({}, () => insert(client, table, 'c', false))).rejects.toMatchObject({
        code: expect.stringMatching(/^(42501|23502)$/),
      })
      // The setting of an earlier transaction is gone, and is an empty text then.
      await as({ 'ks.tenant': 'a' }, async () => undefined)
      expect(await as({}, () => tenantsIn(table))).toEqual([])
      await expect(as({}, () => insert(client, table, 'c', false))).rejects.toThrow()
    })

    it('can be read and written by their tenant only', async () => {
      expect(await as({ 'ks.tenant': 'a' }, () => tenantsIn(table))).toEqual(['a'])
      expect(await as({ 'ks.tenant': 'b' }, () => tenantsIn(table))).toEqual(['b'])
      expect(await as({ 'ks.tenant': 'c' }, () => tenantsIn(table))).toEqual([])
      expect(await as({ 'ks.tenant': 'b' }, () => changed(`DELETE FROM ${table} WHERE tenant = 'a'`))).toBe(0)
      expect(await as({ 'ks.tenant': 'c' }, () => changed(`DELETE FROM ${table}`))).toBe(0)
      await expect(as({ 'ks.tenant': 'b' }, () => insert(client, table, 'c'))).rejects.toMatchObject(REFUSED)
      const moved = () => client.query(`UPDATE ${table} SET tenant = 'c'`)
      await expect(as({ 'ks.tenant': 'b' }, moved)).rejects.toMatchObject(REFUSED)
    })

    it('can be read by work of the deployment', async () => {
      expect(await as({ 'ks.deployment': 'on' }, () => tenantsIn(table))).toEqual(['a', 'b'])
    })
  })

  it('stay hidden from a statement that omits the tenant', async () => {
    const driver = await Postgres.open({
      address: addressOf(database),
      application: 'ks-test',
      clock: Date.now,
      connections: 1,
    })
    const forgetful = [
      findAppById({ tenant: 'a', appId: 'a id' }),
      listChatKeys({ tenant: 'a', appId: 'a app_id' }),
    ].map((program) => {
      const step = program.next()
      if (step.done === true || !('values' in step.value)) throw new Error('the program asks for one thing')
      const { sql: text, values } = step.value
      expect(text).toContain('tenant = ? AND ')
      return { text: text.replace('tenant = ? AND ', ''), values: values.slice(1) }
    })
    try {
      for (const { text, values } of forgetful) {
        const look = () => driver.read(sql.all(text, values))
        expect(await asTenant('a', look), text).toHaveLength(1)
        expect(await asTenant('b', look), text).toEqual([])
        expect(await look(), text).toEqual([])
        expect(await asDeployment(look), text).toHaveLength(1)
      }
      const passage = () => driver.read(sql.all('SELECT text FROM nodes WHERE key = ?', ['a'.charCodeAt(0)]))
      expect(await asTenant('a', passage)).toHaveLength(1)
      expect(await asTenant('b', passage)).toEqual([])
      const removed = () => driver.write(() => sql.run('DELETE FROM nodes WHERE key = ?', ['a'.charCodeAt(0)]))
      expect(await asTenant('b', removed)).toEqual({ changes: 0 })
    } finally {
      await driver.close()
    }
  })

  it('make the driver refuse a role that bypasses row security', async () => {
    const address = addressOf(database, undefined, SUPERUSER)
    const refused = { code: 'unavailable', message: expect.stringContaining('BYPASSRLS') }
    await expect(Postgres.open({ address, application: 'ks-test', clock: Date.now })).rejects.toMatchObject(refused)
    await expect(migratePostgres(address)).rejects.toMatchObject(refused)
  })
})
