import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { removeFolder } from '../../../../bench/lib/removed-folder.js'
import { prepareDocument } from '../../../../src/engine/readers/prepare.js'
import { Database } from '../../../../src/engine/store/database.js'
import { sql } from '../../../../src/engine/store/program.js'
import { insertNodes, reserveNodeKeys } from '../../../../src/engine/store/rows/nodes.js'
import { logAdded } from '../../../../src/engine/store/rows/projection-log.js'
import { insertVersionRows, removeUnpublishedVersion } from '../../../../src/engine/store/rows/versions.js'
import { read, words } from '../../readers/read.js'

const directory = mkdtempSync(join(tmpdir(), 'ks-versions-'))
const db = new Database(join(directory, 'main.sqlite'), Date.now)
afterAll(async () => {
  await db.close()
  removeFolder(directory)
})

const log = () =>
  db.now(sql.all('SELECT seq, op, first_node, last_node FROM projection_log WHERE space_key = 7 ORDER BY seq'))

/** Writes a version with its nodes as the compiler does. @returns the keys of its nodes */
async function store(docKey: number, text: string): Promise<number[]> {
  const prepared = await prepareDocument(await read('a.md', text))
  return db.writeNow(function* () {
    const firstNode = yield* reserveNodeKeys(prepared.nodes.length)
    const owner = { spaceKey: 7, docKey, version: 1 }
    const versions = yield* insertVersionRows([{ owner, document: prepared }])
    const versionKey = versions[0]?.versionKey ?? 0
    yield* insertNodes({ ...owner, versionKey, firstNode }, prepared.nodes)
    const keys = prepared.nodes.map(({ ordinal }) => firstNode + ordinal)
    yield* logAdded(7, firstNode, keys.at(-1)!)
    return keys
  })
}

it('discarding an unpublished version records in the index log that its passages are removed', async () => {
  const keys = await store(3, `# Whales\n\n${words(900)}`)
  const dropped = db.writeNow(() => removeUnpublishedVersion(3, 1))
  expect(keys.length).toBeGreaterThan(1)
  expect(dropped).toBe(2)
  expect(log()).toEqual([
    { seq: 1, op: 1, first_node: keys[0], last_node: keys.at(-1) },
    { seq: 2, op: -1, first_node: keys[0], last_node: keys.at(-1) },
  ])
  expect(db.now(sql.get('SELECT count(*) n FROM nodes'))).toEqual({ n: 0 })
  expect(db.writeNow(() => removeUnpublishedVersion(3, 1))).toBe(0)
})

it('a published version is never discarded', async () => {
  await store(4, '# B\n\nText.')
  db.writeNow(() => sql.run('UPDATE versions SET from_revision = 1 WHERE doc_key = 4'))
  expect(db.writeNow(() => removeUnpublishedVersion(4, 1))).toBe(0)
  expect(db.now(sql.get('SELECT count(*) n FROM versions WHERE doc_key = 4'))).toEqual({ n: 1 })
})

it('row keys of removed passages are not reused', async () => {
  const first = await store(5, '# C\n\nText.')
  db.writeNow(() => removeUnpublishedVersion(5, 1))
  const second = await store(5, '# C\n\nText.')
  expect(second[0]).toBeGreaterThan(first.at(-1)!)
})
