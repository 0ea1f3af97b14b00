import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import pg from 'pg'
import type { IndexedNode, ReplaySource, SearchIndexes } from '../../src/engine/search/ports.js'
import { createPostgresIndexes } from '../../src/engine/search/postgres/indexes.js'
import { migratePostgres } from '../../src/engine/storage/postgres/migrate.js'
import { Postgres } from '../../src/engine/storage/postgres/postgres.js'
import { type DatabaseAddress, databaseAddress } from '../../src/local/database-address.js'
import { FakeSource, sourcesOf, told } from '../../test/engine/search/fake-source.js'
import { addressOn, ROLE, SUPERUSER, serverPrograms, startServer } from '../../test/helpers/postgres-server.js'
import { ROOT, temporaryFolder } from './daemon.js'

const NODES_A_BATCH = 500
/** What a small server has, in place of what tests give theirs. */
const SERVER = { shared_buffers: '512MB', maintenance_work_mem: '256MB' }

/** A server of this run's own, with an empty database that has pgvector and our schema. */
export async function searchableServer(): Promise<{ url: string; address: DatabaseAddress; stop: () => void }> {
  const programs = serverPrograms()
  if (programs === undefined) throw new Error('PostgreSQL 15 or newer is not installed')
  const server = startServer(programs, SERVER)
  const at = (name: string, role = ROLE) => addressOn(server.folder, name, role)
  try {
    await asked(at('postgres'), 'CREATE DATABASE bench TEMPLATE template0')
    // who owns the tables is no superuser, whom the policies of the rows would not hold
    await asked(at('bench', SUPERUSER), 'CREATE EXTENSION vector')
    const address = databaseAddress(at('bench'))
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

/** Both adapters of the search port, with the same passages in them. */
export interface Places {
  index: SearchIndexes
  postgres: SearchIndexes
  /** fills a new space with nodes, in both. @returns its id */
  fill(nodes: readonly IndexedNode[], vectorSpace: string, dimension: number): Promise<string>
  /** has PostgreSQL do what it does behind writes: statistics, and what waits to be put into an index */
  settle(): Promise<void>
  close(): Promise<void>
}

export async function bothPlaces(): Promise<Places> {
  const { address, url, stop } = await searchableServer()
  const folder = temporaryFolder('bench-search')
  const sources: Record<string, FakeSource> = {}
  const source: ReplaySource = sourcesOf(sources)
  const log = (message: string) => void process.stdout.write(`${message}\n`)
  const db = await Postgres.open({ address, application: 'bench' })
  // what its process runs is beside it
  const built = pathToFileURL(join(ROOT, 'dist', 'engine', 'search', 'indexes.js')).href
  const { createSearchIndexes }: typeof import('../../src/engine/search/indexes.js') = await import(built)
  const index = createSearchIndexes({ dir: folder.path, source, log })
  const postgres = await createPostgresIndexes({ db, address, source, gateway: 'bench', log })
  return {
    index,
    postgres,
    async fill(nodes, vectorSpace, dimension) {
      const space = randomUUID()
      const own = new FakeSource(vectorSpace, dimension)
      sources[space] = own
      for (let from = 0; from < nodes.length; from += NODES_A_BATCH) {
        const batch = own.commit(nodes.slice(from, from + NODES_A_BATCH))
        await Promise.all([told(index, space, batch), told(postgres, space, batch)])
      }
      await Promise.all([index.settle(space), postgres.settle(space)])
      return space
    },
    settle: () => asked(url, 'VACUUM ANALYZE'),
    async close() {
      await Promise.all([index.close(), postgres.close()])
      await db.close()
      stop()
      folder.remove()
    },
  }
}
