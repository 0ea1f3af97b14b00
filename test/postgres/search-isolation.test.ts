import type { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { asTenant } from '../../src/engine/base/tenant-scope.js'
import type { IndexedNode, SearchIndexes } from '../../src/engine/search/ports.js'
import { createPostgresIndexes } from '../../src/engine/search/postgres/indexes.js'
import { SEARCH_SCHEMA } from '../../src/engine/search/postgres/schema.js'
import { findSpaceRow } from '../../src/engine/search/postgres/space-rows.js'
import { searchText } from '../../src/engine/search/postgres/text-search.js'
import { listVectorSpaces } from '../../src/engine/search/postgres/vector-rows.js'
import { searchVectors } from '../../src/engine/search/postgres/vector-search.js'
import { Postgres } from '../../src/engine/store/postgres/postgres.js'
import { type Read, sql } from '../../src/engine/store/program.js'
import { newId } from '../../src/lib/ids.js'
import { FakeSource, followBatch } from '../engine/search/fake-source.js'
import { clusteredVectors, seeded } from '../engine/search/random.js'
import { addressOf, connect, createSearchableDatabase, hasVectors } from '../helpers/postgres.js'
import { SUPERUSER } from '../helpers/postgres-server.js'
import { until } from '../helpers/until.js'

const MODEL = 'test/model@1'
const DIMENSION = 16
const TENANTS = ['acme', 'other']
const COUNT = 2_000
const TABLES = ['spaces', 'nodes', 'terms', 'vector_spaces', 'vectors']
const OF_TENANT = "SELECT set_config('ks.tenant', $1, true)"

class SourceOf extends FakeSource {
  readonly tenant: string

  constructor(tenant: string) {
    super(MODEL, DIMENSION)
    this.tenant = tenant
  }

  override inSpace<T>(_space: string, work: () => Promise<T>): Promise<T> {
    return asTenant(this.tenant, work)
  }
}

/** Runs a read, and records the plan of each statement on a table. */
function* explained<T>(program: Read<T>, table: string, plans: string[]): Read<T> {
  let step = program.next()
  while (step.done !== true) {
    const { value } = step
    if ('values' in value && value.sql.includes(`${SEARCH_SCHEMA}.${table}`)) {
      const lines = yield* sql.all<object>(`EXPLAIN ${value.sql}`, value.values)
      plans.push(lines.flatMap((line) => Object.values(line)).join('\n'))
    }
    step = program.next((yield value) as never)
  }
  return step.value
}

describe.skipIf(!hasVectors)('the search tables of PostgreSQL', () => {
  const vectors = clusteredVectors(COUNT, DIMENSION, 20, seeded(3))
  const spaces = TENANTS.map(() => newId())
  const opened: SearchIndexes[] = []
  let database: string
  let client: Client
  let db: Postgres

  beforeAll(async () => {
    database = await createSearchableDatabase()
    client = await connect(database)
    db = await Postgres.open({ address: addressOf(database), application: 'ks-test', clock: Date.now })
    for (const [index, tenant] of TENANTS.entries()) {
      const source = new SourceOf(tenant)
      const indexes = await createPostgresIndexes({
        ...{ db, address: addressOf(database), source, gateway: newId(), graphFrom: 1_000, settleMs: 20 },
      })
      opened.push(indexes)
      for (let from = 0; from < COUNT; from += 500)
        await followBatch(indexes, spaces[index] ?? '', source.commit(nodes(from)))
      await until(async () => (await indexes.status(spaces[index] ?? '')).graphCount === COUNT)
    }
    const all = await connect(database, SUPERUSER)
    await all.query('VACUUM ANALYZE')
    await all.end()
  })

  afterAll(async () => {
    for (const one of opened) await one.close()
    await db.close()
    await client.end()
  })

  const nodes = (from: number): IndexedNode[] =>
    Array.from({ length: 500 }, (_, index) => {
      const key = from + index + 1
      return { key, doc: key % 10, title: `Title ${key}`, body: `common number${key}`, vector: vectors[key - 1]! }
    })

  /** Queries with the role of a gateway and the settings of a transaction, and rolls back. */
  async function as<T>(tenant: string | undefined, work: () => Promise<T>): Promise<T> {
    await client.query('BEGIN')
    try {
      if (tenant !== undefined) await client.query(OF_TENANT, [tenant])
      return await work()
    } finally {
      await client.query('ROLLBACK')
    }
  }

  const tenantsIn = async (table: string): Promise<string[]> =>
    (await client.query<{ tenant: string }>(`SELECT DISTINCT tenant FROM ${SEARCH_SCHEMA}.${table}`)).rows.map(
      ({ tenant }) => tenant,
    )

  it('have row security that also applies to their owner', async () => {
    const { rows } = await client.query<{ name: string }>(
      `SELECT relname name FROM pg_class WHERE relkind = 'r' AND relnamespace = $1::regnamespace AND relrowsecurity
         AND relforcerowsecurity AND EXISTS (SELECT 1 FROM pg_policy WHERE polrelid = pg_class.oid)`,
      [SEARCH_SCHEMA],
    )
    expect(rows.map(({ name }) => name).sort()).toEqual([...TABLES].sort())
    const found = await client.query<{ n: string }>(
      "SELECT count(*) n FROM pg_class WHERE relkind = 'r' AND relnamespace = $1::regnamespace",
      [SEARCH_SCHEMA],
    )
    expect(Number(found.rows[0]?.n)).toBe(TABLES.length)
  })

  it.each(TABLES)('let only the tenant of rows of %s read and write them', async (table) => {
    expect(await as(undefined, () => tenantsIn(table))).toEqual([])
    for (const tenant of TENANTS) expect(await as(tenant, () => tenantsIn(table))).toEqual([tenant])
    expect(await as('nobody', () => tenantsIn(table))).toEqual([])
    const changed = async (text: string) => (await client.query(text)).rowCount
    expect(await as('acme', () => changed(`DELETE FROM ${SEARCH_SCHEMA}.${table} WHERE tenant = 'other'`))).toBe(0)
    expect(await as(undefined, () => changed(`DELETE FROM ${SEARCH_SCHEMA}.${table}`))).toBe(0)
    await expect(
      as('acme', () => client.query(`UPDATE ${SEARCH_SCHEMA}.${table} SET tenant = 'other'`)),
    ).rejects.toMatchObject({
      code: '42501',
    })
  })

  it('return nothing for a space of another tenant', async () => {
    const [indexes] = opened
    const request = { terms: ['number7'], vector: vectors[7]!, vectorSpace: MODEL, textK: 10, vectorK: 10 }
    expect((await indexes!.search(spaces[0]!, request)).hits.length).toBeGreaterThan(0)
    const row = await asTenant('other', () => db.read(findSpaceRow(spaces[1]!)))
    const text = { terms: ['number7'], compounds: undefined as never, textK: 10 }
    expect((await asTenant('other', () => db.read(searchText(row!, text)))).keys).toEqual([7])
    expect((await asTenant('acme', () => db.read(searchText(row!, text)))).keys).toEqual([])
    expect((await db.read(searchText(row!, text))).keys).toEqual([])
  })

  it('use their text and vector indexes in spite of row security', async () => {
    const plans: string[] = []
    await asTenant('acme', async () => {
      const row = (await db.read(findSpaceRow(spaces[0]!)))!
      const text = { terms: ['number7', 'title'], compounds: undefined as never, textK: 10 }
      expect((await db.read(explained(searchText(row, text), 'nodes', plans))).keys).toContain(7)
      const [vectorSpace] = await db.read(listVectorSpaces(row.key))
      const near = { vector: vectors[7]!, others: [], vectorK: 10, docs: undefined as never, wantsBackground: true }
      const found = searchVectors(vectorSpace!, near, 1_000)
      expect((await db.read(explained(found, 'vectors', plans))).method).toBe('hnsw')
    })
    const indexesOf = (plan: string) => [...plan.matchAll(/Index Scan (?:using|on) (\w+)/g)].map(([, name]) => name)
    expect(plans.map((plan) => indexesOf(plan)[0]?.replace(/\d+/, 'N'))).toEqual([
      'nodes_terms',
      'graph_N',
      'vectors_sample',
    ])
  })

  it('disappear if they have an earlier version and no other gateway is alive', async () => {
    const names = async () =>
      (await client.query<{ n: string }>("SELECT nspname n FROM pg_namespace WHERE nspname ~ '^search_'")).rows
        .map(({ n }) => n)
        .sort()
    const open = async () => {
      const [address, source] = [addressOf(database), new SourceOf('acme')]
      opened.push(await createPostgresIndexes({ db, address, source, gateway: 'one' }))
    }
    await client.query(
      'CREATE SCHEMA search_1003; CREATE TABLE search_1003.nodes (terms text); CREATE SCHEMA search_99999',
    )
    const now = 'extract(epoch FROM clock_timestamp()) * 1000'
    await client.query(
      `INSERT INTO gateways (id, started_at, beat_at) VALUES ('one', ${now}, ${now}), ('two', ${now}, ${now})`,
    )
    await open()
    expect(await names()).toEqual(['search_1003', SEARCH_SCHEMA, 'search_99999'].sort())
    await client.query("DELETE FROM gateways WHERE id = 'two'")
    await open()
    expect(await names()).toEqual([SEARCH_SCHEMA, 'search_99999'].sort())
  })
})
