import type { ClientBase } from 'pg'
import { KsError } from '../../../contract/errors.js'
import type { DatabaseAddress } from '../../base/database-address.js'
import { MIGRATIONS, postgresMigrations } from '../schema.js'
import { told } from './errors.js'
import { BASELINE, BASELINE_SCHEMA } from './schema/baseline.js'

const LEAST_VERSION = 150_000
/** names what migrations of a database wait for: any number that nobody else would choose */
const MIGRATION_LOCK = 0x6b73_6d67

interface Server {
  version: number
  encoding: string
  locale: string
  schema: string | null
}

const SERVER = `SELECT current_setting('server_version_num')::int version, pg_encoding_to_char(encoding) encoding,
  datcollate locale, to_regclass('schema_version')::text schema FROM pg_database WHERE datname = current_database()`

/**
 * Brings a database to the newest schema, all steps in one transaction; others that migrate meanwhile wait.
 *
 * @returns the number of the schema
 * @throws KsError for a database that is not made for us, or of a later version
 */
export async function migratePostgres({ connectionString, password }: DatabaseAddress): Promise<number> {
  const { default: pg } = await import('pg')
  const client = new pg.Client({ connectionString, ...(password === undefined ? {} : { password }) })
  client.on('error', () => undefined)
  try {
    await client.connect()
    await refuseOthers(client)
    await client.query('BEGIN')
    await client.query('SELECT pg_advisory_xact_lock($1)', [MIGRATION_LOCK])
    await client.query('CREATE TABLE IF NOT EXISTS schema_version (version integer NOT NULL)')
    const current = (await schemaOf(client)) ?? (await begin(client))
    for (const step of postgresMigrations(current)) await client.query(step)
    await client.query('UPDATE schema_version SET version = $1', [MIGRATIONS.length])
    await client.query('COMMIT')
    return MIGRATIONS.length
  } catch (error) {
    throw told(error)
  } finally {
    await client.end().catch(() => undefined)
  }
}

async function begin(client: ClientBase): Promise<number> {
  await client.query(BASELINE)
  await client.query('INSERT INTO schema_version VALUES ($1)', [BASELINE_SCHEMA])
  return BASELINE_SCHEMA
}

/** Whether this version can work with a database. @throws KsError where it cannot */
export async function checkServer(client: ClientBase): Promise<void> {
  const { schema } = await refuseOthers(client)
  const version = schema === null ? undefined : await schemaOf(client)
  if (version === MIGRATIONS.length) return
  const found = version === undefined ? 'no schema' : `schema ${version}`
  throw new KsError('unavailable', `the database has ${found}, this version works with schema ${MIGRATIONS.length}`)
}

async function refuseOthers(client: ClientBase): Promise<Server> {
  const { rows } = await client.query<Server>(SERVER)
  const [server] = rows
  if (server === undefined) throw new KsError('unavailable', 'the database does not say what it is')
  if (server.version < LEAST_VERSION) throw new KsError('unavailable', 'the database needs PostgreSQL 15 or newer')
  // texts are compared by their bytes, as SQLite does: the order of lists, and of pages of them, hangs on it
  if (server.encoding !== 'UTF8' || !/^(C|POSIX|C\.UTF-?8)$/i.test(server.locale))
    throw new KsError(
      'unavailable',
      `the database has the encoding ${server.encoding} and the locale ${server.locale}; make it with ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0`,
    )
  return server
}

async function schemaOf(client: ClientBase): Promise<number | undefined> {
  const { rows } = await client.query<{ version: number }>('SELECT version FROM schema_version')
  const version = rows[0]?.version
  if (version !== undefined && version > MIGRATIONS.length)
    throw new KsError(
      'unavailable',
      `the database has schema ${version}, this version knows schemas up to ${MIGRATIONS.length}: use a newer version`,
    )
  return version
}
