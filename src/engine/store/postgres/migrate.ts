import type { Client, ClientBase } from 'pg'
import { KsError } from '../../../contract/errors.js'
import { newId } from '../../../lib/ids.js'
import type { DatabaseAddress } from '../../../local/database-address.js'
import { LEASE_LIFETIME_MS } from '../../base/leases.js'
import { FIRST_SCHEMA, findSchemaRefusal, MIGRATIONS, type Migration, SCHEMA } from '../migrations.js'
import { connectOnce } from './connections.js'
import { toOpenError } from './errors.js'
import { postgresSchema } from './schema/baseline.js'
import { DEPLOYMENT_SETTING } from './schema/isolation.js'

const MIN_SERVER_VERSION = 150_000
/** advisory lock of migrations: an arbitrary number that no other program should use */
const MIGRATION_LOCK = 0x6b73_6d67

interface PostgresServerInfo {
  version: number
  encoding: string
  locale: string
  schema: string | null
  role: string
  seesAll: boolean
}

const SERVER_INFO = `SELECT current_setting('server_version_num')::int version, pg_encoding_to_char(encoding) encoding,
  datcollate locale, to_regclass('schema_version')::text schema, rolname role, rolsuper OR rolbypassrls "seesAll"
  FROM pg_database, pg_roles WHERE datname = current_database() AND rolname = current_user`

interface MigrateOptions {
  newKeys?: boolean
  steps?: readonly Migration[]
}

/** Result of a migration. */
export interface MigrationResult {
  /** schema numbers before and after; before is undefined for a new database */
  from: number | undefined
  to: number
}

/**
 * Brings a database to the newest schema, all steps in one transaction; concurrent migrations wait.
 *
 * @param newKeys let the next gateway to start define the keys of all gateways
 * @throws KsError for a database with unsuitable settings, of a later version or one that is too old, or in use by
 * gateways of an earlier version
 */
export async function migratePostgres(
  address: DatabaseAddress,
  options: MigrateOptions = {},
): Promise<MigrationResult> {
  const { newKeys = false, steps = MIGRATIONS } = options
  const newest = FIRST_SCHEMA + steps.length
  let client: Client | undefined
  try {
    client = await connectOnce(address)
    await readSuitableServer(client)
    await client.query('BEGIN')
    await client.query('SELECT set_config($1, $2, true)', [DEPLOYMENT_SETTING, 'on'])
    await client.query('SELECT pg_advisory_xact_lock($1)', [MIGRATION_LOCK])
    await client.query('CREATE TABLE IF NOT EXISTS schema_version (version integer NOT NULL)')
    const from = await readSchemaVersion(client, newest)
    if (from === undefined) await client.query(postgresSchema())
    else if (from < newest) await refuseWhileInUse(client)
    for (const step of from === undefined ? [] : steps.slice(from - FIRST_SCHEMA)) await client.query(step.postgres)
    await client.query(
      from === undefined ? 'INSERT INTO schema_version VALUES ($1)' : 'UPDATE schema_version SET version = $1',
      [newest],
    )
    await client.query('INSERT INTO store (id, opened) SELECT $1, 0 WHERE NOT EXISTS (SELECT 1 FROM store)', [newId()])
    if (newKeys) await client.query('UPDATE deployment SET keys = NULL')
    await client.query('COMMIT')
    return { from, to: newest }
  } catch (error) {
    throw toOpenError(error)
  } finally {
    await client?.end().catch(() => undefined)
  }
}

/** Statements of an earlier version cannot run on a newer schema. */
async function refuseWhileInUse(client: ClientBase): Promise<void> {
  const { rows } = await client.query<{ open: number }>(
    'SELECT count(*)::int open FROM gateways WHERE beat_at > extract(epoch FROM clock_timestamp()) * 1000 - $1',
    [LEASE_LIFETIME_MS],
  )
  const open = rows[0]?.open ?? 0
  if (open > 0)
    throw new KsError(
      'unavailable',
      `${open} gateway${open === 1 ? ' of an earlier version uses' : 's of an earlier version use'} this database: stop them, then run this again`,
    )
}

/** Checks that this version can use a database. @throws KsError where it cannot */
export async function checkServer(client: ClientBase): Promise<void> {
  const { schema } = await readSuitableServer(client)
  const version = schema === null ? undefined : await readSchemaVersion(client)
  if (version === SCHEMA) return
  const found = version === undefined ? 'no schema' : `schema ${version}`
  throw new KsError(
    'unavailable',
    `the database has ${found}, this version works with schema ${SCHEMA}: run ksd migrate`,
  )
}

async function readSuitableServer(client: ClientBase): Promise<PostgresServerInfo> {
  const { rows } = await client.query<PostgresServerInfo>(SERVER_INFO)
  const [server] = rows
  if (server === undefined) throw new KsError('unavailable', 'the database did not return its settings')
  if (server.version < MIN_SERVER_VERSION) throw new KsError('unavailable', 'the database needs PostgreSQL 15 or newer')
  // such a role sees the rows of all tenants, despite the policies of the tables
  if (server.seesAll)
    throw new KsError(
      'unavailable',
      `the role ${server.role} is a superuser or has BYPASSRLS, so that the database would not isolate tenants: use a role without these that owns the database`,
    )
  // texts are compared by their bytes, as in SQLite: the order of lists and of their pages depends on it
  if (server.encoding !== 'UTF8' || !/^(C|POSIX|C\.UTF-?8)$/i.test(server.locale))
    throw new KsError(
      'unavailable',
      `the database has the encoding ${server.encoding} and the locale ${server.locale}; create it with ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0`,
    )
  return server
}

async function readSchemaVersion(client: ClientBase, newest = SCHEMA): Promise<number | undefined> {
  const { rows } = await client.query<{ version: number }>('SELECT version FROM schema_version')
  const version = rows[0]?.version
  const refusal = version === undefined ? undefined : findSchemaRefusal(version, newest)
  if (refusal !== undefined) throw new KsError('unavailable', `the database has schema ${version}, ${refusal}`)
  return version
}
