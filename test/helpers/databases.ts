import { randomBytes } from 'node:crypto'
import Sqlite from 'better-sqlite3'
import { afterAll } from 'vitest'
import { Database } from '../../src/engine/store/database.js'
import type { Driver } from '../../src/engine/store/driver.js'
import type { Bindable } from '../../src/engine/store/program.js'
import type { DatabaseAddress } from '../../src/local/database-address.js'
import { resolveDataLayout } from '../../src/local/layout.js'
import { backend } from './backend.js'
import { addressOf, connect, openPostgres } from './postgres.js'
import { copyRows, SUPERUSER, TEMPLATE } from './postgres-server.js'
import { disconnect, executeNow, runCommand } from './server-bridge.js'
import { toServerStatements } from './server-sql.js'

/** Names of databases on the server, by data directory. */
const databaseNames = new Map<string, string>()

/** Creates a database with the newest schema. @returns its name */
export function createDatabase(): string {
  const name = `e${randomBytes(6).toString('hex')}`
  runCommand('postgres', `CREATE DATABASE ${name} TEMPLATE ${TEMPLATE}`)
  return name
}

export function dropDatabase(name: string): void {
  disconnect(name)
  runCommand('postgres', `DROP DATABASE ${name} WITH (FORCE)`)
}

/** Address of a data directory's database on the server of this run, created on first use; undefined on SQLite. */
export function databaseOf(dataDir: string): DatabaseAddress | undefined {
  if (backend === 'sqlite') return undefined
  let name = databaseNames.get(dataDir)
  if (name === undefined) {
    name = createDatabase()
    databaseNames.set(dataDir, name)
  }
  return addressOf(name)
}

/** The environment of a daemon on a data directory. */
export function databaseEnv(dataDir: string): Record<string, string> {
  const address = databaseOf(dataDir)
  return address === undefined ? {} : { KS_DAEMON_BACKEND: address.hosts[0] }
}

/** Drops the database of a data directory. */
export function forgetDatabase(dataDir: string): void {
  const name = databaseNames.get(dataDir)
  if (name === undefined) return
  databaseNames.delete(dataDir)
  dropDatabase(name)
}

/** Creates the database of a data directory as a copy of another one. */
export function copyDatabase(sourceDir: string, targetDir: string): void {
  const name = `e${randomBytes(6).toString('hex')}`
  runCommand('postgres', `CREATE DATABASE ${name} TEMPLATE template0`)
  databaseNames.set(targetDir, name)
  const superuserAddressOf = (database: string) => addressOf(database, undefined, SUPERUSER).hosts[0]
  copyRows(superuserAddressOf(nameOf(sourceDir)), superuserAddressOf(name))
}

// On SQLite there are no databases to drop; benches on SQLite run without the test runner.
if (backend === 'pg')
  afterAll(() => {
    for (const dataDir of [...databaseNames.keys()]) forgetDatabase(dataDir)
  })

/** Opens the database of a data directory as another process would. */
export async function openDriver(dataDir: string): Promise<Driver> {
  return backend === 'pg'
    ? await openPostgres(nameOf(dataDir))
    : new Database(resolveDataLayout(dataDir).database, Date.now)
}

/** The rows of a running engine, in the SQL of SQLite. */
export interface Rows {
  all<T = Record<string, unknown>>(sql: string, ...values: Bindable[]): T[]
  get<T = Record<string, unknown>>(sql: string, ...values: Bindable[]): T | undefined
  /** the first cell of the first row */
  value<T = number>(sql: string, ...values: Bindable[]): T
  /**
   * Changes rows, by one statement or, without values, by several in one transaction. It waits for locks, also those of
   * an engine in this thread. @returns the number of rows that the last one changed
   */
  run(sql: string, ...values: Bindable[]): Promise<number>
  /** Adds rows of a table that have the same columns. */
  insert(table: string, rows: readonly Record<string, Bindable>[]): Promise<void>
}

const INSERT_BATCH_ROWS = 500

/** Access to the rows of an engine, in either database. */
export function rowsOf(dataDir: string): Rows {
  const read = <T>(sql: string, values: readonly Bindable[]): T[] =>
    (backend === 'pg' ? readServer(dataDir, sql, values) : readFile(dataDir, sql, values)) as T[]
  return {
    all: <T>(sql: string, ...values: Bindable[]) => read<T>(sql, values),
    get: <T>(sql: string, ...values: Bindable[]) => read<T>(sql, values)[0],
    value: <T>(sql: string, ...values: Bindable[]) => Object.values(read<object>(sql, values)[0] ?? {})[0] as T,
    run: async (sql, ...values) =>
      backend === 'pg' ? await changeServer(dataDir, sql, values) : changeFile(dataDir, sql, values),
    async insert(table, rows) {
      const names = Object.keys(rows[0] ?? {})
      for (let start = 0; start < rows.length; start += INSERT_BATCH_ROWS) {
        const batch = rows.slice(start, start + INSERT_BATCH_ROWS)
        const placeholders = batch.map(() => `(${names.map(() => '?').join(', ')})`).join(', ')
        const values = batch.flatMap((row) => names.map((name) => row[name] ?? null))
        await this.run(`INSERT INTO ${table} (${names.join(', ')}) VALUES ${placeholders}`, ...values)
      }
    },
  }
}

function withFile<T>(dataDir: string, work: (db: Sqlite.Database) => T): T {
  const db = new Sqlite(resolveDataLayout(dataDir).database, { timeout: 30_000, fileMustExist: true })
  try {
    return work(db)
  } finally {
    db.close()
  }
}

function readFile(dataDir: string, sql: string, values: readonly Bindable[]): unknown[] {
  return withFile(dataDir, (db) => db.prepare(sql).all(...values))
}

function changeFile(dataDir: string, sql: string, values: readonly Bindable[]): number {
  return withFile(dataDir, (db) => {
    if (values.length > 0) return db.prepare(sql).run(...values).changes
    db.exec(`BEGIN IMMEDIATE; ${sql}; COMMIT`)
    return db.prepare<[], { n: number }>('SELECT changes() n').get()?.n ?? 0
  })
}

function nameOf(dataDir: string): string {
  const name = databaseNames.get(dataDir)
  if (name === undefined) throw new Error(`${dataDir} has no database`)
  return name
}

function readServer(dataDir: string, sql: string, values: readonly Bindable[]): unknown[] {
  return executeNow(nameOf(dataDir), { verb: 'all', sql, values }) as unknown[]
}

async function changeServer(dataDir: string, sql: string, values: readonly Bindable[]): Promise<number> {
  const client = await connect(nameOf(dataDir), SUPERUSER)
  try {
    await client.query('BEGIN')
    let changes = 0
    for (const text of toServerStatements(sql)) changes = (await client.query(text, [...values])).rowCount ?? 0
    await client.query('COMMIT')
    return changes
  } finally {
    await client.end()
  }
}
