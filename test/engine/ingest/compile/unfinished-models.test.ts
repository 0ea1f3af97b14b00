import { afterEach, expect, it } from 'vitest'
import { newId } from '../../../../src/lib/ids.js'
import { rowsOf } from '../../../helpers/databases.js'
import { ADA, ingest, startEngine, type TestEngine } from '../../../helpers/engine.js'
import { until } from '../../../helpers/until.js'

const VECTORS = 5_000
const HALF_BUILT = newId()

let test: TestEngine
afterEach(() => test.end())

const count = (query: string) => rowsOf(test.dataDir).value(query)

it('an embedding model half built before a crash is removed in the background after the start', async () => {
  test = await startEngine()
  const { id } = await test.engine.spaces.create(ADA, { name: 'N', slug: 'n' })
  await ingest(test.engine, ADA, id, { 'a.md': '# A\n\nThe lamp is blue.\n' })
  await test.engine.close()
  const rows = rowsOf(test.dataDir)
  await rows.run(
    `INSERT INTO vector_spaces (id, space_key, revision, dimension, trained_nodes, state, created_at)
     SELECT '${HALF_BUILT}', key, 1, 2, 2, 'building', 1 FROM spaces`,
  )
  await rows.run(
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${VECTORS})
     INSERT INTO vectors (vector_space, node_key, vector)
     SELECT key, 1000000 + i, x'00000000' FROM vector_spaces, n WHERE id = '${HALF_BUILT}'`,
  )
  // Removal is impossible now: a start that waited for it would not return.
  await rows.run("CREATE TRIGGER held BEFORE DELETE ON vectors BEGIN SELECT RAISE(ABORT, 'held'); END")
  await test.reopen()
  expect((await test.engine.spaces.get(ADA, id)).id).toBe(id)
  expect(count("SELECT count(*) FROM vector_spaces WHERE state = 'superseded'")).toBe(1)
  await test.engine.close()
  await rowsOf(test.dataDir).run('DROP TRIGGER held')
  await test.reopen()
  await until(() => count(`SELECT count(*) FROM vector_spaces WHERE id = '${HALF_BUILT}'`) === 0)
  expect(count('SELECT count(*) FROM vectors WHERE node_key > 1000000')).toBe(0)
})
