import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { inject } from 'vitest'
import { migratePostgres } from '../../src/engine/storage/postgres/migrate.js'
import { Postgres } from '../../src/engine/storage/postgres/postgres.js'
import type { DatabaseAddress } from '../../src/local/database-address.js'
import { databaseAddress } from '../../src/local/database-address.js'
import { ROLE } from './postgres-server.js'

/** Whether there is a server to run these tests on. */
export const hasServer = inject('postgres') !== undefined

/** Whether that server has pgvector, too. */
export const hasVectors = inject('pgvector')

export function addressOf(name: string, folder = inject('postgres')): DatabaseAddress {
  return databaseAddress(`postgres://${ROLE}@localhost/${name}?host=${encodeURIComponent(folder ?? '')}`)
}

/** A client that asks the server itself. */
export async function connect(name: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: addressOf(name).hosts[0] })
  await client.connect()
  return client
}

/** Makes an empty database. @returns its name */
export async function emptyDatabase(template = 'template0'): Promise<string> {
  const name = `t${randomBytes(6).toString('hex')}`
  const client = await connect('postgres')
  await client.query(`CREATE DATABASE ${name} TEMPLATE ${template}`)
  await client.end()
  return name
}

/** Makes a database with the newest schema. */
export async function migratedDatabase(): Promise<string> {
  const name = await emptyDatabase()
  await migratePostgres(addressOf(name))
  return name
}

/** The same with pgvector in it. */
export async function searchableDatabase(): Promise<string> {
  const name = await migratedDatabase()
  const client = await connect(name)
  await client.query('CREATE EXTENSION vector')
  await client.end()
  return name
}

export async function openPostgres(
  name: string,
  connections = 10,
  more: { patienceMs?: number } = {},
): Promise<Postgres> {
  return await Postgres.open({ address: addressOf(name), application: 'ks-test', connections, ...more })
}
