import { afterEach, expect, it, vi } from 'vitest'
import { Database } from '../../../../src/engine/store/database.js'
import { sql } from '../../../../src/engine/store/program.js'
import { ADA, ingest, startEngine, type TestEngine, uploadOne } from '../../../helpers/engine.js'
import { until } from '../../../helpers/until.js'
import { watchTransactions } from './transactions.js'

/** A slice has about five hundred passages, or half a megabyte plus one part. */
const STATEMENTS = 1_200
const BYTES = 2 * 1024 * 1024
/** Far longer than a busy machine needs. */
const DEADLINE_MS = 300_000

let test: TestEngine | undefined
afterEach(async () => {
  vi.restoreAllMocks()
  await test?.end()
  test = undefined
})

/** Sections that are separate passages; random letters compress badly, so the stored text is large, too. */
function manySections(count: number): string {
  let state = 1
  const letters = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state.toString(36)
  }
  const words = (n: number) => Array.from({ length: n }, letters).join(' ')
  return Array.from({ length: count }, (_, n) => `# Section ${n} ${letters()}\n\n${words(110)}\n`).join('\n')
}

/** The number of rows in the databases of this process. */
function counter(): (text: string) => number {
  const seen = new Set<Database>()
  const { now } = Database.prototype
  vi.spyOn(Database.prototype, 'now').mockImplementation(function (this: Database, program) {
    seen.add(this)
    return now.call(this, program)
  })
  return (text) =>
    [...seen].reduce((sum, db) => sum + (now.call(db, sql.get<{ n: number }>(text)) as { n: number }).n, 0)
}

const NODES = 'SELECT count(*) n FROM nodes'

it('a large document is stored, published and deleted in transactions of bounded size', {
  timeout: DEADLINE_MS,
}, async () => {
  const largest = watchTransactions()
  const rows = counter()
  test = await startEngine()
  const { engine } = test
  const space = await engine.spaces.create(ADA, { name: 'Large', slug: 'large' })
  const [made] = await ingest(engine, ADA, space.id, { 'large.md': manySections(2_000) })
  const id = made?.asset.id ?? ''
  expect(await engine.documents.get(ADA, space.id, id)).toMatchObject({ parserStatus: 'parsed' })
  const nodes = rows(NODES)
  expect(nodes).toBeGreaterThan(1_800)
  expect(rows('SELECT count(*) n FROM version_parts')).toBeGreaterThan(2)
  const outline = await engine.documents.outline(ADA, space.id, id).then((body) => body.value())
  expect(outline.nodes.length).toBeGreaterThan(1_800)
  expect(
    (await engine.documents.parseArtifact(ADA, space.id, id, 1).then((body) => body.value())).elements.length,
  ).toBeGreaterThan(3_800)
  await engine.documents.delete(ADA, space.id, [id])
  await until(() => rows(NODES) + rows('SELECT count(*) n FROM versions') === 0, DEADLINE_MS / 3)
  expect(rows('SELECT count(*) n FROM version_parts')).toBe(0)
  expect(rows('SELECT coalesce(sum(node_count), 0) n FROM space_usage')).toBe(0)
  expect(rows('SELECT coalesce(sum(artifact_bytes), 0) n FROM space_usage')).toBe(0)
  expect(largest.statements).toBeLessThan(STATEMENTS)
  expect(largest.bytes).toBeLessThan(BYTES)
})

/** Runs an action once, between the transaction that stores the given number of passages and the next one. */
function behind(passages: number, rows: (sql: string) => number, act: () => Promise<unknown>): Promise<unknown> {
  let done: Promise<unknown> | undefined
  const { write } = Database.prototype
  return new Promise((resolve, reject) => {
    vi.spyOn(Database.prototype, 'write').mockImplementation(async function <T>(this: Database, work: () => T) {
      const result = await write.call(this, work)
      if (done === undefined && rows(NODES) >= passages) {
        done = act()
        done.then(resolve, reject)
        await done
      }
      return result as T
    })
  })
}

it('a job canceled between two slices leaves nothing of its document, and the next upload is complete', {
  timeout: DEADLINE_MS,
}, async () => {
  const rows = counter()
  test = await startEngine()
  const { engine } = test
  const space = await engine.spaces.create(ADA, { name: 'Large', slug: 'large' })
  let accepted: Awaited<ReturnType<typeof uploadOne>> | undefined
  const canceled = behind(1_000, rows, () => engine.jobs.cancel(ADA, accepted?.compilationJob.id ?? ''))
  const text = manySections(1_500)
  accepted = await uploadOne(engine, ADA, space.id, { filename: 'large.md', text })
  await canceled
  await until(() => rows('SELECT count(*) n FROM versions') === 0, DEADLINE_MS / 3)
  expect(rows(NODES)).toBe(0)
  expect(rows('SELECT count(*) n FROM version_parts')).toBe(0)
  expect(rows('SELECT coalesce(sum(node_count), 0) n FROM space_usage')).toBe(0)
  vi.mocked(Database.prototype.write).mockRestore()
  const [again] = await ingest(engine, ADA, space.id, { 'large.md': text })
  expect(await engine.documents.get(ADA, space.id, again?.asset.id ?? '')).toMatchObject({ parserStatus: 'parsed' })
  expect(rows('SELECT node_count n FROM versions')).toBe(rows(NODES))
  const found = await engine.queries.search(ADA, space.id, {
    query: 'Section 1499',
    limit: 5,
    activeDocumentIds: [],
    activeEntityIds: [],
  })
  expect(found.items.length).toBeGreaterThan(0)
})

it('passages of one document get consecutive row keys while others are stored', { timeout: DEADLINE_MS }, async () => {
  const rows = counter()
  test = await startEngine()
  const { engine } = test
  const spaces = await Promise.all(['one', 'two'].map((slug) => engine.spaces.create(ADA, { name: slug, slug })))
  const text = manySections(900)
  await Promise.all(
    spaces.flatMap(({ id }) => [
      ingest(engine, ADA, id, { 'large.md': text }),
      ingest(engine, ADA, id, { 'small.md': '# Small\n\nA note.' }),
    ]),
  )
  expect(rows(`SELECT count(*) n FROM versions WHERE from_revision IS NOT NULL`)).toBe(4)
  expect(
    rows(`SELECT count(*) n FROM nodes JOIN versions ON versions.key = nodes.version_key
          WHERE nodes.key <> versions.first_node + nodes.ordinal OR nodes.key > versions.last_node`),
  ).toBe(0)
})
