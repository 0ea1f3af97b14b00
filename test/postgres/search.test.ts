import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { IndexedNode, SearchIndexes } from '../../src/engine/search/ports.js'
import { createPostgresIndexes, type PostgresIndexesOptions } from '../../src/engine/search/postgres/indexes.js'
import { SEARCH_SCHEMA } from '../../src/engine/search/postgres/schema.js'
import type { Postgres } from '../../src/engine/store/postgres/postgres.js'
import { newId } from '../../src/lib/ids.js'
import { FakeSource, followBatch } from '../engine/search/fake-source.js'
import { clusteredVectors, seeded } from '../engine/search/random.js'
import { type IndexStorage, runSearchIndexesSuite } from '../engine/search/search-indexes.suite.js'
import { addressOf, connect, createSearchableDatabase, hasVectors, openPostgres } from '../helpers/postgres.js'
import { SUPERUSER } from '../helpers/postgres-server.js'

const MODEL = 'test/model@1'
const DIMENSION = 16
const vectors = clusteredVectors(2_000, DIMENSION, 20, seeded(3))

const nodes = (from: number, count: number): IndexedNode[] =>
  Array.from({ length: count }, (_, i) => {
    const key = from + i
    return { key, doc: (key % 10) + 1, title: `Title ${key}`, body: `common number${key}`, vector: vectors[key]! }
  })

describe.skipIf(!hasVectors)('search in the database', () => {
  let database: string

  beforeAll(async () => {
    database = await createSearchableDatabase()
  })

  async function rows(): Promise<IndexStorage> {
    const db = await openPostgres(database)
    return {
      textEngine: 'postgres',
      open: (options) => createPostgresIndexes({ db, address: addressOf(database), gateway: newId(), ...options }),
      remove: () => db.close(),
    }
  }

  runSearchIndexesSuite('rows of PostgreSQL', rows)

  describe('with several gateways', () => {
    let db: Postgres
    let space: string
    let source: FakeSource
    let opened: SearchIndexes[]

    beforeEach(async () => {
      db = await openPostgres(database)
      space = newId()
      source = new FakeSource(MODEL, DIMENSION)
      opened = []
    })
    afterEach(async () => {
      for (const one of opened) await one.close()
      await db.close()
    })

    async function gateway(options: Partial<PostgresIndexesOptions> = {}): Promise<SearchIndexes> {
      const address = addressOf(database)
      const made = await createPostgresIndexes({ db, address, source, gateway: newId(), graceMs: 10_000, ...options })
      opened.push(made)
      return made
    }

    const find = async (indexes: SearchIndexes, word: string) =>
      (await indexes.search(space, { seq: source.seq, terms: [word], textK: 10, vectorK: 10 })).hits.map(
        ({ key }) => key,
      )

    async function asked(text: string, values: unknown[] = []): Promise<Record<string, unknown>[]> {
      const client = await connect(database, SUPERUSER)
      try {
        return (await client.query(text, values)).rows
      } finally {
        await client.end()
      }
    }

    it('finds at one gateway what another has written, without reading the index log', async () => {
      const [one, other] = [await gateway(), await gateway()]
      await followBatch(one, space, source.commit(nodes(1, 20)))
      expect(await find(other, 'number7')).toEqual([7])
      await followBatch(one, space, source.commit(nodes(30, 5), [7]))
      const read = source.changeRequests.length
      expect(await find(other, 'number31')).toEqual([31])
      expect(await find(other, 'number7')).toEqual([])
      expect(source.changeRequests.length).toBe(read)
      expect(await other.applied()).toEqual(new Map([[space, 2]]))
    })

    it('reads the index log at one gateway while the other gateways wait for it', async () => {
      for (let i = 0; i < 10; i++) source.commit(nodes(i * 50, 50))
      source.delayMs = 30
      const all = [await gateway(), await gateway(), await gateway()]
      await Promise.all(all.map((one) => one.settle(space)))
      expect(source.changeRequests).toEqual([0])
      for (const one of all) expect(await find(one, 'number499')).toEqual([499])
      expect(await all[0]?.status(space)).toMatchObject({ textCount: 500, vectorCount: 500, textWatermark: 10 })
    })

    it('waits for a gateway that died while it read the index log only until its claim expires', async () => {
      const one = await gateway()
      await followBatch(one, space, source.commit(nodes(1, 5)))
      await asked(
        `UPDATE ${SEARCH_SCHEMA}.spaces SET writer = 'dead', writing_until = now() + interval '1 second' WHERE space = $1`,
        [space],
      )
      source.commit(nodes(10, 5))
      expect(await find(one, 'number12')).toEqual([12])
    })

    it('writes nothing at a gateway that has lost its claim', async () => {
      source.commit(nodes(1, 200))
      source.delayMs = 150
      const slow = await gateway({ graceMs: 0 })
      const settled = slow.settle(space)
      await expect
        .poll(
          async () => (await asked(`SELECT writer FROM ${SEARCH_SCHEMA}.spaces WHERE space = $1`, [space]))[0]?.writer,
        )
        .toBeTruthy()
      await asked(
        `UPDATE ${SEARCH_SCHEMA}.spaces SET writer = 'other', writing_until = now() + interval '1 second', watermark = 0 WHERE space = $1`,
        [space],
      )
      const count = async () =>
        Number(
          (
            await asked(
              `SELECT count(*) n FROM ${SEARCH_SCHEMA}.nodes n JOIN ${SEARCH_SCHEMA}.spaces s ON s.key = n.space WHERE s.space = $1`,
              [space],
            )
          )[0]?.n,
        )
      const before = await count()
      // While another process is the writer, nothing is written.
      await new Promise((resolve) => setTimeout(resolve, 500))
      expect(await count()).toBe(before)
      await settled
      expect(await slow.status(space)).toMatchObject({ textCount: 200 })
    })

    it('keeps frequencies, sums and counts equal to the rows over many changes', async () => {
      const [one, other] = [await gateway(), await gateway()]
      const random = seeded(5)
      for (let i = 0; i < 30; i++) {
        const gone = [...source.nodes.keys()].filter(() => random() < 0.1)
        const batch = source.commit(nodes(Math.floor(random() * 1_000), 8), gone)
        await followBatch(i % 2 === 0 ? one : other, space, batch)
      }
      const [key] = await asked(`SELECT key, nodes, length FROM ${SEARCH_SCHEMA}.spaces WHERE space = $1`, [space])
      const differing = await asked(
        `SELECT coalesce(t.lexeme, n.lexeme) lexeme, t.df, n.df FROM (SELECT * FROM ${SEARCH_SCHEMA}.terms WHERE space = $1 AND df <> 0) t
         FULL JOIN (SELECT lexeme, count(*) df FROM ${SEARCH_SCHEMA}.nodes, unnest(tsvector_to_array(terms)) lexeme WHERE space = $1 GROUP BY lexeme) n
         ON n.lexeme = t.lexeme WHERE t.df IS DISTINCT FROM n.df`,
        [key?.key],
      )
      expect(differing).toEqual([])
      const [sums] = await asked(
        `SELECT count(*) nodes, sum(length)::bigint length FROM ${SEARCH_SCHEMA}.nodes WHERE space = $1`,
        [key?.key],
      )
      expect([key?.nodes, key?.length]).toEqual([sums?.nodes, sums?.length])
      expect(Number(sums?.nodes)).toBe(source.nodes.size)
    })

    it('builds a graph index for many vectors, uses it, and removes it with the vectors', async () => {
      const one = await gateway({ graphFrom: 1_000, settleMs: 20 })
      // In batches: the space is open while it grows.
      for (const from of [0, 500, 1_000]) await followBatch(one, space, source.commit(nodes(from, 500)))
      const status = () => one.status(space)
      await expect.poll(async () => (await status()).graphCount).toBe(1_500)
      const search = (docs?: number[]) =>
        one.search(space, {
          ...{ terms: [], vector: vectors[77]!, vectorSpace: MODEL, textK: 10, vectorK: 10 },
          ...(docs === undefined ? {} : { docs }),
        })
      const found = await search()
      expect(found).toMatchObject({ vectorMethod: 'hnsw', vectorCount: 10 })
      expect(found.hits.find(({ key }) => key === 77)?.cosine).toBeCloseTo(1, 3)
      const filtered = await search([8])
      expect(filtered.vectorMethod).toBe('exact')
      expect(filtered.hits.every(({ key }) => key % 10 === 7)).toBe(true)
      await one.drop(space)
      const left = await asked('SELECT 1 FROM pg_indexes WHERE schemaname = $1 AND indexname LIKE $2', [
        SEARCH_SCHEMA,
        'graph%',
      ])
      expect(left).toEqual([])
    })
  })
})
