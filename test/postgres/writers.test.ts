import { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { publishBatch } from '../../src/engine/ingest/compile/publish.js'
import { storeVersions } from '../../src/engine/ingest/compile/store-versions.js'
import type { EngineContext } from '../../src/engine/library/context.js'
import { deleteDocuments } from '../../src/engine/library/documents/delete.js'
import { reindexDocuments } from '../../src/engine/library/documents/reindex.js'
import { beginUpload } from '../../src/engine/library/documents/upload.js'
import { writeFile } from '../../src/engine/library/workspaces/files.js'
import type { Postgres } from '../../src/engine/store/postgres/postgres.js'
import { sql } from '../../src/engine/store/program.js'
import { recordHeartbeat } from '../../src/engine/store/rows/gateways.js'
import { claimJobs } from '../../src/engine/store/rows/job-claims.js'
import { findJobDocument } from '../../src/engine/store/rows/job-documents.js'
import type { JobRow } from '../../src/engine/store/rows/jobs.js'
import { getSpaceUsage } from '../../src/engine/store/rows/space-usage.js'
import type { SpaceRow } from '../../src/engine/store/rows/spaces.js'
import { newId } from '../../src/lib/ids.js'
import { ADA } from '../helpers/engine.js'
import { createMigratedDatabase, hasServer, openPostgres } from '../helpers/postgres.js'
import { openSmallStore, preparedDocument, type SmallStore } from '../helpers/store.js'
import { newSpace } from './backends.js'

const signal = new AbortController().signal
const WRITERS = 8
const TIMES = 25
/** all writers reindex one document after this number of uploads */
const REINDEX_EVERY = 5

/** Numbers starting at one. */
const upTo = (last: number) => Array.from({ length: last }, (_, place) => place + 1)

describe.skipIf(!hasServer)('eight writers of one space on two gateways', () => {
  let store: SmallStore
  let drivers: Postgres[]
  let gateways: EngineContext[]
  let space: SpaceRow

  beforeAll(async () => {
    // Provides the objects and everything but the database.
    store = await openSmallStore()
    vi.spyOn(store.indexes, 'follow').mockResolvedValue(undefined)
    const name = await createMigratedDatabase()
    drivers = [await openPostgres(name), await openPostgres(name)]
    gateways = drivers.map((db) => ({ ...store.context, db, instance: newId() }))
    for (const { db, instance } of gateways) await db.write(() => recordHeartbeat(instance, undefined))
    space = await newSpace(gateways[0]!.db, ADA.tenant)
  })

  afterAll(async () => {
    for (const driver of drivers) await driver.close()
    await store.end()
  })

  const rows = <T>(text: string) => drivers[0]!.read(sql.all<T>(text, [space.key]))

  async function upload(context: EngineContext, filename: string, text: string) {
    const receiving = await beginUpload(context, ADA, space.id, { many: false })
    await receiving.add({ filename, content: Readable.from([Buffer.from(text)]) })
    const [accepted] = await receiving.commit({})
    return accepted!
  }

  /** Compiles and publishes a job, unless another gateway does. */
  async function compile(context: EngineContext, id: string, text: string): Promise<void> {
    const job = await context.db.read(sql.get<JobRow>('SELECT * FROM jobs WHERE id = ?', [id]))
    const [claimed] = await context.db.write(() => claimJobs([job!], context.instance))
    if (claimed === undefined) return
    const document = (await context.db.read(findJobDocument(claimed)))!
    const work = { job: claimed, document }
    const read = [{ work, document: await preparedDocument(document.filename, text) }]
    const { built } = await storeVersions(context, space, read, signal)
    expect(await publishBatch(context, space, built, undefined)).toBe(true)
  }

  it('upload, reindex, publish, delete and write files without gaps in the numbers, with few conflicts', async () => {
    const shared = await upload(gateways[0]!, 'shared.md', 'shared')
    await compile(gateways[0]!, shared.compilationJob.id, 'shared')
    const before = drivers.map(({ statementCounts }) => statementCounts.again)
    await Promise.all(
      upTo(WRITERS).map(async (writer) => {
        const context = gateways[writer % 2]!
        for (const time of upTo(TIMES)) {
          const text = `text ${time} of ${writer}`
          const { asset, compilationJob } = await upload(context, `${writer}-${time}.md`, text)
          await compile(context, compilationJob.id, text)
          if (time % REINDEX_EVERY !== 0) continue
          const which = { documentIds: [shared.asset.id] }
          const [again] = (await reindexDocuments(context, ADA, space.id, which)).items
          if (again !== undefined && 'compilationJob' in again)
            await compile(context, again.compilationJob.id, `shared, ${text}`)
          await writeFile(context, ADA, space.id, { path: '/workspaces/notes/last.md', content: text })
          await deleteDocuments(context, ADA, space.id, [asset.id])
        }
      }),
    )
    const again = drivers.reduce(
      (sum, { statementCounts }, place) => sum + statementCounts.again - (before[place] ?? 0),
      0,
    )
    process.stdout.write(`FIGURE writers-of-one-space ${JSON.stringify({ uploads: WRITERS * TIMES, again })}\n`)
    const kept = WRITERS * TIMES - (WRITERS * TIMES) / REINDEX_EVERY

    const revisions = await rows<{ revision: number }>(
      'SELECT revision FROM publications WHERE space_key = ? ORDER BY revision',
    )
    expect(revisions.map(({ revision }) => revision)).toEqual([0, ...upTo(revisions.length - 1)])
    const log = await rows<{ seq: number }>('SELECT seq FROM projection_log WHERE space_key = ? ORDER BY seq')
    expect(log.map(({ seq }) => seq)).toEqual(upTo(log.length))
    const versions = await rows<{ version: number }>(
      "SELECT version FROM jobs WHERE space_key = ? AND doc_key = (SELECT key FROM documents WHERE filename = 'shared.md') ORDER BY version",
    )
    expect(versions.map(({ version }) => version)).toEqual(upTo(versions.length))
    expect(versions.length).toBeGreaterThan(TIMES / REINDEX_EVERY)
    const files = await rows<{ version: number }>(
      'SELECT version FROM workspace_files WHERE space_key = ? ORDER BY version',
    )
    expect(files.map(({ version }) => version)).toEqual(upTo((WRITERS * TIMES) / REINDEX_EVERY))

    // Every job is published, each document has one visible version, and the counts are correct.
    expect(await rows("SELECT id FROM jobs WHERE space_key = ? AND stage <> 'published'")).toEqual([])
    const live = await rows(
      `SELECT versions.key FROM versions JOIN documents ON documents.key = versions.doc_key
       WHERE versions.space_key = ? AND until_revision IS NULL AND from_revision IS NOT NULL AND deleted_at IS NULL`,
    )
    expect(live).toHaveLength(kept + 1)
    expect(await drivers[0]!.read(getSpaceUsage(space.key))).toMatchObject({ documents: kept + 1, nodes: kept + 1 })
    // Two gateways may conflict only when they claim the same job.
    expect(again).toBeLessThan((WRITERS * TIMES) / REINDEX_EVERY)
  })
})
