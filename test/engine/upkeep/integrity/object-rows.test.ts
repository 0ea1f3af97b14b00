import { existsSync, rmSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ObjectStore } from '../../../../src/engine/store/objects.js'
import { rowsOf } from '../../../helpers/databases.js'
import { ADA, startEngine, type TestEngine } from '../../../helpers/engine.js'
import { allIssues, codes, repairAll, spaceWith } from './space.js'

const HOURS_AGO = new Date(Date.now() - 3 * 60 * 60 * 1000)
const ROWS = 'SELECT tenant, sha256, state, loose_since FROM objects ORDER BY tenant, sha256'

let running: TestEngine
let space: { id: string; names: string[] }

beforeEach(async () => {
  running = await startEngine()
  space = await spaceWith(running.engine, 'rows', 3)
})
afterEach(() => running.end())

test('fsck reports an object without a row and a row without bytes, and a repair fixes both', async () => {
  const { engine, dataDir } = running
  const { items } = await engine.documents.list(ADA, space.id, { limit: 10 })
  const [first, second] = items
  if (first === undefined || second === undefined) throw new Error('too few documents')
  const values = [ADA.tenant, 'ab'.repeat(32), 'live', 'a life', HOURS_AGO.getTime()]
  await rowsOf(dataDir).run('DELETE FROM objects WHERE sha256 = ?', first.sha256)
  await rowsOf(dataDir).run(
    'INSERT INTO objects (tenant, sha256, state, life, touched_at) VALUES (?, ?, ?, ?, ?)',
    ...values,
  )
  expect(codes(await allIssues(engine, space.id))).toEqual({ 'object-without-row': 1, 'object-without-bytes': 1 })
  const items2 = await repairAll(engine, space.id, false)
  expect(items2.map((item) => item.status)).toEqual(['repaired', 'repaired'])
  expect(await allIssues(engine, space.id)).toEqual([])
  const rows = rowsOf(dataDir).all<{ sha256: string }>(ROWS)
  expect(rows.map((row) => row.sha256)).toEqual(items.map((item) => item.sha256).sort())
})

test('the row of an object whose bytes are missing stays while a document needs the object', async () => {
  const { engine, dataDir } = running
  const [first] = (await engine.documents.list(ADA, space.id, { limit: 10 })).items
  if (first === undefined) throw new Error('no document')
  rmSync(join(dataDir, 'objects', first.objectKey))
  await rowsOf(dataDir).run('UPDATE objects SET touched_at = ?', HOURS_AGO.getTime())
  expect(codes(await allIssues(engine, space.id, 'raw-objects'))).toEqual({ 'raw-object-missing': 1 })
  await engine.documents.delete(ADA, space.id, [first.id])
  expect(await allIssues(engine, space.id, 'raw-objects')).toEqual([])
  const rows = rowsOf(dataDir).all(ROWS)
  expect(rows).toHaveLength(2)
})

test('a garbage collection of an orphaned object removes its row', async () => {
  const { engine, dataDir } = running
  const [first] = (await engine.documents.list(ADA, space.id, { limit: 10 })).items
  if (first === undefined) throw new Error('no document')
  const path = join(dataDir, 'objects', ObjectStore.key(ADA.tenant, first.sha256))
  const rows = rowsOf(dataDir)
  await rows.run('DELETE FROM staged_commits WHERE document_id = ?', first.id)
  await rows.run('DELETE FROM jobs WHERE doc_key = (SELECT key FROM documents WHERE id = ?)', first.id)
  await rows.run('DELETE FROM documents WHERE id = ?', first.id)
  utimesSync(path, HOURS_AGO, HOURS_AGO)
  const { candidates } = await engine.integrity.gcDryRun(ADA, space.id, {})
  const mine = candidates.filter((candidate) => candidate.target.objectKey === first.objectKey)
  expect(mine).toHaveLength(1)
  expect(await engine.integrity.gcExecute(ADA, space.id, mine)).toMatchObject({ deleted: 1 })
  expect(existsSync(path)).toBe(false)
  expect(rowsOf(dataDir).all(ROWS)).toHaveLength(2)
})
