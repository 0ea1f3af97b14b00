import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { isFile } from '../../../helpers/backend.js'
import { rowsOf } from '../../../helpers/databases.js'
import { ADA, ask, ingest, startEngine, type TestEngine } from '../../../helpers/engine.js'
import { until } from '../../../helpers/until.js'

const DAY = 24 * 60 * 60 * 1000
const TEXT = (name: string) =>
  `# ${name}\n\nThe lighthouse of ${name} was built in 1908 by Adolf Bertram.\n\n![a dot](data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==)\n`

let ahead = 0
let test: TestEngine
beforeEach(async () => {
  ahead = 0
  test = await startEngine({ now: () => Date.now() + ahead })
})
afterEach(() => test.end())

const read = <T>(sql: string) => rowsOf(test.dataDir).all<T>(sql)

/** Rows of each table, by their space if they name one. */
function rowsBySpace(): Map<string, number> {
  const counts = new Map<string, number>()
  const tables = read<{ name: string }>(
    isFile
      ? "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name"
      : "SELECT tablename name FROM pg_tables WHERE schemaname = 'public' ORDER BY tablename",
  )
  for (const { name } of tables) {
    const hasSpace = read<{ name: string }>(`SELECT name FROM pragma_table_info('${name}')`).some(
      (column) => column.name === 'space_key',
    )
    for (const { space, n } of read<{ space: number | null; n: number }>(
      `SELECT ${hasSpace ? 'space_key' : 'NULL'} space, count(*) n FROM ${name} GROUP BY 1`,
    ))
      counts.set(`${name} ${space ?? ''}`.trim(), n)
  }
  return counts
}

const objects = () =>
  readdirSync(join(test.dataDir, 'objects'), { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    .length

/** Deleted documents that still have rows, and live versions without a page index. */
const LEFT_TO_DO = `SELECT 1 FROM documents WHERE deleted_at IS NOT NULL UNION ALL
  SELECT 1 FROM versions v WHERE from_revision IS NOT NULL AND until_revision IS NULL AND node_count > 0
    AND NOT EXISTS (SELECT 1 FROM page_index WHERE version_key = v.key)`

/** A space with almost everything that a space can contain. */
async function fill(name: string): Promise<string> {
  const { engine } = test
  const { id } = await engine.spaces.create(ADA, { name, slug: name })
  const files = Object.fromEntries(['a', 'b', 'c'].map((one) => [`${one}.md`, TEXT(`${name} ${one}`)]))
  const [first, second] = await ingest(engine, ADA, id, { ...files, 'empty.md': '' })
  await ask(engine, ADA, id, 'When was the lighthouse built?')
  await ask(engine, ADA, id, 'Who paints submarines on Tuesdays?')
  await engine.documents.reindex(ADA, id, { documentIds: [String(first?.asset.id)] })
  await engine.documents.delete(ADA, id, [String(second?.asset.id)])
  await engine.retention.setSpace(ADA, id, { answerTraceRetentionDays: 5 })
  await engine.spaces.setRetrievalProfile(ADA, id, {
    ...{ defaultMode: 'fast', modes: ['fast', 'deep'], topK: 5, scoreThreshold: 0, rerank: { enabled: true } },
  })
  await engine.fs.write(ADA, id, { path: '/workspaces/plan/steps.md', content: `Steps of ${name}.\n` })
  // Background work after a publication or deletion changes rows, too.
  await until(async () => {
    const { activeJobs, waitingJobs, backgroundTasks } = await engine.activity()
    return activeJobs + waitingJobs + backgroundTasks + read(LEFT_TO_DO).length === 0
  })
  return id
}

it('a deleted space leaves no rows and no bytes, and another space loses nothing', async () => {
  const kept = await fill('kept')
  const [ofKept] = [objects()]
  const before = rowsBySpace()
  const gone = await fill('gone')
  const [{ key } = { key: 0 }] = read<{ key: number }>("SELECT key FROM spaces WHERE slug = 'gone'")
  const held = [...rowsBySpace().keys()].filter((table) => table.endsWith(` ${key}`))
  expect(held.length).toBeGreaterThan(12)
  await test.engine.spaces.delete(ADA, gone)
  await until(() => read(`SELECT 1 FROM spaces WHERE key = ${key}`).length === 0)
  await until(() => objects() === ofKept)
  const after = rowsBySpace()
  expect([...after.keys()].filter((table) => table.endsWith(` ${key}`))).toEqual([])
  // Tables without a space column: their rows depended on rows of the space.
  for (const table of ['session_turns', 'bulk_items', 'vectors', 'item_assets', 'version_parts'])
    expect([table, after.get(table) ?? 0]).toEqual([table, before.get(table) ?? 0])
  // Background work may add rows meanwhile, and complete due work.
  const taken = [...before].filter(([table, n]) => / \d+$/.test(table) && (after.get(table) ?? 0) < n)
  expect(taken.filter(([table]) => !/_due |_waits /.test(table))).toEqual([])
  expect((await ask(test.engine, ADA, kept, 'When was the lighthouse built?')).answer).toContain('1908')
})

it('versions beyond the retention policy are removed with their passages; the newest versions stay', async () => {
  const { engine } = test
  const { id } = await engine.spaces.create(ADA, { name: 'N', slug: 'n' })
  await engine.retention.setSpace(ADA, id, { parseArtifactVersions: 2 })
  const [accepted] = await ingest(engine, ADA, id, { 'a.md': TEXT('Here'), 'b.md': TEXT('There') })
  const documentId = String(accepted?.asset.id)
  for (let version = 2; version <= 4; version++) {
    const { bulkJobId } = await engine.documents.reindex(ADA, id, { documentIds: [documentId] })
    await until(async () => (await engine.jobs.bulk(ADA, bulkJobId)).status === 'completed')
  }
  const artifact = async (version: number) =>
    await engine.documents
      .parseArtifact(ADA, id, documentId, version)
      .then((body) => body.value())
      .then(
        () => version,
        () => 'gone',
      )
  const artifacts = () => Promise.all([1, 2, 3, 4].map(artifact))
  expect(await artifacts()).toEqual([1, 2, 3, 4])
  ahead = DAY
  // Any wake of the runner starts the clean-up.
  await ingest(engine, ADA, id, { 'c.md': TEXT('Elsewhere') })
  await until(async () => (await artifacts()).filter((one) => one === 'gone').length === 2)
  expect(await artifacts()).toEqual(['gone', 'gone', 3, 4])
  const orphans = read('SELECT 1 FROM nodes WHERE version_key NOT IN (SELECT key FROM versions)')
  expect(orphans).toEqual([])
  expect(read('SELECT 1 FROM vectors WHERE node_key NOT IN (SELECT key FROM nodes)')).toEqual([])
  expect((await ask(engine, ADA, id, 'When was the lighthouse of Here built?')).answer).toContain('1908')
})

it('passages of a document that is deleted during a query stay until the query ends', async () => {
  const { engine } = test
  const { id } = await engine.spaces.create(ADA, { name: 'N', slug: 'n' })
  const [accepted] = await ingest(engine, ADA, id, { 'a.md': TEXT('Here') })
  const body = { knowledgeSpaceId: id, query: 'When was it built?', activeDocumentIds: [], activeEntityIds: [] }
  const run = await engine.queries.start(ADA, body, new AbortController().signal)
  await engine.documents.delete(ADA, id, [String(accepted?.asset.id)])
  await ingest(engine, ADA, id, { 'b.md': '# Other\n\nNothing of it.\n' })
  const passages = () => read("SELECT 1 FROM nodes WHERE text LIKE '%1908%'").length
  expect(passages()).toBe(1)
  for await (const _ of run.frames());
  await ingest(engine, ADA, id, { 'c.md': '# Another\n\nNothing of it either.\n' })
  await until(() => passages() === 0)
})
