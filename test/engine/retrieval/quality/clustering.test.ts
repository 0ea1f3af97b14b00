import { afterEach, beforeEach, expect, test } from 'vitest'
import { rowsOf } from '../../../helpers/databases.js'
import { ADA, ask, ingest, startEngine, type TestEngine } from '../../../helpers/engine.js'
import { until } from '../../../helpers/until.js'

let test_: TestEngine
let spaceId = ''

beforeEach(async () => {
  test_ = await startEngine()
  const { id } = await test_.engine.spaces.create(ADA, { name: 'yard', slug: 'yard' })
  spaceId = id
  await ingest(test_.engine, ADA, id, {
    'yard.md': '# Yard\n\nParking in the yard costs two euros an hour. The gate closes at nine in the evening.\n',
    'laser.md': '# Laser\n\nThe laser cutter cuts steel up to four millimetres thick.\n',
  })
})
afterEach(() => test_.end())

interface Row {
  id: string
  query: string
  cluster_key: string
  unclustered: number
}

const rows = () =>
  rowsOf(test_.dataDir).all<Row>('SELECT id, query, cluster_key, unclustered FROM failed_queries ORDER BY id')

const change = (sql: string) => rowsOf(test_.dataDir).run(sql)

/** Asks questions that nothing answers, and waits until they are captured. */
async function fail(...queries: string[]): Promise<void> {
  for (const query of queries) {
    await ask(test_.engine, ADA, spaceId, query)
    await until(() => rows().some((row) => row.query === query))
  }
}

const compared = () => rows().every(({ unclustered }) => unclustered === 0)

test('failed queries stay unclustered while queries arrive, and are clustered after a quiet period', async () => {
  await fail('Who is the mayor of Vienna?', 'Vienna: who is mayor?')
  expect(rows().map(({ unclustered }) => unclustered)).toEqual([1, 1])
  expect(new Set(rows().map(({ cluster_key }) => cluster_key)).size).toBe(2)
  await until(compared)
  expect(new Set(rows().map(({ cluster_key }) => cluster_key)).size).toBe(1)
})

test('listing the clusters of failed queries clusters the newly captured ones before it replies', async () => {
  await fail('Who is the mayor of Vienna?', 'Vienna: who is mayor?')
  const { clusters } = await test_.engine.quality.failed.clusters(ADA, spaceId, { limit: 9 })
  expect(clusters.map(({ count }) => count)).toEqual([2])
  expect(compared()).toBe(true)
})

test('failed queries captured before the engine stopped are clustered after its next start', async () => {
  await fail('Who is the mayor of Vienna?', 'Vienna: who is mayor?')
  await test_.engine.close()
  expect(compared()).toBe(false)
  await test_.reopen()
  await until(compared)
  expect(new Set(rows().map(({ cluster_key }) => cluster_key)).size).toBe(1)
})

test('a failed query with damaged metadata stays in its own cluster, and later queries are clustered', async () => {
  await fail('How do I knit a jumper?', 'Who is the mayor of Vienna?', 'Vienna: who is mayor?')
  await test_.engine.close()
  await change(`UPDATE failed_queries SET metadata = '{' WHERE query LIKE '%jumper%'`)
  await test_.reopen()
  await until(compared)
  const [damaged, ...others] = rows()
  expect(new Set(others.map(({ cluster_key }) => cluster_key)).size).toBe(1)
  expect(others[0]?.cluster_key).not.toBe(damaged?.cluster_key)
})
