import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { afterEach, expect, it, vi } from 'vitest'
import { Database } from '../../../../src/engine/store/database.js'
import { findSpaceByKey } from '../../../../src/engine/store/rows/spaces.js'
import { removeEndedJobs } from '../../../../src/engine/upkeep/retention/ended-work.js'
import type { RetentionScope } from '../../../../src/engine/upkeep/retention/slice.js'
import { ADA, startEngine, type TestEngine, uploadOne } from '../../../helpers/engine.js'

const JOBS = 100_000
const BATCH = 200
const DAY = 24 * 60 * 60 * 1000

let test: TestEngine | undefined
afterEach(async () => {
  vi.restoreAllMocks()
  await test?.end()
})

/** Ended jobs of the given number of documents. */
function fill(file: string): void {
  const db = new Sqlite(file, { timeout: 5000 })
  db.exec(`
    DROP TRIGGER jobs_source;
    INSERT INTO jobs (id, queue_id, tenant, space_key, doc_key, version, stage, created_at, updated_at, completed_at)
      WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT ${JOBS})
      SELECT printf('00000000-0000-7000-8000-%012x', x), printf('00000000-0000-7000-9000-%012x', x), '${ADA.tenant}',
        (SELECT key FROM spaces), 1000000 + x, 1, 'published', 1, 1, 1 FROM n;`)
  db.close()
}

/** A closed engine with a space of one document and the ended jobs of many others. */
async function filled(): Promise<{ running: TestEngine; id: string; file: string }> {
  const running = await startEngine()
  test = running
  const { id } = await running.engine.spaces.create(ADA, { name: 'Many', slug: 'many' })
  const first = await uploadOne(running.engine, ADA, id, { filename: 'first.md', text: '# First\n\nA line.\n' })
  await running.engine.documents.settled(ADA, id, first)
  const file = join(running.dataDir, 'db', 'main.sqlite')
  await running.engine.close()
  fill(file)
  return { running, id, file }
}

/** What a statement scans, table by table, in the query plan of SQLite. */
function plans(file: string, statements: Iterable<string>): { sql: string; step: string }[] {
  const db = new Sqlite(file, { readonly: true })
  const found = [...statements].flatMap((sql) =>
    (
      db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...Array(sql.split('?').length - 1).fill(1)) as { detail: string }[]
    ).map(({ detail }) => ({ sql, step: detail })),
  )
  db.close()
  return found
}

it(`F60: next to ${JOBS} ended jobs, a start, a claim and lists scan only the jobs they need`, async () => {
  const { running, id, file } = await filled()

  const spy = vi.spyOn(Database.prototype, 'execute')
  await running.reopen()
  const next = await uploadOne(running.engine, ADA, id, { filename: 'next.md', text: '# Next\n\nAnother line.\n' })
  await running.engine.documents.settled(ADA, id, next)
  for (const state of [undefined, 'open', 'failed'] as const)
    await running.engine.jobs.list(ADA, id, { limit: 10, state })
  await running.engine.jobs.get(ADA, next.compilationJob.id)
  await running.engine.jobs.retryFailed(ADA, id)
  await running.engine.activity()

  const calls = spy.mock.calls.map(([{ sql }]) => sql)
  const statements = new Set(calls.filter((sql) => /\bjobs\b/.test(sql)))
  expect(statements.size).toBeGreaterThan(10)
  // An index of open or claimed jobs only may be scanned completely.
  const scans = plans(file, statements).filter(
    ({ step }) => /^SCAN (jobs|newer|last)\b/.test(step) && !/INDEX jobs_(waiting|open|claimed)$/.test(step),
  )
  process.stdout.write(
    `FIGURE job-table: statements on jobs ${statements.size}, that read all ended ones ${scans.length}\n`,
  )
  expect(scans).toEqual([])
}, 120_000)

it(`F60: the clean-up scans ${JOBS} ended jobs in pages, and lets other work run in between`, async () => {
  const { file } = await filled()
  const sqlite = new Sqlite(file)
  // A bulk job counts each of its jobs.
  sqlite.exec(`INSERT INTO bulk_items (tenant, bulk_id, place, document_id, job_id)
    SELECT tenant, 'bulk', key, 'document', id FROM jobs`)
  sqlite.close()

  const db = new Database(file, Date.now, () => {})
  const space = db.now(findSpaceByKey(1))
  if (space === undefined) throw new Error('the space is not there')
  const scope = {
    context: { db },
    space,
    now: Date.now() + 1000 * DAY,
    batchRows: BATCH,
    signal: new AbortController().signal,
  }
  let turns = 0
  let ended = false
  const count = () => {
    turns++
    if (!ended) setImmediate(count)
  }
  setImmediate(count)
  // The clean-up of jobs uses nothing else of the engine.
  const { removed } = await removeEndedJobs(scope as unknown as RetentionScope)
  ended = true
  await db.close()
  expect(removed).toBe(0)
  expect(turns).toBeGreaterThanOrEqual(JOBS / BATCH)
}, 120_000)
