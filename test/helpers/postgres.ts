import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { inject } from 'vitest'
import { asDeployment, getTenantScope } from '../../src/engine/base/tenant-scope.js'
import type { WriteOptions } from '../../src/engine/store/driver.js'
import { migratePostgres } from '../../src/engine/store/postgres/migrate.js'
import { Postgres, type PostgresOpenOptions } from '../../src/engine/store/postgres/postgres.js'
import type { Read, Write } from '../../src/engine/store/program.js'
import type { DatabaseAddress } from '../../src/local/database-address.js'
import { parseDatabaseAddress } from '../../src/local/database-address.js'
import { formatAddress, ROLE, SUPERUSER } from './postgres-server.js'

// A bench that starts its own servers runs without the test runner, which provides the shared one.
const isTest = process.env.VITEST !== undefined

/** Whether this run has a PostgreSQL server. */
export const hasServer = isTest && inject('postgres') !== undefined

/** Whether the server of this run has pgvector. */
export const hasVectors = isTest && inject('pgvector')

export function addressOf(name: string, folder = inject('postgres'), role = ROLE): DatabaseAddress {
  return parseDatabaseAddress(formatAddress(folder ?? '', name, role))
}

/** A client that queries the server directly. */
export async function connect(name: string, role?: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: addressOf(name, inject('postgres'), role).hosts[0] })
  await client.connect()
  return client
}

/** Creates an empty database. @returns its name */
export async function createEmptyDatabase(template = 'template0'): Promise<string> {
  const name = `t${randomBytes(6).toString('hex')}`
  const client = await connect('postgres')
  await client.query(`CREATE DATABASE ${name} TEMPLATE ${template}`)
  await client.end()
  return name
}

/** Creates a database with the newest schema. */
export async function createMigratedDatabase(): Promise<string> {
  const name = await createEmptyDatabase()
  await migratePostgres(addressOf(name))
  return name
}

/** Creates a database with the newest schema and pgvector. */
export async function createSearchableDatabase(): Promise<string> {
  const name = await createMigratedDatabase()
  const client = await connect(name, SUPERUSER)
  await client.query('CREATE EXTENSION vector')
  await client.end()
  return name
}

/** A driver for tests of statements: without a tenant it sees all rows, so that only the statements restrict them. */
export async function openPostgres(
  name: string,
  connections = 10,
  options: Partial<PostgresOpenOptions> = {},
): Promise<Postgres> {
  const driver = await Postgres.open({
    address: addressOf(name),
    application: 'ks-test',
    clock: Date.now,
    connections,
    ...options,
  })
  const read = driver.read.bind(driver)
  const write = driver.write.bind(driver)
  const forAll = <T>(work: () => T): T => (getTenantScope() === undefined ? asDeployment(work) : work())
  return Object.assign(driver, {
    read: <T>(program: Read<T>) => forAll(() => read(program)),
    write: <T>(work: () => Write<T> | T, options?: WriteOptions) => forAll(() => write(work, options)),
  })
}
