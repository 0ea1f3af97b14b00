import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { prepareDocument } from '../../../src/engine/parse/prepare.js'
import { dropUnpublished, insertVersion } from '../../../src/engine/rows/versions.js'
import { Database } from '../../../src/engine/storage/database.js'
import { sql } from '../../../src/engine/storage/program.js'
import { read, words } from '../parse/read.js'

const directory = mkdtempSync(join(tmpdir(), 'ks-versions-'))
const db = new Database(join(directory, 'main.sqlite'))
afterAll(async () => {
  await db.close()
  rmSync(directory, { recursive: true, force: true })
})

const log = () =>
  db.now(sql.all('SELECT seq, op, first_node, last_node FROM projection_log WHERE space_key = 7 ORDER BY seq'))

it('a version that is given up is taken out of the index that may know it', async () => {
  const prepared = await prepareDocument(await read('a.md', `# Whales\n\n${words(900)}`))
  const owner = { spaceKey: 7, docKey: 3, version: 1 }
  const written = db.writeNow(() => insertVersion(owner, prepared))
  const dropped = db.writeNow(() => dropUnpublished(3, 1))
  const keys = Array.from({ length: prepared.nodes.length }, (_, place) => written.firstNode! + place)
  expect(keys.length).toBeGreaterThan(1)
  expect(dropped).toEqual({ seq: written.seq! + 1, add: [], remove: keys })
  expect(log()).toMatchObject([
    { op: 1, first_node: written.firstNode },
    { op: -1, last_node: written.lastNode },
  ])
  expect(db.now(sql.get('SELECT count(*) n FROM nodes'))).toEqual({ n: 0 })
  expect(db.writeNow(() => dropUnpublished(3, 1))).toBeUndefined()
})

it('a published version is never given up', async () => {
  const prepared = await prepareDocument(await read('b.md', '# B\n\nText.'))
  db.writeNow(() => insertVersion({ spaceKey: 7, docKey: 4, version: 1 }, prepared))
  db.writeNow(() => sql.run('UPDATE versions SET from_revision = 1 WHERE doc_key = 4'))
  expect(db.writeNow(() => dropUnpublished(4, 1))).toBeUndefined()
  expect(db.now(sql.get('SELECT count(*) n FROM versions WHERE doc_key = 4'))).toEqual({ n: 1 })
})
