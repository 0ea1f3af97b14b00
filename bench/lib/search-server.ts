import pg from 'pg'
import { migratePostgres } from '../../src/engine/store/postgres/migrate.js'
import { type DatabaseAddress, parseDatabaseAddress } from '../../src/local/database-address.js'
import { findServerPrograms, formatAddress, ROLE, SUPERUSER, startServer } from '../../test/helpers/postgres-server.js'

/** What a small server has, in place of what tests give theirs. */
const SERVER = { shared_buffers: '512MB', maintenance_work_mem: '256MB' }

/** A server of this run's own, with an empty database that has pgvector and our schema. */
export async function searchableServer(): Promise<{ url: string; address: DatabaseAddress; stop: () => void }> {
  const programs = findServerPrograms()
  if (programs === undefined) throw new Error('PostgreSQL 15 or newer is not installed')
  const server = startServer(programs, SERVER)
  const at = (name: string, role = ROLE) => formatAddress(server.folder, name, role)
  try {
    await asked(at('postgres'), 'CREATE DATABASE bench TEMPLATE template0')
    // who owns the tables is no superuser, whom the policies of the rows would not hold
    await asked(at('bench', SUPERUSER), 'CREATE EXTENSION vector')
    const address = parseDatabaseAddress(at('bench'))
    await migratePostgres(address)
    return { url: at('bench'), address, stop: server.stop }
  } catch (error) {
    server.stop()
    throw error
  }
}

async function asked(address: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString: address })
  await client.connect()
  await client.query(text)
  await client.end()
}
