import { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { AcceptedDocument } from '../../src/contract/gateway/documents.js'
import { publishBatch } from '../../src/engine/ingest/compile/publish.js'
import { storeVersions } from '../../src/engine/ingest/compile/store-versions.js'
import type { CompileWork } from '../../src/engine/ingest/compile/work.js'
import type { EngineContext } from '../../src/engine/library/context.js'
import { deleteDocuments } from '../../src/engine/library/documents/delete.js'
import { reindexDocuments } from '../../src/engine/library/documents/reindex.js'
import { beginUpload } from '../../src/engine/library/documents/upload.js'
import { writeFile } from '../../src/engine/library/workspaces/files.js'
import { Postgres } from '../../src/engine/store/postgres/postgres.js'
import { sql } from '../../src/engine/store/program.js'
import { recordHeartbeat } from '../../src/engine/store/rows/gateways.js'
import { claimJobs } from '../../src/engine/store/rows/job-claims.js'
import { listJobDocuments } from '../../src/engine/store/rows/job-documents.js'
import type { JobRow } from '../../src/engine/store/rows/jobs.js'
import { findSpace, type SpaceRow } from '../../src/engine/store/rows/spaces.js'
import { ADA, ask, ingest, startEngine, type TestEngine } from '../helpers/engine.js'
import { addressOf, createMigratedDatabase, hasServer, openPostgres } from '../helpers/postgres.js'
import { openSmallStore, passages, preparedDocument, type SmallStore } from '../helpers/store.js'
import { until } from '../helpers/until.js'
import { newSpace } from './backends.js'

const signal = new AbortController().signal

/** Files by name: the same names with different texts each time. */
const notes = (count: number, names = 'note', from = 0) =>
  Object.fromEntries(
    Array.from({ length: count }, (_, n) => [
      `${names}-${n}.md`,
      `# Lamp ${n}\n\nKeeper ${n} fills lamp ${n + from} with colza oil every evening at sunset.\n\n## Tides\n\nHigh water at place ${n} comes ${n + from} hours after the moon.\n`,
    ]),
  )

const figures: Record<string, number> = {}
afterAll(() => {
  process.stdout.write(`FIGURE statements-of-operations ${JSON.stringify(figures)}\n`)
})

/** Counts the statements of an operation until it has its result. */
async function counted<T>(driver: Postgres, name: string, operation: () => Promise<T>): Promise<T> {
  const { value, statements } = await driver.counting(operation)
  figures[name] = statements
  return value
}

/** Operations of a kind that exceed this number. */
const over = (kind: string, most: number) =>
  Object.entries(figures).filter(([name, statements]) => name.includes(kind) && statements > most)

const defined = <T>(items: readonly (T | undefined)[]): T[] => items.flatMap((item) => item ?? [])

describe.skipIf(!hasServer)('the number of PostgreSQL statements of a question', () => {
  let test: TestEngine
  let driver: Postgres
  let space: string

  beforeAll(async () => {
    const opening = vi.spyOn(Postgres, 'open')
    test = await startEngine({ database: addressOf(await createMigratedDatabase()) })
    driver = (await opening.mock.results[0]?.value) as Postgres
    const { id } = await test.engine.spaces.create(ADA, { name: 'Lighthouse', slug: 'lighthouse' })
    space = id
    await ingest(test.engine, ADA, space, notes(40))
    await atRest()
  })

  afterAll(async () => {
    await test.end()
  })

  /** Resolves when no background work is running. */
  async function atRest(): Promise<void> {
    await until(async () => {
      const { activeJobs, waitingJobs, backgroundTasks } = await test.engine.activity()
      return activeJobs + waitingJobs + backgroundTasks === 0
    })
  }

  it('stays below 31 in each mode, even at the end of a long session', async () => {
    const question = 'What does keeper 12 fill lamp 12 with?'
    // The first question in deep mode builds the graph.
    await ask(test.engine, ADA, space, question, { mode: 'deep' })
    await atRest()
    const { sessionId } = await counted(driver, 'fast question', () =>
      ask(test.engine, ADA, space, question, { mode: 'fast' }),
    )
    await counted(driver, 'deep question', () => ask(test.engine, ADA, space, question, { mode: 'deep' }))
    for (let turn = 0; turn < 12; turn++) await ask(test.engine, ADA, space, `${question} ${turn}`, { sessionId })
    await atRest()
    const inSession = { sessionId, mode: 'fast' as const }
    await counted(driver, 'fast question, 14th of its session', () => ask(test.engine, ADA, space, question, inSession))
    const deep = { sessionId, mode: 'deep' as const }
    await counted(driver, 'deep question, 15th of its session', () => ask(test.engine, ADA, space, question, deep))
    expect(over('question', 30)).toEqual([])
  })
})

describe.skipIf(!hasServer)('the number of PostgreSQL statements of a write', () => {
  let store: SmallStore
  let driver: Postgres
  let context: EngineContext
  let space: SpaceRow

  beforeAll(async () => {
    store = await openSmallStore()
    vi.spyOn(store.indexes, 'follow').mockResolvedValue(undefined)
    driver = await openPostgres(await createMigratedDatabase())
    context = { ...store.context, db: driver }
    await driver.write(() => recordHeartbeat(context.instance, undefined))
    const made = await newSpace(driver, ADA.tenant)
    space = await driver.read(findSpace(ADA.tenant, made.id))
  })

  afterAll(async () => {
    await driver.close()
    await store.end()
  })

  async function upload(files: Record<string, string>): Promise<AcceptedDocument[]> {
    const receiving = await beginUpload(context, ADA, space.id, { many: true })
    for (const [filename, text] of Object.entries(files))
      await receiving.add({ filename, content: Readable.from([Buffer.from(text)]) })
    return await receiving.commit({})
  }

  /** Uploads files and claims their jobs. */
  async function claimed(files: Record<string, string>): Promise<CompileWork[]> {
    const ids = (await upload(files)).map(({ compilationJob }) => [compilationJob.id])
    const jobs = await driver.read(sql.getEach<JobRow>('SELECT * FROM jobs WHERE id = ?', ids))
    const held = await driver.write(() => claimJobs(defined(jobs), context.instance))
    const documents = await driver.read(listJobDocuments(held))
    return held.map((job, place) => ({ job, document: documents[place]! }))
  }

  /** Stores and publishes documents of four passages each. */
  async function publish(name: string, files: Record<string, string>): Promise<void> {
    const read = await Promise.all(
      (await claimed(files)).map(async (work) => ({
        work,
        document: await preparedDocument(
          work.document.filename,
          passages('one', 'two', 'three', work.document.filename),
        ),
      })),
    )
    expect(read).toHaveLength(Object.keys(files).length)
    const { built } = await counted(driver, `storing ${name}`, () => storeVersions(context, space, read, signal))
    await counted(driver, `publication ${name}`, () => publishBatch(context, space, built, undefined))
  }

  it('stays below 15 for an upload, of one document or of fifty', async () => {
    await counted(driver, 'first upload', () => upload(notes(1, 'first')))
    await counted(driver, 'upload', () => upload(notes(1, 'one')))
    const fifty = await counted(driver, 'upload of 50', () => upload(notes(50, 'fifty')))
    const same = await counted(driver, 'upload of the same 50', () => upload(notes(50, 'fifty')))
    await counted(driver, 'upload of 50 others of the same names', () => upload(notes(50, 'fifty', 7)))
    expect(same.map(({ asset }) => asset.id)).toEqual(fifty.map(({ asset }) => asset.id))
    expect(over('upload', 14)).toEqual([])
  })

  it('does not depend on the number of deleted or recompiled documents', async () => {
    const made = await upload(notes(101, 'gone'))
    const [first = '', ...others] = made.map(({ asset }) => asset.id)
    await counted(driver, 'delete of one', () => deleteDocuments(context, ADA, space.id, [first]))
    await counted(driver, 'delete of 100', () => deleteDocuments(context, ADA, space.id, others))
    await counted(driver, 'reindex of all', () => reindexDocuments(context, ADA, space.id, { all: true }))
    expect(over('delete', 25)).toEqual([])
    expect(over('reindex', 14)).toEqual([])
  })

  it('stays below 19 for a workspace file', async () => {
    const write = (content: string) => writeFile(context, ADA, space.id, { path: '/workspaces/log/today.md', content })
    await counted(driver, 'file of a workspace', () => write('one'))
    await counted(driver, 'file of a workspace again', () => write('two'))
    expect(over('file', 18)).toEqual([])
  })

  it('stays at 2 a document for storing and publishing 32 documents, new ones or replacements', async () => {
    await publish('of one', notes(1, 'a'))
    await publish('of 32', notes(32, 'b'))
    await publish('of 32 instead of others', notes(32, 'b', 7))
    for (const name of ['of 32', 'of 32 instead of others']) {
      expect((figures[`storing ${name}`] ?? 0) / 32).toBeLessThanOrEqual(1)
      expect((figures[`publication ${name}`] ?? 0) / 32).toBeLessThanOrEqual(1)
    }
    // The part that does not depend on the number of documents.
    expect(figures['storing of one']).toBeLessThanOrEqual(14)
    expect(figures['publication of one']).toBeLessThanOrEqual(20)
  })
})
