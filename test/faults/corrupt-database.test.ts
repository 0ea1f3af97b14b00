import { cpSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { temporaryFolder } from '../../bench/lib/daemon.js'
import { removeFolder } from '../../bench/lib/removed-folder.js'
import { KsError } from '../../src/contract/errors.js'
import { type Engine, openEngine } from '../../src/engine/index.js'
import { TABLE_FORMATS } from '../../src/engine/store/format-tables.js'
import { findFormatProblem } from '../../src/engine/store/formats.js'
import { StoreDamagedError } from '../../src/local/store-damaged-error.js'
import { seededRandom } from '../crash/random.js'
import { allIssues } from '../engine/upkeep/integrity/space.js'
import { ADA, ask, engineOptions, ingest } from '../helpers/engine.js'
import { flipBit, pageKinds } from './rig/pages.js'
import { faultSeed, rounds } from './rig/rounds.js'

const FLIPS = rounds(14)
const FLIP_MS = 20_000
const NOTES = 120
const GONE = 12
/** documents that are read after each flip */
const READ = 15

const home = temporaryFolder('corrupt-database')
const whole = join(home.path, 'whole')
const damaged = join(home.path, 'damaged')
const database = (dataDir: string) => join(dataDir, 'db', 'main.sqlite')
let spaceId: string
let traceId: string
let documents: { id: string; filename: string }[]

const note = (place: number) =>
  `# Note ${place}\n\nThe zebra${place} eats grass.\n\n## Details\n\n${`Words of note ${place}, and more of them. `.repeat(place === 0 ? 3000 : 30)}\n`

beforeAll(async () => {
  mkdirSync(whole, { mode: 0o700 })
  const engine = await openEngine(engineOptions(whole))
  spaceId = (await engine.spaces.create(ADA, { name: 'Pages', slug: 'pages' })).id
  const files = Object.fromEntries(Array.from({ length: NOTES }, (_, place) => [`n${place}.md`, note(place)]))
  const accepted = await ingest(engine, ADA, spaceId, files)
  // Deleting rows creates a free list.
  const gone = accepted.slice(-GONE).map(({ asset }) => asset.id)
  await engine.documents.delete(ADA, spaceId, gone)
  documents = accepted.slice(0, READ).map(({ asset }) => asset)
  traceId = (await ask(engine, ADA, spaceId, 'what does zebra3 eat?')).traceId
  await engine.close()
  const db = new Sqlite(database(whole))
  db.exec('CREATE TABLE filler AS SELECT randomblob(8000) b FROM json_each(?)'.replace('?', `'[1,2,3,4,5,6,7,8,9,10]'`))
  db.exec('DROP TABLE filler')
  db.close()
}, 120_000)
afterAll(() => home.remove())

/** Responses by request; `data-damaged` for this code, `failed` for an unexpected failure. */
async function readAll(engine: Engine): Promise<Map<string, unknown>> {
  const asked: [string, () => Promise<unknown>][] = [
    ['list', async () => (await engine.documents.list(ADA, spaceId, { limit: 100 })).items],
    ['find', async () => (await engine.fs.ls(ADA, spaceId, { path: '/sources/uploads', limit: 100 })).items],
    ['trace', () => engine.queries.trace(ADA, traceId)],
    [
      'search',
      async () =>
        (
          await engine.queries.search(ADA, spaceId, {
            query: 'zebra5 grass',
            limit: 5,
            activeDocumentIds: [],
            activeEntityIds: [],
          })
        ).items,
    ],
    ...documents.flatMap(({ id, filename }): [string, () => Promise<unknown>][] => [
      [`artifact ${filename}`, () => engine.documents.parseArtifact(ADA, spaceId, id, 1).then((body) => body.value())],
      [`outline ${filename}`, () => engine.documents.outline(ADA, spaceId, id).then((body) => body.value())],
      [
        `cat ${filename}`,
        () => engine.fs.cat(ADA, spaceId, { path: `/sources/uploads/${filename}`, offset: 0, maxBytes: 100_000 }),
      ],
    ]),
  ]
  const seen = new Map<string, unknown>()
  for (const [what, read] of asked) {
    const answer = await read().catch((error: unknown) => {
      if (error instanceof KsError && error.code === 'data-damaged') return 'data-damaged'
      return 'failed'
    })
    seen.set(what, JSON.parse(JSON.stringify(answer)))
  }
  return seen
}

/** Columns whose values differ from the undamaged database or cannot be read. */
function changedColumns(): Map<string, unknown> | 'unreadable' {
  const [before, after] = [whole, damaged].map((dataDir) => new Sqlite(database(dataDir), { readonly: true }))
  const changed = new Map<string, unknown>()
  try {
    const tables = before!
      .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
      .pluck()
      .all()
    for (const table of tables) {
      const [was, is] = [before, after].map(
        (db) =>
          db!
            .prepare(`SELECT * FROM ${String(table)} NOT INDEXED`)
            .raw()
            .all() as unknown[][],
      )
      if (was!.length !== is!.length) return 'unreadable'
      const columns = before!.prepare(`SELECT * FROM ${String(table)}`).columns()
      for (const [place, row] of was!.entries())
        for (const [at, { name }] of columns.entries())
          if (JSON.stringify(row[at]) !== JSON.stringify(is![place]?.[at]))
            changed.set(`${String(table)}.${name}`, is![place]?.[at])
    }
    return changed
  } catch {
    return 'unreadable'
  } finally {
    before!.close()
    after!.close()
  }
}

/** Data with a hash. Elsewhere only damage that breaks the form is found: see docs/integrity.md. */
const HASHED: ReadonlySet<string> = new Set([
  'nodes.title',
  'nodes.text',
  'nodes.start_offset',
  'nodes.end_offset',
  'nodes.row_hash',
])

function isToBeFound(column: string, value: unknown): boolean {
  const [table = '', name = ''] = column.split('.')
  const kind = TABLE_FORMATS[table]?.columns[name]?.kind
  if (HASHED.has(column) || kind === 'packed') return true
  return kind !== undefined && value !== null && findFormatProblem(kind, value) !== undefined
}

/** JSON that remains valid with another field name: readers fail, but checks do not find it. */
function isJsonAlone(changed: Map<string, unknown> | 'unreadable'): boolean {
  if (changed === 'unreadable' || changed.size === 0) return false
  return [...changed.keys()].every((column) => {
    const [table = '', name = ''] = column.split('.')
    return String(TABLE_FORMATS[table]?.columns[name]?.kind).startsWith('json')
  })
}

test('F26: a flipped bit in any kind of page is detected at startup, by a read or by a check, and no wrong data is served', {
  timeout: 120_000 + FLIPS * FLIP_MS,
}, async () => {
  const seed = faultSeed()
  const random = seededRandom(seed)
  const kinds = pageKinds(database(whole))
  expect(kinds.map(({ kind }) => kind).sort()).toEqual(
    ['first page', 'free page', 'index interior', 'index leaf', 'overflow', 'table interior', 'table leaf'].sort(),
  )
  const intact = await openEngine(engineOptions(copy()))
  const expected = await readAll(intact)
  await intact.close()
  const count = { refused: 0, read: 0, check: 0, unchanged: 0, inItsForm: 0 }
  for (let flip = 0; flip < FLIPS; flip++) {
    const { kind, pages } = kinds[flip % kinds.length]!
    const path = database(copy())
    const page = pages[Math.floor(random() * pages.length)]!
    const where = `seed ${seed}, flip ${flip}: ${kind}, page ${page}, ${flipBit(path, page, random)}`
    const changed = changedColumns()
    const found = await look(expected, where, isJsonAlone(changed))
    if (found !== undefined) count[found]++
    else if (changed !== 'unreadable' && changed.size === 0) count.unchanged++
    else {
      const missed = changed === 'unreadable' ? [changed] : [...changed].filter((one) => isToBeFound(...one))
      expect(missed, where).toEqual([])
      count.inItsForm++
    }
  }
  process.stdout.write(
    `FIGURE corrupt-sqlite-bits ${JSON.stringify({ seed, flips: FLIPS, ...count, missed: 0, rawErrors: 0 })}\n`,
  )
})

function copy(): string {
  removeFolder(damaged)
  cpSync(whole, damaged, { recursive: true })
  return damaged
}

/** How damage in the copy is detected, if at all. Responses before that must equal the original or omit data. */
async function look(
  expected: Map<string, unknown>,
  where: string,
  mayFail: boolean,
): Promise<'refused' | 'read' | 'check' | undefined> {
  let engine: Engine
  try {
    engine = await openEngine(engineOptions(damaged))
  } catch (error) {
    expect(error, `${where}: ${String(error)}`).toBeInstanceOf(StoreDamagedError)
    return 'refused'
  }
  try {
    const seen = await readAll(engine)
    const wrong = [...seen].filter(
      ([what, value]) => value !== 'data-damaged' && JSON.stringify(value) !== JSON.stringify(expected.get(what)),
    )
    const failed = [...seen].filter(([, value]) => value === 'failed').map(([what]) => what)
    if (!mayFail) expect(failed, where).toEqual([])
    const told = [...seen.values()].includes('data-damaged')
    const issues = await allIssues(engine, spaceId).catch((error: unknown) => {
      expect(error, where).toMatchObject({ code: 'data-damaged' })
      return [String(error)]
    })
    // Texts and bytes have hashes, so wrong ones are never served, whether the damage is detected or not.
    const content = wrong.filter(([what]) => /^(artifact|outline|cat) /.test(what))
    expect(content, where).toEqual([])
    return told ? 'read' : issues.length > 0 ? 'check' : undefined
  } catch (error) {
    throw new Error(where, { cause: error })
  } finally {
    await engine.close()
  }
}
