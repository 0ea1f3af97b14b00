import pg from 'pg'
import { migratePostgres } from '../../src/engine/store/postgres/migrate.js'
import { type DatabaseAddress, parseDatabaseAddress } from '../../src/local/database-address.js'
import { findServerPrograms, formatAddress, ROLE, SUPERUSER, startServer } from '../../test/helpers/postgres-server.js'

/** Settings of a small server, in place of those of tests. */
const SERVER_SETTINGS = { shared_buffers: '512MB', maintenance_work_mem: '256MB' }

/** Starts a server with an empty database that has pgvector and our schema. */
export async function startSearchServer(): Promise<{ url: string; address: DatabaseAddress; stop: () => void }> {
  const programs = findServerPrograms()
  if (programs === undefined) throw new Error('PostgreSQL 15 or newer is not installed')
  const server = startServer(programs, SERVER_SETTINGS)
  const buildAddress = (name: string, role = ROLE) => formatAddress(server.folder, name, role)
  try {
    await execute(buildAddress('postgres'), 'CREATE DATABASE bench TEMPLATE template0')
    // the owner of the tables is no superuser, to whom row policies would not apply
    await execute(buildAddress('bench', SUPERUSER), 'CREATE EXTENSION vector')
    const address = parseDatabaseAddress(buildAddress('bench'))
    await migratePostgres(address)
    return { url: buildAddress('bench'), address, stop: server.stop }
  } catch (error) {
    server.stop()
    throw error
  }
}

async function execute(address: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString: address })
  await client.connect()
  await client.query(text)
  await client.end()
}
