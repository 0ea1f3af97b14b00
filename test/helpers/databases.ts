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
import { command, executeNow, leave } from './server-bridge.js'
import { forServer } from './server-sql.js'

/** Names of databases on the server, by data directory. */
const made = new Map<string, string>()

/** Creates a database with the newest schema. @returns its name */
export function newDatabase(): string {
  const name = `e${randomBytes(6).toString('hex')}`
  command('postgres', `CREATE DATABASE ${name} TEMPLATE ${TEMPLATE}`)
  return name
}

export function dropDatabase(name: string): void {
  leave(name)
  command('postgres', `DROP DATABASE ${name} WITH (FORCE)`)
}

/** The database of a data directory on the server of this run, created on first use; undefined on SQLite. */
export function databaseOf(dataDir: string): DatabaseAddress | undefined {
  if (backend === 'sqlite') return undefined
  let name = made.get(dataDir)
  if (name === undefined) {
    name = newDatabase()
    made.set(dataDir, name)
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
  const name = made.get(dataDir)
  if (name === undefined) return
  made.delete(dataDir)
  dropDatabase(name)
}

/** Creates the database of a data directory as a copy of another one. */
export function copyDatabase(from: string, to: string): void {
  const name = `e${randomBytes(6).toString('hex')}`
  command('postgres', `CREATE DATABASE ${name} TEMPLATE template0`)
  made.set(to, name)
  const all = (one: string) => addressOf(one, undefined, SUPERUSER).hosts[0]
  copyRows(all(nameOf(from)), all(name))
}

// On SQLite there are none; benches on SQLite run without the test runner.
if (backend === 'pg')
  afterAll(() => {
    for (const dataDir of [...made.keys()]) forgetDatabase(dataDir)
  })

/** Opens the database of a data directory as another process would. */
export async function anotherDriver(dataDir: string): Promise<Driver> {
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

const INSERTED_AT_ONCE = 500

/** The rows of an engine on a data directory, in whichever database. */
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
      for (let at = 0; at < rows.length; at += INSERTED_AT_ONCE) {
        const some = rows.slice(at, at + INSERTED_AT_ONCE)
        const places = some.map(() => `(${names.map(() => '?').join(', ')})`).join(', ')
        const values = some.flatMap((row) => names.map((name) => row[name] ?? null))
        await this.run(`INSERT INTO ${table} (${names.join(', ')}) VALUES ${places}`, ...values)
      }
    },
  }
}

function inFile<T>(dataDir: string, work: (db: Sqlite.Database) => T): T {
  const db = new Sqlite(resolveDataLayout(dataDir).database, { timeout: 30_000, fileMustExist: true })
  try {
    return work(db)
  } finally {
    db.close()
  }
}

function readFile(dataDir: string, sql: string, values: readonly Bindable[]): unknown[] {
  return inFile(dataDir, (db) => db.prepare(sql).all(...values))
}

function changeFile(dataDir: string, sql: string, values: readonly Bindable[]): number {
  return inFile(dataDir, (db) => {
    if (values.length > 0) return db.prepare(sql).run(...values).changes
    db.exec(`BEGIN IMMEDIATE; ${sql}; COMMIT`)
    return db.prepare<[], { n: number }>('SELECT changes() n').get()?.n ?? 0
  })
}

function nameOf(dataDir: string): string {
  const name = made.get(dataDir)
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
    for (const text of forServer(sql)) changes = (await client.query(text, [...values])).rowCount ?? 0
    await client.query('COMMIT')
    return changes
  } finally {
    await client.end()
  }
}
