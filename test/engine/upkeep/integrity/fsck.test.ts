import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { createSearchIndexes } from '../../../../src/engine/search/indexes.js'
import type { IndexedNode } from '../../../../src/engine/search/ports.js'
import { backend } from '../../../helpers/backend.js'
import { rowsOf } from '../../../helpers/databases.js'
import { ADA, ask, BOB, ingest, startEngine, type TestEngine } from '../../../helpers/engine.js'
import { until } from '../../../helpers/until.js'
import { allIssues, codes, noteText, repairAll, spaceWith } from './space.js'

let running: TestEngine | undefined
afterEach(async () => {
  await running?.end()
  running = undefined
})

async function start(): Promise<TestEngine> {
  running = await startEngine()
  return running
}

/** Files of all objects, in a stable order. */
function objectFiles(dataDir: string): string[] {
  return readdirSync(join(dataDir, 'objects'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /^[0-9a-f]{64}$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
}

function overwrite(path: string, bytes: Uint8Array): void {
  chmodSync(path, 0o600)
  writeFileSync(path, bytes)
}

/** A text that shares words with others, so that a model can be trained on them. */
function sharedWords(place: number): string {
  const words = Array.from({ length: 40 }, (_, word) => `subject${(place * 7 + word * word * 3) % 90}`)
  return `# Text ${place}\n\n${words.join(' ')} only${place}\n`
}

const HOURS_AGO = new Date(Date.now() - 3 * 60 * 60 * 1000)

test('an undamaged space has no issues, neither in a deep check nor in a quick one', async () => {
  const { engine } = await start()
  const { id } = await spaceWith(engine, 'calm', 12)
  expect(await allIssues(engine, id, 'all', true)).toEqual([])
  const report = await engine.integrity.fsck(ADA, id, { check: 'raw-objects', deep: false })
  expect(report).toMatchObject({ knowledgeSpaceId: id, tenantId: ADA.tenant, issues: [] })
  expect(report.summary).toMatchObject({ critical: 0, error: 0, warning: 0, info: 0, repairable: 0 })
  expect(report.summary.scanned).toBeGreaterThanOrEqual(12)
  await expect(engine.integrity.fsck(BOB, id, { check: 'raw-objects', deep: false })).rejects.toMatchObject({
    code: 'not-found',
  })
})

test('F31: fsck reports each of 200 objects with a flipped bit, and missing, truncated and extended objects', {
  timeout: 60_000,
}, async () => {
  const { engine, dataDir } = await start()
  const { id } = await spaceWith(engine, 'bits', 203)
  const files = objectFiles(dataDir)
  expect(files).toHaveLength(203)
  const [lost, short, grown, ...rest] = files as [string, string, string, ...string[]]
  rmSync(lost)
  overwrite(short, readFileSync(short).subarray(1))
  overwrite(grown, Buffer.concat([readFileSync(grown), Buffer.from(' ')]))
  for (const path of rest) {
    const bytes = readFileSync(path)
    const bit = Math.floor(Math.random() * bytes.length * 8)
    bytes[bit >> 3]! ^= 1 << (bit & 7)
    overwrite(path, bytes)
  }
  const issues = await allIssues(engine, id, 'raw-objects')
  expect(codes(issues)).toEqual({ 'raw-object-hash': 200, 'raw-object-missing': 1, 'raw-object-size': 2 })
  expect(new Set(issues.map((issue) => issue.target.documentAssetId)).size).toBe(203)
  expect(new Set(issues.map((issue) => issue.repairability))).toEqual(new Set(['manual']))
  // Uploading the same bytes again repairs the object.
  const place = 17
  await ingest(engine, ADA, id, { [`notes/bits-${place}.md`]: noteText('bits', place) })
  expect(await allIssues(engine, id, 'raw-objects')).toHaveLength(202)
})

test('F34: fsck reports both of two objects whose contents were swapped', async () => {
  const { engine, dataDir } = await start()
  const { id } = await engine.spaces.create(ADA, { name: 'Swap', slug: 'swap' })
  await ingest(engine, ADA, id, { 'a.txt': 'The first text.', 'b.txt': 'A second one..' })
  await ingest(engine, ADA, id, { 'c.txt': 'The third text.' })
  const [one, two] = objectFiles(dataDir).filter((path) => readFileSync(path, 'utf8').startsWith('The'))
  const [first, second] = [readFileSync(one!), readFileSync(two!)]
  overwrite(one!, second)
  overwrite(two!, first)
  expect(codes(await allIssues(engine, id, 'raw-objects'))).toEqual({ 'raw-object-hash': 2 })
})

test('old unreferenced objects are reported, and a repair removes them; foreign files stay', async () => {
  const { engine, dataDir } = await start()
  const { id } = await spaceWith(engine, 'strays', 2)
  const [known] = objectFiles(dataDir)
  const folder = join(known!, '..', '..', 'ab')
  mkdirSync(folder, { recursive: true })
  const orphan = join(folder, `ab${'0'.repeat(62)}`)
  const young = join(folder, `ab${'1'.repeat(62)}`)
  const odd = join(folder, 'notes.txt')
  for (const path of [orphan, young, odd]) writeFileSync(path, 'left behind')
  utimesSync(orphan, HOURS_AGO, HOURS_AGO)
  const issues = await allIssues(engine, id, 'raw-objects')
  expect(codes(issues)).toEqual({ 'orphaned-object': 1, 'unknown-file': 1 })
  const dry = await repairAll(engine, id, true)
  expect(dry.map((item) => item.status).sort()).toEqual(['not-repairable', 'would-repair'])
  const repaired = await repairAll(engine, id)
  expect(repaired.map((item) => item.status).sort()).toEqual(['not-repairable', 'repaired'])
  expect(codes(await allIssues(engine, id))).toEqual({ 'unknown-file': 1 })
  expect(readdirSync(folder).sort()).toEqual([`ab${'1'.repeat(62)}`, 'notes.txt'])
})

test('an unreferenced object is reported in one space: that of its last upload, or the oldest one', async () => {
  const { engine, dataDir } = await start()
  const first = await spaceWith(engine, 'first', 1)
  const second = await spaceWith(engine, 'second', 1)
  const folder = join(objectFiles(dataDir)[0]!, '..', '..', 'ab')
  mkdirSync(folder, { recursive: true })
  for (const digit of ['0', '1']) {
    writeFileSync(join(folder, `ab${digit.repeat(62)}`), 'left behind')
    utimesSync(join(folder, `ab${digit.repeat(62)}`), HOURS_AGO, HOURS_AGO)
  }
  const shown = async (id: string) => (await allIssues(engine, id, 'raw-objects')).map(({ target }) => target.objectKey)
  expect(await shown(first.id)).toHaveLength(2)
  expect(await shown(second.id)).toEqual([])
  const [known] = await shown(first.id)
  await rowsOf(dataDir).run(
    "UPDATE staged_commits SET published_object_key = ?, status = 'published' WHERE space_key = 2",
    known ?? null,
  )
  expect(await shown(first.id)).toHaveLength(1)
  expect(await shown(second.id)).toEqual([known])
})

test('fsck during a compilation reports that it could not compare the indexes', async () => {
  const { engine, dataDir } = await start()
  const { id } = await spaceWith(engine, 'busy', 3)
  // A row removed without the counters: nothing refills the index automatically.
  await rowsOf(dataDir).run('DELETE FROM nodes WHERE key = 1')
  await rowsOf(dataDir).run(
    "INSERT INTO vector_spaces (id, space_key, revision, dimension, state, created_at) VALUES ('v', 1, 9, 4, 'building', 1)",
  )
  const issues = await allIssues(engine, id, 'references')
  const issue = issues.find(({ code }) => code === 'index-not-compared')
  expect(issue).toMatchObject({ severity: 'info', repairability: 'not-repairable' })
  expect(issues.filter(({ type }) => type === 'stale-projection')).toEqual([issue])
  await rowsOf(dataDir).run("DELETE FROM vector_spaces WHERE id = 'v'")
  expect(codes(await allIssues(engine, id, 'references'))).toEqual({ 'node-missing': 1, 'text-count': 1 })
})

test('a file with missing or truncated bytes does not count as unchanged, and an upload repairs it', async () => {
  const { engine, dataDir } = await start()
  const { id } = await engine.spaces.create(ADA, { name: 'Heal', slug: 'heal' })
  const text = 'The only text of this space.'
  const [{ asset }] = await ingest(engine, ADA, id, { 'a.txt': text })
  const status = async () => {
    const { items } = await engine.documents.check(ADA, id, { items: [{ filename: 'a.txt', sha256: asset.sha256 }] })
    return items[0]?.status
  }
  expect(await status()).toBe('unchanged')
  for (const damage of [(path: string) => overwrite(path, Buffer.from('cut')), (path: string) => rmSync(path)]) {
    damage(join(dataDir, 'objects', asset.objectKey))
    expect(await status()).toBe('changed')
    expect((await ingest(engine, ADA, id, { 'a.txt': text }))[0]!.asset.id).toBe(asset.id)
    expect(await status()).toBe('unchanged')
  }
})

const DAMAGES: [string, string, string[]][] = [
  ['a missing artifact', "UPDATE versions SET artifact = x'' WHERE key = 1", ['artifact-unreadable']],
  ['an artifact with other bytes', "UPDATE versions SET artifact = x'0102' WHERE key = 1", ['artifact-unreadable']],
  [
    'the artifact of another document',
    'UPDATE versions SET artifact = (SELECT artifact FROM versions WHERE key = 2) WHERE key = 1',
    ['artifact-hash'],
  ],
  ['a missing outline', "UPDATE versions SET outline = x'' WHERE key = 1", ['outline-unreadable']],
  ['an unreadable list of items', "UPDATE versions SET items = x'00' WHERE key = 1", ['items-unreadable']],
  ['a wrong artifact hash', "UPDATE versions SET artifact_hash = 'x' WHERE key = 1", ['artifact-hash', 'row-damaged']],
  ['a passage with other text', "UPDATE nodes SET text = text || '.' WHERE key = 2", ['node-hash']],
  ['a passage with another hash', "UPDATE nodes SET row_hash = x'00' WHERE key = 2", ['node-hash', 'row-damaged']],
  ['a passage without a section', "UPDATE nodes SET outline_node = 's99' WHERE key = 2", ['section-missing']],
  ['a passage without an element', `UPDATE nodes SET elements = '["e999"]' WHERE key = 2`, ['element-missing']],
  [
    'an invalid list of elements',
    "UPDATE nodes SET elements = 'e1' WHERE key = 2",
    ['elements-unreadable', 'row-damaged'],
  ],
  ['a missing passage', 'DELETE FROM nodes WHERE key = 2', ['node-missing', 'text-count']],
]

test.each(DAMAGES)(
  'fsck reports %s, and a repair restores it from the bytes of the document',
  async (_name, damage, expected) => {
    const { engine, dataDir } = await start()
    const { id } = await spaceWith(engine, 'parts', 3)
    await rowsOf(dataDir).run(damage)
    const found = await allIssues(engine, id)
    expect(Object.keys(codes(found)).sort()).toEqual(expected)
    expect(found.every((issue) => issue.repairability === 'auto-repairable')).toBe(true)
    const items = await repairAll(engine, id)
    expect(items.filter((item) => item.status !== 'repaired')).toEqual([])
    expect(await allIssues(engine, id, 'all', true)).toEqual([])
    expect((await ask(engine, ADA, id, 'zebraparts0')).done.finishReason).toBe('retrieval-evidence')
  },
)

test('fsck reports damaged and missing pictures inside documents, and a repair extracts them again', async () => {
  const { engine, dataDir } = await start()
  const { id } = await engine.spaces.create(ADA, { name: 'Pictures', slug: 'pictures' })
  const fixture = new URL('../../../fixtures/docs/contains-pictures.docx', import.meta.url)
  await ingest(engine, ADA, id, { 'pictures.docx': readFileSync(fixture) })
  expect(await allIssues(engine, id)).toEqual([])
  await rowsOf(dataDir).run(
    "UPDATE item_assets SET bytes = x'00' WHERE item_id = (SELECT min(item_id) FROM item_assets)",
  )
  expect(codes(await allIssues(engine, id))).toEqual({ 'item-hash': 1 })
  await repairAll(engine, id)
  expect(await allIssues(engine, id)).toEqual([])
  await rowsOf(dataDir).run('DELETE FROM item_assets')
  expect(Object.keys(codes(await allIssues(engine, id)))).toEqual(['item-missing'])
  await repairAll(engine, id)
  expect(await allIssues(engine, id)).toEqual([])
})

test('a repair rebuilds the artifact of a document with damaged bytes from its passages', async () => {
  const { engine, dataDir } = await start()
  const { id } = await spaceWith(engine, 'both', 1)
  const [path] = objectFiles(dataDir)
  overwrite(path!, Buffer.from('nothing of it'))
  await rowsOf(dataDir).run("UPDATE versions SET artifact = x'', outline = x''")
  await repairAll(engine, id)
  const left = await allIssues(engine, id)
  expect(codes(left)).toEqual({ 'raw-object-size': 1 })
  const [document] = (await engine.documents.list(ADA, id, { limit: 1 })).items
  const artifact = await engine.documents.parseArtifact(ADA, id, document!.id, 1).then((body) => body.value())
  expect(artifact.elements.map((element) => element.text).join(' ')).toContain('zebraboth0')
  expect((await engine.documents.outline(ADA, id, document!.id).then((body) => body.value())).nodes).not.toEqual([])
})

test('a repair removes a passage without a version', async () => {
  const { engine, dataDir } = await start()
  const { id } = await spaceWith(engine, 'loose', 2)
  await rowsOf(
    dataDir,
  ).run(`INSERT INTO nodes (key, id, space_key, doc_key, version_key, ordinal, title, text, section, outline_node, elements,
        start_offset, end_offset, kind, row_hash)
      SELECT 9001, '018f0000-0000-7000-8000-00000000aaaa', space_key, doc_key, 9001, 0, title, text, section, outline_node,
        elements, start_offset, end_offset, kind, row_hash FROM nodes WHERE key = 1`)
  expect(codes(await allIssues(engine, id))).toEqual({ 'node-without-version': 1 })
  await repairAll(engine, id)
  expect(await allIssues(engine, id)).toEqual([])
})

test('a repair creates a new job for a document without a version', async () => {
  const { engine, dataDir } = await start()
  const { id } = await spaceWith(engine, 'jobless', 2)
  await rowsOf(dataDir).run('UPDATE versions SET from_revision = NULL, until_revision = 1 WHERE key = 1')
  const found = await allIssues(engine, id, 'artifact-segments')
  expect(codes(found)).toEqual({ 'version-missing': 1 })
  await repairAll(engine, id)
  await until(async () => (await allIssues(engine, id, 'artifact-segments')).length === 0)
})

/** Changes the index of a space without its rows, as a fault would. */
async function spoilIndex(dataDir: string, space: string, change: { add: IndexedNode[]; remove: number[] }) {
  const seq = rowsOf(dataDir).value('SELECT max(seq) FROM projection_log')
  let nodes = 8
  const indexes = createSearchIndexes({
    dir: join(dataDir, 'indexes'),
    watermarkLagMs: 0,
    source: {
      inSpace: (_space, work) => work(),
      head: async () => ({ seq }),
      oldestEntry: async () => 1,
      expectedCounts: async () => ({ seq, nodes, vectors: 0 }),
      countRows: async () => ({ seq, nodes, vectors: 0 }),
      async *changes() {},
      async *vectors() {},
      async *vectorSums() {},
      async *vectorsOfNodes() {},
    },
  })
  await indexes.settle(space)
  nodes -= change.remove.length
  await indexes.follow(space, seq + 1, { first: seq + 1, seq: seq + 1, ...change })
  expect((await indexes.status(space)).textWatermark).toBe(seq + 1)
  await indexes.close()
  await logRemoval(dataDir, 9999)
}

/** Waits until the watermark on disk has caught up with the text index. */
async function untilWatermarkIsWritten(dataDir: string, space: string): Promise<void> {
  const dir = join(dataDir, 'indexes', space)
  const head = rowsOf(dataDir).value('SELECT max(seq) FROM projection_log')
  await until(() => {
    const file = readdirSync(dir, { recursive: true, encoding: 'utf8' }).find((path) => path.endsWith('watermark.json'))
    return file !== undefined && JSON.parse(readFileSync(join(dir, file), 'utf8')).seq === head
  })
}

async function logRemoval(dataDir: string, key: number): Promise<void> {
  await rowsOf(dataDir).run(`UPDATE space_counters SET seq = seq + 1 WHERE space_key = 1;
    INSERT INTO projection_log SELECT space_key, seq, -1, ${key}, ${key} FROM space_counters WHERE space_key = 1`)
}

test('an index that lost passages refills itself; a deep repair rebuilds an index with a wrong passage', {
  timeout: 60_000,
}, async () => {
  const test = await start()
  const { id } = await spaceWith(test.engine, 'index', 8)
  await untilWatermarkIsWritten(test.dataDir, id)
  await test.engine.close()
  await spoilIndex(test.dataDir, id, { remove: [1, 5], add: [] })
  await test.reopen()
  expect(await allIssues(test.engine, id, 'all', true)).toEqual([])

  await untilWatermarkIsWritten(test.dataDir, id)
  await test.engine.close()
  await spoilIndex(test.dataDir, id, { remove: [], add: [{ key: 2, doc: 1, title: 'x', body: 'nobody' }] })
  await test.reopen()
  const { engine } = test
  expect(await allIssues(engine, id, 'references')).toEqual([])
  expect(codes(await allIssues(engine, id, 'references', true))).toEqual({ 'text-lost': 1 })
  const deep = { dryRun: false, check: 'references', deep: true } as const
  expect((await engine.integrity.repair(ADA, id, deep)).items).toMatchObject([{ status: 'repaired' }])
  expect(await allIssues(engine, id, 'all', true)).toEqual([])
})

test('fsck reports damaged, missing and unowned vectors, and a repair restores or removes them', {
  timeout: 90_000,
}, async () => {
  const { engine, dataDir } = await start()
  const { id } = await engine.spaces.create(ADA, { name: 'Vectors', slug: 'vectors' })
  await ingest(
    engine,
    ADA,
    id,
    Object.fromEntries(Array.from({ length: 120 }, (_, place) => [`v-${place}.md`, sharedWords(place)])),
  )
  const ready = async () => (await engine.spaces.stats(ADA, id, { windowMinutes: 60 })).projections.denseVector.ready
  await until(async () => (await ready()) === 120)
  // The model is trained once more after more documents arrived, and then stays.
  const trained = () => rowsOf(dataDir).value("SELECT max(trained_nodes) n FROM vector_spaces WHERE state = 'active'")
  await until(async () => trained() === 120 && (await engine.activity()).backgroundTasks === 0)
  expect(await allIssues(engine, id, 'references', true)).toEqual([])
  const { run } = rowsOf(dataDir)
  await run('UPDATE vectors SET vector = zeroblob(length(vector)) WHERE node_key IN (3, 4)')
  await run("UPDATE vectors SET vector = x'00' WHERE node_key = 5")
  await run('DELETE FROM vectors WHERE node_key IN (6, 7)')
  // On PostgreSQL a vector names its tenant in the last column.
  const tenant = backend === 'pg' ? ', tenant' : ''
  await run(`INSERT INTO vectors SELECT vector_space, 9999, vector${tenant} FROM vectors WHERE node_key = 8`)
  // The daemon compares counts, too, and may have been first.
  const { 'vector-count': count, ...found } = codes(await allIssues(engine, id, 'references'))
  expect([1, undefined]).toContain(count)
  expect(found).toEqual({ 'vector-damaged': 3, 'vector-missing': 2, 'vector-without-node': 1 })
  const items = await repairAll(engine, id)
  expect(items.filter((item) => item.status !== 'repaired')).toEqual([])
  expect(await allIssues(engine, id, 'references', true)).toEqual([])
  expect(await ready()).toBe(120)
})

test('F29: a removed index folder is rebuilt completely by the next start', async () => {
  const test = await start()
  const { id } = await spaceWith(test.engine, 'folder', 4)
  await test.engine.close()
  rmSync(join(test.dataDir, 'indexes'), { recursive: true })
  test.engine = await (await import('../../../../src/engine/index.js')).openEngine(
    (await import('../../../helpers/engine.js')).engineOptions(test.dataDir),
  )
  expect(await allIssues(test.engine, id, 'all', true)).toEqual([])
})

test('a cursor of fsck continues after a full page, and is valid for its own check only', {
  timeout: 60_000,
}, async () => {
  const { engine, dataDir } = await start()
  const { id } = await spaceWith(engine, 'pages', 400)
  for (const path of objectFiles(dataDir)) rmSync(path)
  await rowsOf(dataDir).run("UPDATE nodes SET text = text || '!'; UPDATE versions SET artifact = x'', items = x''")
  expect(await allIssues(engine, id, 'raw-objects')).toHaveLength(400)
  const first = await engine.integrity.fsck(ADA, id, { check: 'artifact-segments', deep: false })
  expect(first.issues.length).toBeLessThanOrEqual(1000)
  const all = await allIssues(engine, id, 'artifact-segments')
  expect(new Set(all.map((issue) => `${issue.code} ${issue.target.id}`)).size).toBe(all.length)
  expect(codes(all)).toEqual({ 'artifact-unreadable': 400, 'items-unreadable': 400, 'node-hash': 400 })
  expect(first.cursor).toBeDefined()

  await expect(
    engine.integrity.fsck(ADA, id, { check: 'references', deep: false, cursor: first.cursor }),
  ).rejects.toMatchObject({ code: 'invalid-cursor' })
})
