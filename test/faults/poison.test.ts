import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { sql } from '../engine/upkeep/integrity/space.js'
import { ADA, ask, ingest, startEngine, type TestEngine, uploadOne } from '../helpers/engine.js'
import { until } from '../helpers/until.js'

const NEIGHBOURS = 20
const WAIT_MS = 240_000

let test: TestEngine
let spaceId: string

beforeEach(async () => {
  process.env.KS_FAULT = 'index'
  test = await startEngine()
  spaceId = (await test.engine.spaces.create(ADA, { name: 'Poison', slug: 'poison' })).id
})
afterEach(async () => {
  delete process.env.KS_FAULT
  await test.end()
})

const note = (n: number) => `# Note ${n}\n\nThe lamp of note ${n} is called marker${n}.\n`
const notes = (from: number, count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`note-${from + n}.md`, note(from + n)]))
const jobs = async () => (await test.engine.jobs.list(ADA, spaceId, { limit: 100 })).items

describe('a document that crashes the index process each time', () => {
  const poison = { 'poison.md': '# Poison\n\nWhat no index takes: ks-fault-crash.\n' }

  it('F09: fails alone after a few attempts, and its neighbours are published', { timeout: WAIT_MS }, async () => {
    const began = performance.now()
    // Between its neighbours in one batch.
    const half = NEIGHBOURS / 2
    const uploaded = ingest(test.engine, ADA, spaceId, { ...notes(0, half), ...poison, ...notes(half, half) })
    const hurrying = setInterval(hurry, 100)
    await uploaded.finally(() => clearInterval(hurrying))
    const all = await jobs()
    const failed = all.filter(({ stage }) => stage !== 'published')
    expect(all).toHaveLength(NEIGHBOURS + 1)
    expect(failed).toMatchObject([{ filename: 'poison.md', stage: 'failed', error: expect.stringMatching(/index/) }])
    const { items } = await test.engine.documents.list(ADA, spaceId, { limit: 100 })
    expect(items.find(({ filename }) => filename === 'poison.md')).toMatchObject({
      parserStatus: 'failed',
      metadata: { error: { code: 'crashed' } },
    })
    expect((await ask(test.engine, ADA, spaceId, 'What is the lamp of note 7 called?')).answer).toContain('marker7')
    process.stdout.write(
      `FIGURE poison: neighbours published ${all.length - failed.length} of ${NEIGHBOURS}, ` +
        `seconds ${Math.round((performance.now() - began) / 1000)}\n`,
    )
  })
})

/** Retries waiting jobs at once. */
async function hurry(): Promise<void> {
  for (const { id, completedAt, retryAt } of await jobs())
    if (completedAt === undefined && retryAt !== undefined) await test.engine.jobs.retry(ADA, id).catch(() => undefined)
}

it('F09: jobs that were running at two crashes of the daemon are compiled one by one, so that only the cause can fail', async () => {
  sql(test.dataDir, (db) =>
    db.exec(`
      CREATE TABLE crowds (jobs INTEGER);
      INSERT INTO gateways (id, started_at, beat_at)
        SELECT 'a process that died', now, now FROM (SELECT CAST(unixepoch('subsec') * 1000 AS INTEGER) now);
      CREATE TRIGGER dead AFTER INSERT ON jobs BEGIN
        UPDATE jobs SET claimed_by = 'a process that died', unclean_ends = 1 WHERE key = NEW.key;
      END;`),
  )
  for (let n = 0; n < 6; n++) await uploadOne(test.engine, ADA, spaceId, { filename: `${n}.md`, text: note(n) })
  await test.engine.close()
  sql(test.dataDir, (db) =>
    db.exec(`
      DELETE FROM gateways;
      CREATE TRIGGER crowd AFTER UPDATE OF claimed_by ON jobs
        WHEN (SELECT count(*) FROM jobs WHERE claimed_by LIKE '%-%') > 1 BEGIN
        INSERT INTO crowds VALUES ((SELECT count(*) FROM jobs WHERE claimed_by IS NOT NULL));
      END;`),
  )
  await test.reopen()
  await until(async () => (await jobs()).every(({ stage }) => stage === 'published'), 60_000)
  expect(sql(test.dataDir, (db) => db.prepare('SELECT unclean_ends FROM jobs').pluck().all())).toEqual(Array(6).fill(2))
  expect(sql(test.dataDir, (db) => db.prepare('SELECT * FROM crowds').all())).toEqual([])
})
