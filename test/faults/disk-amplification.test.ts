import { lstatSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { seededRandom } from '../crash/random.js'
import { allCandidates, sql } from '../engine/upkeep/integrity/space.js'
import { ADA, ingest, startEngine, type TestEngine, uploadOne } from '../helpers/engine.js'
import { until } from '../helpers/until.js'
import { faultSeed, rounds } from './rig/rounds.js'

const DOCUMENTS = 20
const REPLACEMENTS = rounds(60)
/** sizes of documents in bytes: a few are large */
const LEAST_BYTES = 2_000
const MOST_BYTES = 120_000
/** few words, so that their model is small compared with the documents */
const VOCABULARY = 1_000
/** ratio to a directory that only ever contained the final documents */
const MOST_AMPLIFICATION = 1.15
/** free pages that a database may keep, because they are too few to be returned */
const MOST_FREE = 1 / 16
const FEW_PAGES = 9
const PAGE_BYTES = 8192
const PATIENCE_MS = 20_000
const DAY = 24 * 60 * 60 * 1000
/** maximal retention in days */
const KEPT = 91 * DAY
const TIMEOUT_MS = 540_000 + rounds(1) * 60_000

let running: TestEngine | undefined
afterEach(async () => {
  await running?.end()
  running = undefined
})

/** A document in one of its generations: as many words, but different ones. */
function text(document: number, generation: number, seed: number): string {
  const random = seededRandom(seed * 1_000_003 + document * 1_009 + generation)
  const bytes = LEAST_BYTES + (MOST_BYTES - LEAST_BYTES) * ((document % 10) / 9) ** 3
  const word = () => Math.floor(46_656 + VOCABULARY * random() ** 3).toString(36)
  const parts = [`# Document ${document}, generation ${generation}\n`]
  for (let length = 0; length < bytes; ) {
    const part = `\n## Part ${parts.length}\n\n${Array.from({ length: 120 }, word).join(' ')}\n`
    parts.push(part)
    length += part.length
  }
  return parts.join('')
}

const name = (document: number) => `document${document}.md`

interface Sizes {
  all: number
  db: number
  objects: number
  indexes: number
}

function bytesBelow(path: string): number {
  return readdirSync(path, { withFileTypes: true }).reduce((sum, entry) => {
    const below = join(path, entry.name)
    return sum + (entry.isDirectory() ? bytesBelow(below) : lstatSync(below).size)
  }, 0)
}

function sizesOf(dataDir: string): Sizes {
  const of = (name: string) => bytesBelow(join(dataDir, name))
  return { all: bytesBelow(dataDir), db: of('db'), objects: of('objects'), indexes: of('indexes') }
}

/** The size of a database: rows, free pages, and all pages. */
function heldBy(dataDir: string) {
  return sql(dataDir, (db) => {
    const one = (query: string) => (db.prepare(query).get() as { n: number }).n
    return {
      documents: one('SELECT count(*) n FROM documents'),
      versions: one('SELECT count(*) n FROM versions'),
      current: one('SELECT count(*) n FROM versions WHERE obsolete_at IS NULL'),
      open: one('SELECT count(*) n FROM jobs WHERE completed_at IS NULL'),
      jobs: one('SELECT count(*) n FROM jobs'),
      models: one('SELECT count(*) n FROM vector_spaces'),
      owed: one(`SELECT count(*) n FROM nodes JOIN versions ON versions.key = version_key AND until_revision IS NULL
        WHERE NOT EXISTS (SELECT 1 FROM vectors WHERE node_key = nodes.key)`),
      free: Number(db.pragma('freelist_count', { simple: true })),
      pages: Number(db.pragma('page_count', { simple: true })),
    }
  })
}

/** Fills a data directory, waits for garbage collection and retention, and measures the rest. */
async function sizesAfter(fill: (test: TestEngine, spaceId: string) => Promise<void>): Promise<Sizes> {
  let ahead = 0
  const retention = { intervalMs: DAY, batchRows: 200 }
  const test = await startEngine({ now: () => Date.now() + ahead, retention })
  running = test
  const { dataDir } = test
  const { id } = await test.engine.spaces.create(ADA, { name: 'Room', slug: 'room' })
  await fill(test, id)
  const isQuiet = async () => {
    const { activeJobs, waitingJobs, backgroundTasks } = await test.engine.activity()
    // Counting the rows takes time from the work that is waited for.
    if (activeJobs + waitingJobs + backgroundTasks > 0) return false
    const held = heldBy(dataDir)
    return held.documents === DOCUMENTS && held.models === 1 && held.owed === 0
  }
  await until(isQuiet, TIMEOUT_MS)
  await test.engine.retention.setSpace(ADA, id, { parseArtifactVersions: 1 })
  const candidates = await allCandidates(test.engine, id)
  if (candidates.length > 0) await test.engine.integrity.gcExecute(ADA, id, candidates)
  ahead = KEPT
  retention.intervalMs = 30
  await test.reopen()
  await until(() => heldBy(dataDir).current === heldBy(dataDir).jobs && isQuiet(), TIMEOUT_MS)
  // versions stay until no listing that began before can show them
  ahead += DAY
  await test.reopen()
  await until(() => heldBy(dataDir).versions === DOCUMENTS && isQuiet(), TIMEOUT_MS)
  // The last part is free space in the file; if it is not returned, the sizes show it.
  const isSmall = () => {
    const { pages, free } = heldBy(dataDir)
    return free <= pages * MOST_FREE + FEW_PAGES
  }
  await until(isSmall, PATIENCE_MS).catch(() => undefined)
  await test.engine.close()
  const sizes = sizesOf(dataDir)
  rmSync(dataDir, { recursive: true })
  running = undefined
  return sizes
}

test('F58: the disk space of replaced versions of documents is released', { timeout: TIMEOUT_MS }, async () => {
  const seed = faultSeed()
  const generations = Array.from({ length: DOCUMENTS }, () => 0)
  const files = () => Object.fromEntries(generations.map((of, document) => [name(document), text(document, of, seed)]))
  let most = 0
  const replaced = await sizesAfter(async ({ engine, dataDir }, space) => {
    await ingest(engine, ADA, space, files())
    // Replaced versions remain as long as an older query runs, so that all exist at once.
    const question = { knowledgeSpaceId: space, query: 'Document 1', activeDocumentIds: [], activeEntityIds: [] }
    const reader = await engine.queries.start(ADA, question, new AbortController().signal)
    const isPublished = () => {
      const { open, pages } = heldBy(dataDir)
      most = Math.max(most, pages * PAGE_BYTES)
      return open === 0
    }
    for (let count = 0; count < REPLACEMENTS; count++) {
      const document = count % DOCUMENTS
      // A second edit of a document that is still queued would replace the first before it is published.
      if (document === 0) await until(isPublished, TIMEOUT_MS)
      const generation = (generations[document] ?? 0) + 1
      generations[document] = generation
      const note = { filename: name(document), text: text(document, generation, seed) }
      await uploadOne(engine, ADA, space, note)
    }
    await until(isPublished, TIMEOUT_MS)
    for await (const _ of reader.frames());
  })
  const fresh = await sizesAfter(async ({ engine }, space) => {
    await ingest(engine, ADA, space, files())
  })
  const ratio = replaced.all / fresh.all
  const parts = (['db', 'objects', 'indexes'] as const).map((of) => `${of} ${(replaced[of] / fresh[of]).toFixed(2)}`)
  console.log(
    `F58: ${REPLACEMENTS} replacements: ${replaced.all} bytes, ${ratio.toFixed(3)} of ${fresh.all} (${parts.join(', ')}); ` +
      `database meanwhile ${most} bytes`,
  )
  // Otherwise nothing was tested.
  expect(most).toBeGreaterThan(fresh.db * MOST_AMPLIFICATION * 1.2)
  expect(ratio).toBeLessThanOrEqual(MOST_AMPLIFICATION)
})
