import { KsError } from '../../../contract/errors.js'
import { ANALYZER_VERSION } from '../../../lib/text/analyze.js'
import type { DatabaseAddress } from '../../../local/database-address.js'
import { LEASE_LIFETIME_MS } from '../../base/leases.js'
import { connectOnce } from '../../store/postgres/connections.js'
import { toCallerError } from '../../store/postgres/errors.js'

/*
 * The tables of the search adapter. They contain nothing that the rows of spaces do not, so they are not part of the
 * numbered schema. The first gateway that searches in them creates them, in a separate PostgreSQL schema whose name
 * contains their version. Gateways of another version use another schema.
 */

/** Increased when tables or their meaning change. */
const LAYOUT_VERSION = 2
const SCHEMA_PREFIX = 'search_'
const SCHEMA_VERSION = LAYOUT_VERSION * 1_000 + ANALYZER_VERSION
export const SEARCH_SCHEMA = `${SCHEMA_PREFIX}${SCHEMA_VERSION}`

/** Transaction setting with the query that rows of `nodes` must match; without it, all rows are visible. */
export const TERMS_QUERY_SETTING = 'ks.words'
/** A query that every row matches: each lexeme starts with the prefix of its space. */
const MATCH_ALL_QUERY = "!''ks''"

const EXTENSION = 'vector'
/** Earlier versions of pgvector return too few hits of a graph when a filter excludes some. */
const MIN_MAJOR = 0
const MIN_MINOR = 8
/** Name of the lock under which one gateway creates the tables. */
const TABLES_LOCK = 'search tables'

/** Rows up to this size are stored inline: terms and vectors are nearly always read with their rows. */
const INLINE_STORAGE = 'toast_tuple_target = 8160'

/** Number of groups that nodes are hashed into, independent of their content. */
export const SAMPLE_GROUPS = 1_024

/** SQL expression of a node's group; one group is a sample. */
export const SAMPLE_GROUP_SQL = `hashint8(node) & ${SAMPLE_GROUPS - 1}`

const TABLE_NAMES = ['spaces', 'nodes', 'terms', 'vector_spaces', 'vectors']
const CREATE_TABLES_SQL = `
CREATE SCHEMA IF NOT EXISTS ${SEARCH_SCHEMA};
CREATE TABLE IF NOT EXISTS ${SEARCH_SCHEMA}.spaces (
  key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- id of the space
  space text NOT NULL UNIQUE,
  -- entry of the index log up to which the rows are complete
  watermark bigint NOT NULL DEFAULT 0,
  nodes bigint NOT NULL DEFAULT 0,
  -- terms of all nodes
  length bigint NOT NULL DEFAULT 0,
  -- the gateway that has claimed the log, and until when
  writer text,
  writing_until timestamptz
) WITH (fillfactor = 50);
CREATE TABLE IF NOT EXISTS ${SEARCH_SCHEMA}.nodes (
  space bigint NOT NULL,
  node bigint NOT NULL,
  doc bigint NOT NULL,
  -- count of terms with repetitions
  length bigint NOT NULL,
  -- lexemes start with the prefix of the space and have one position per occurrence
  terms tsvector NOT NULL,
  PRIMARY KEY (space, node)
) WITH (${INLINE_STORAGE});
ALTER TABLE ${SEARCH_SCHEMA}.nodes ALTER COLUMN terms SET STORAGE MAIN;
CREATE INDEX IF NOT EXISTS nodes_doc ON ${SEARCH_SCHEMA}.nodes (space, doc);
CREATE INDEX IF NOT EXISTS nodes_terms ON ${SEARCH_SCHEMA}.nodes USING gin (terms) WITH (gin_pending_list_limit = 512);
CREATE TABLE IF NOT EXISTS ${SEARCH_SCHEMA}.terms (
  space bigint NOT NULL,
  lexeme text NOT NULL,
  -- count of nodes with the lexeme
  df bigint NOT NULL,
  PRIMARY KEY (space, lexeme)
) WITH (fillfactor = 80);
CREATE TABLE IF NOT EXISTS ${SEARCH_SCHEMA}.vector_spaces (
  key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  space bigint NOT NULL,
  name text NOT NULL,
  dimension bigint NOT NULL,
  vectors bigint NOT NULL DEFAULT 0,
  -- the separate index of its vectors is complete
  has_graph boolean NOT NULL DEFAULT false,
  UNIQUE (space, name)
) WITH (fillfactor = 50);
CREATE TABLE IF NOT EXISTS ${SEARCH_SCHEMA}.vectors (
  vector_space bigint NOT NULL,
  node bigint NOT NULL,
  doc bigint NOT NULL,
  v halfvec NOT NULL,
  PRIMARY KEY (vector_space, node)
) WITH (${INLINE_STORAGE});
ALTER TABLE ${SEARCH_SCHEMA}.vectors ALTER COLUMN v SET STORAGE MAIN;
CREATE INDEX IF NOT EXISTS vectors_doc ON ${SEARCH_SCHEMA}.vectors (vector_space, doc);
CREATE INDEX IF NOT EXISTS vectors_sample ON ${SEARCH_SCHEMA}.vectors (vector_space, (${SAMPLE_GROUP_SQL}));
${TABLE_NAMES.map((name) => `SELECT isolate('${SEARCH_SCHEMA}.${name}');`).join('\n')}
-- @@ is not leakproof: in a statement it runs after the policies of the table and uses no index; in a policy it does.
CREATE POLICY of_words ON ${SEARCH_SCHEMA}.nodes AS RESTRICTIVE FOR SELECT
  USING (terms @@ coalesce(nullif(current_setting('${TERMS_QUERY_SETTING}', true), ''), '${MATCH_ALL_QUERY}')::tsquery);
`

const EXTENSION_STATE_SQL = `SELECT (SELECT extversion FROM pg_extension WHERE extname = '${EXTENSION}') installed,
  EXISTS (SELECT 1 FROM pg_available_extensions WHERE name = '${EXTENSION}') available,
  to_regtype('halfvec')::oid::bigint halfvec, to_regclass('${SEARCH_SCHEMA}.vectors') IS NOT NULL has_tables`

interface ExtensionState {
  installed: string | null
  available: boolean
  halfvec: string | null
  has_tables: boolean
}

/** Schemas of earlier layouts and analysers, unless another gateway is alive, which may search in them. */
const EARLIER_SCHEMAS_SQL = `SELECT nspname name FROM pg_namespace
  WHERE CASE WHEN nspname ~ '^${SCHEMA_PREFIX}[0-9]+$' THEN substr(nspname, ${SCHEMA_PREFIX.length + 1})::numeric < ${SCHEMA_VERSION} END
    AND nspowner = (SELECT oid FROM pg_roles WHERE rolname = current_user)
    AND NOT EXISTS (SELECT 1 FROM gateways
      WHERE id <> $1 AND beat_at > extract(epoch FROM clock_timestamp()) * 1000 - ${LEASE_LIFETIME_MS})`

/**
 * Creates missing tables and removes those of earlier versions, which contain terms of all tenants without policies.
 * New tables are filled from the rows.
 *
 * @param gateway id of the caller, which may be registered already
 * @returns the object id of the type `halfvec`, which differs between databases
 * @throws KsError that states what the database lacks
 */
export async function prepareTables(address: DatabaseAddress, gateway: string): Promise<number> {
  return await withSeparateClient(address, async (client) => {
    const vectorType = checkExtension(await loadExtensionState(client), address)
    await client.query('BEGIN')
    await client.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [TABLES_LOCK])
    if (!(await loadExtensionState(client)).has_tables)
      await client.query(CREATE_TABLES_SQL).catch((error: unknown) => {
        throw toPermissionError(error, address)
      })
    const { rows } = await client.query<{ name: string }>(EARLIER_SCHEMAS_SQL, [gateway])
    for (const { name } of rows) await client.query(`DROP SCHEMA ${name} CASCADE`)
    await client.query('COMMIT')
    return vectorType
  })
}

/** A separate connection to the server, outside of the pool for programs. */
export type SeparateClient = Awaited<ReturnType<typeof connectOnce>>

/** Runs work on a separate connection, which is closed afterwards. */
export async function withSeparateClient<T>(
  address: DatabaseAddress,
  work: (client: SeparateClient) => Promise<T>,
): Promise<T> {
  let client: SeparateClient | undefined
  try {
    client = await connectOnce(address)
    return await work(client)
  } catch (error) {
    throw toCallerError(error)
  } finally {
    await client?.end().catch(() => undefined)
  }
}

async function loadExtensionState(client: SeparateClient): Promise<ExtensionState> {
  const { rows } = await client.query<ExtensionState>(EXTENSION_STATE_SQL)
  const [state] = rows
  if (state === undefined) throw new KsError('unavailable', 'the database did not report its extensions')
  return state
}

function checkExtension({ installed, available, halfvec }: ExtensionState, { displayText }: DatabaseAddress): number {
  if (installed === null)
    throw new KsError(
      'unavailable',
      available
        ? `--search postgres needs the extension ${EXTENSION} in the database ${displayText}: run CREATE EXTENSION ${EXTENSION} there, as a role with that permission`
        : `--search postgres needs the extension ${EXTENSION} (pgvector), which the server of ${displayText} does not have: install pgvector ${MIN_MAJOR}.${MIN_MINOR} or newer there and run CREATE EXTENSION ${EXTENSION} in the database, or start without --search postgres`,
    )
  const [major = 0, minor = 0] = installed.split('.').map(Number)
  if (major === MIN_MAJOR && minor < MIN_MINOR)
    throw new KsError(
      'unavailable',
      `--search postgres needs the extension ${EXTENSION} ${MIN_MAJOR}.${MIN_MINOR} or newer, ${displayText} has ${installed}: install a newer pgvector and run ALTER EXTENSION ${EXTENSION} UPDATE`,
    )
  if (halfvec === null)
    throw new KsError(
      'unavailable',
      `the types of the extension ${EXTENSION} are not in the search path of ${displayText}: put its schema into the search_path of the role`,
    )
  return Number(halfvec)
}

function toPermissionError(error: unknown, { displayText }: DatabaseAddress): unknown {
  const isDenied = error instanceof Error && 'code' in error && error.code === '42501'
  if (!isDenied) return error
  return new KsError(
    'unavailable',
    `--search postgres creates tables in ${displayText}, and this role has no permission: GRANT CREATE ON DATABASE to it for the first start`,
  )
}
