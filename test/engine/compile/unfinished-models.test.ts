import { afterEach, expect, it } from 'vitest'
import { newId } from '../../../src/lib/ids.js'
import { ADA, ingest, startEngine, type TestEngine } from '../../helpers/engine.js'
import { until } from '../../helpers/until.js'
import { sql } from '../integrity/space.js'

const VECTORS = 5_000
const HALF_BUILT = newId()

let test: TestEngine
afterEach(() => test.end())

const count = (query: string) => sql(test.dataDir, (db) => Number(db.prepare(query).pluck().get()))

it('a model that a crash left half built is removed behind the start, in slices', async () => {
  test = await startEngine()
  const { id } = await test.engine.spaces.create(ADA, { name: 'N', slug: 'n' })
  await ingest(test.engine, ADA, id, { 'a.md': '# A\n\nThe lamp is blue.\n' })
  await test.engine.close()
  sql(test.dataDir, (db) => {
    const space = db.prepare('SELECT key FROM spaces').pluck().get()
    const model = db
      .prepare(
        `INSERT INTO vector_spaces (id, space_key, revision, dimension, trained_nodes, state, created_at)
         VALUES (?, ?, 1, 2, 2, 'building', 1)`,
      )
      .run(HALF_BUILT, space).lastInsertRowid
    const insert = db.prepare("INSERT INTO vectors (vector_space, node_key, vector) VALUES (?, ?, x'00000000')")
    db.transaction(() => {
      for (let node = 1; node <= VECTORS; node++) insert.run(model, 1_000_000 + node)
    })()
    // nothing can be removed: a start that waits for that does not come
    db.exec("CREATE TRIGGER held BEFORE DELETE ON vectors BEGIN SELECT RAISE(ABORT, 'held'); END")
  })
  await test.reopen()
  expect((await test.engine.spaces.get(ADA, id)).id).toBe(id)
  expect(count("SELECT count(*) FROM vector_spaces WHERE state = 'superseded'")).toBe(1)
  await test.engine.close()
  sql(test.dataDir, (db) => db.exec('DROP TRIGGER held'))
  await test.reopen()
  await until(() => count(`SELECT count(*) FROM vector_spaces WHERE id = '${HALF_BUILT}'`) === 0)
  expect(count('SELECT count(*) FROM vectors WHERE node_key > 1000000')).toBe(0)
})
