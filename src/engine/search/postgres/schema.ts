import { KsError } from '../../../contract/errors.js'
import { ANALYZER_VERSION } from '../../../lib/text/analyze.js'
import type { DatabaseAddress } from '../../../local/database-address.js'
import { EXPIRES_AFTER_MS } from '../../base/leases.js'
import { connectOnce } from '../../storage/postgres/connections.js'
import { told } from '../../storage/postgres/errors.js'

/*
 * The tables of the search adapter. They contain nothing that the rows of spaces do not, so they are not part of the
 * numbered schema. The first gateway that searches in them creates them, in a separate PostgreSQL schema whose name
 * contains their version. Gateways of another version use another schema.
 */

/** Increased when tables or their meaning change. */
const LAYOUT_VERSION = 2
/** Start of the schema's name. */
const PREFIX = 'search_'
const NUMBER = LAYOUT_VERSION * 1_000 + ANALYZER_VERSION
export const IN = `${PREFIX}${NUMBER}`

/** Transaction setting with the query that rows of `nodes` must match; without it, all rows are visible. */
export const WORDS_SETTING = 'ks.words'
/** A query that every row matches: each lexeme starts with the prefix of its space. */
const ANY_WORDS = "!''ks''"

const EXTENSION = 'vector'
/** Earlier versions of pgvector return too few hits of a graph when a filter excludes some. */
const LEAST_MAJOR = 0
const LEAST_MINOR = 8
/** Name of the lock under which one gateway creates the tables. */
const TABLES_LOCK = 'search tables'

/** Rows up to this size are stored inline: terms and vectors are nearly always read with their rows. */
const INLINE = 'toast_tuple_target = 8160'

/** Number of groups that nodes are hashed into, independent of their content. */
export const SAMPLES = 1_024

/** SQL expression of a node's group; one group is a sample. */
export function sampleOf(column: string): string {
  return `hashint8(${column}) & ${SAMPLES - 1}`
}

const TABLE_NAMES = ['spaces', 'nodes', 'terms', 'vector_spaces', 'vectors']
const TABLES = `
CREATE SCHEMA IF NOT EXISTS ${IN};
CREATE TABLE IF NOT EXISTS ${IN}.spaces (
  key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- as the engine names it
  space text NOT NULL UNIQUE,
  -- entry of the projection log up to which all is here
  watermark bigint NOT NULL DEFAULT 0,
  nodes bigint NOT NULL DEFAULT 0,
  -- terms of all nodes
  length bigint NOT NULL DEFAULT 0,
  -- the gateway that reads the log for all, and until when
  writer text,
  writing_until timestamptz
) WITH (fillfactor = 50);
CREATE TABLE IF NOT EXISTS ${IN}.nodes (
  space bigint NOT NULL,
  node bigint NOT NULL,
  doc bigint NOT NULL,
  -- terms, repeats counted
  length bigint NOT NULL,
  -- each with as many places as it stands in the node; its lexeme begins with the space
  terms tsvector NOT NULL,
  PRIMARY KEY (space, node)
) WITH (${INLINE});
ALTER TABLE ${IN}.nodes ALTER COLUMN terms SET STORAGE MAIN;
CREATE INDEX IF NOT EXISTS nodes_doc ON ${IN}.nodes (space, doc);
CREATE INDEX IF NOT EXISTS nodes_terms ON ${IN}.nodes USING gin (terms) WITH (gin_pending_list_limit = 512);
CREATE TABLE IF NOT EXISTS ${IN}.terms (
  space bigint NOT NULL,
  lexeme text NOT NULL,
  -- nodes that hold it
  df bigint NOT NULL,
  PRIMARY KEY (space, lexeme)
) WITH (fillfactor = 80);
CREATE TABLE IF NOT EXISTS ${IN}.vector_spaces (
  key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  space bigint NOT NULL,
  name text NOT NULL,
  dimension bigint NOT NULL,
  vectors bigint NOT NULL DEFAULT 0,
  -- an index of its vectors alone is whole
  has_graph boolean NOT NULL DEFAULT false,
  UNIQUE (space, name)
) WITH (fillfactor = 50);
CREATE TABLE IF NOT EXISTS ${IN}.vectors (
  vector_space bigint NOT NULL,
  node bigint NOT NULL,
  doc bigint NOT NULL,
  v halfvec NOT NULL,
  PRIMARY KEY (vector_space, node)
) WITH (${INLINE});
ALTER TABLE ${IN}.vectors ALTER COLUMN v SET STORAGE MAIN;
CREATE INDEX IF NOT EXISTS vectors_doc ON ${IN}.vectors (vector_space, doc);
CREATE INDEX IF NOT EXISTS vectors_sample ON ${IN}.vectors (vector_space, (${sampleOf('node')}));
${TABLE_NAMES.map((name) => `SELECT isolate('${IN}.${name}');`).join('\n')}
-- An operator that is not leakproof, as @@, uses no index in a statement, where it runs only after the policies of the
-- table. In a policy it does.
CREATE POLICY of_words ON ${IN}.nodes AS RESTRICTIVE FOR SELECT
  USING (terms @@ coalesce(nullif(current_setting('${WORDS_SETTING}', true), ''), '${ANY_WORDS}')::tsquery);
`

const EXTENSION_STATE = `SELECT (SELECT extversion FROM pg_extension WHERE extname = '${EXTENSION}') installed,
  EXISTS (SELECT 1 FROM pg_available_extensions WHERE name = '${EXTENSION}') available,
  to_regtype('halfvec')::oid::bigint halfvec, to_regclass('${IN}.vectors') IS NOT NULL has_tables`

interface State {
  installed: string | null
  available: boolean
  halfvec: string | null
  has_tables: boolean
}

/** Schemas of earlier layouts and analysers, unless another gateway is alive, which may search in them. */
const EARLIER = `SELECT nspname name FROM pg_namespace
  WHERE CASE WHEN nspname ~ '^${PREFIX}[0-9]+$' THEN substr(nspname, ${PREFIX.length + 1})::numeric < ${NUMBER} END
    AND nspowner = (SELECT oid FROM pg_roles WHERE rolname = current_user)
    AND NOT EXISTS (SELECT 1 FROM gateways
      WHERE id <> $1 AND beat_at > extract(epoch FROM clock_timestamp()) * 1000 - ${EXPIRES_AFTER_MS})`

/**
 * Creates missing tables and removes those of earlier versions, which contain terms of all tenants without policies.
 * New tables are filled from the rows.
 *
 * @param gateway id of the caller, which may be registered already
 * @returns the object id of the type `halfvec`, which differs between databases
 * @throws KsError that states what the database lacks
 */
export async function prepareTables(address: DatabaseAddress, gateway: string): Promise<number> {
  return await withClient(address, async (client) => {
    const vectorType = checked(await stateOf(client), address)
    await client.query('BEGIN')
    await client.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [TABLES_LOCK])
    if (!(await stateOf(client)).has_tables)
      await client.query(TABLES).catch((error: unknown) => {
        throw refused(error, address)
      })
    const { rows } = await client.query<{ name: string }>(EARLIER, [gateway])
    for (const { name } of rows) await client.query(`DROP SCHEMA ${name} CASCADE`)
    await client.query('COMMIT')
    return vectorType
  })
}

/** A separate connection to the server, outside of the pool for programs. */
export type Client = Awaited<ReturnType<typeof connectOnce>>

/** Runs work on a separate connection, which is closed afterwards. */
export async function withClient<T>(address: DatabaseAddress, work: (client: Client) => Promise<T>): Promise<T> {
  let client: Client | undefined
  try {
    client = await connectOnce(address)
    return await work(client)
  } catch (error) {
    throw told(error)
  } finally {
    await client?.end().catch(() => undefined)
  }
}

async function stateOf(client: Client): Promise<State> {
  const { rows } = await client.query<State>(EXTENSION_STATE)
  const [state] = rows
  if (state === undefined) throw new KsError('unavailable', 'the database did not report its extensions')
  return state
}

function checked({ installed, available, halfvec }: State, { shown }: DatabaseAddress): number {
  if (installed === null)
    throw new KsError(
      'unavailable',
      available
        ? `--search postgres needs the extension ${EXTENSION} in the database ${shown}: run CREATE EXTENSION ${EXTENSION} there, as a role with that permission`
        : `--search postgres needs the extension ${EXTENSION} (pgvector), which the server of ${shown} does not have: install pgvector ${LEAST_MAJOR}.${LEAST_MINOR} or newer there and run CREATE EXTENSION ${EXTENSION} in the database, or start without --search postgres`,
    )
  const [major = 0, minor = 0] = installed.split('.').map(Number)
  if (major === LEAST_MAJOR && minor < LEAST_MINOR)
    throw new KsError(
      'unavailable',
      `--search postgres needs the extension ${EXTENSION} ${LEAST_MAJOR}.${LEAST_MINOR} or newer, ${shown} has ${installed}: install a newer pgvector and run ALTER EXTENSION ${EXTENSION} UPDATE`,
    )
  if (halfvec === null)
    throw new KsError(
      'unavailable',
      `the types of the extension ${EXTENSION} are not in the search path of ${shown}: put its schema into the search_path of the role`,
    )
  return Number(halfvec)
}

function refused(error: unknown, { shown }: DatabaseAddress): unknown {
  const isDenied = error instanceof Error && 'code' in error && error.code === '42501'
  if (!isDenied) return error
  return new KsError(
    'unavailable',
    `--search postgres creates tables in ${shown}, and this role has no permission: GRANT CREATE ON DATABASE to it for the first start`,
  )
}
