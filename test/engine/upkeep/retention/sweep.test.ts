import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { RetentionPolicyBody } from '../../../../src/contract/gateway/retention.js'
import { openEngine } from '../../../../src/engine/index.js'
import { JobRunner } from '../../../../src/engine/ingest/jobs/runner.js'
import { SteadyClock } from '../../../../src/engine/upkeep/retention/steady-clock.js'
import { RetentionSweeper } from '../../../../src/engine/upkeep/retention/sweeper.js'
import { rowsOf } from '../../../helpers/databases.js'
import { ADA, ask, BOB, engineOptions, ingest, startEngine, type TestEngine } from '../../../helpers/engine.js'
import { watchStarts } from '../../../helpers/services.js'
import { until } from '../../../helpers/until.js'

const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE
const LIGHTHOUSE = '# Lighthouse\n\nThe lighthouse of Westerheversand was built in 1908 and is forty metres tall.\n'
const QUESTION = 'When was the lighthouse built?'

let test: TestEngine
let spaceId: string
let ahead = 0
const changes = { now: () => Date.now() + ahead, retention: { intervalMs: DAY, batchRows: 2 } }
const services = watchStarts()
const cleanUp = () => services.last(RetentionSweeper).drain()

beforeEach(async () => {
  ahead = 0
  test = await startEngine(changes)
  spaceId = (await test.engine.spaces.create(ADA, { name: 'Notes', slug: 'notes' })).id
})
afterEach(() => test.end())

/** Restarts the engine with a clock that is ahead, and runs the clean-up. */
async function later(milliseconds: number): Promise<void> {
  ahead += milliseconds
  await test.reopen()
  await cleanUp()
}

/** Rows of a table, read directly: only the table shows what was removed. */
const count = (what: string) => rowsOf(test.dataDir).value(`SELECT count(*) FROM ${what}`)

const policy = (body: RetentionPolicyBody) => test.engine.retention.setSpace(ADA, spaceId, body)
const exists = (traceId: string) =>
  test.engine.queries.trace(ADA, traceId).then(
    () => true,
    (error) => error.code,
  )

describe('the retention clean-up', () => {
  it('removes jobs and bulk jobs ninety days after they ended, but never the newest job of a document', async () => {
    const [{ asset, compilationJob }] = await ingest(test.engine, ADA, spaceId, { 'a.md': LIGHTHOUSE })
    const { bulkJobId } = await test.engine.documents.reindex(ADA, spaceId, { all: true })
    await until(async () => (await test.engine.jobs.bulk(ADA, bulkJobId)).status === 'completed')
    const [{ asset: gone }] = await ingest(test.engine, ADA, spaceId, { 'b.md': '# Gone\n\nSoon deleted.\n' })
    await test.engine.documents.delete(ADA, spaceId, [gone.id])
    expect([count('jobs'), count('bulk_jobs')]).toEqual([3, 2])
    await later(89 * DAY)
    expect([count('jobs'), count('bulk_jobs')]).toEqual([3, 2])
    await later(2 * DAY)
    await until(() => count('jobs') === 1 && count('bulk_jobs') === 0)
    expect([count('bulk_items'), count('staged_commits')]).toEqual([0, 1])
    await expect(test.engine.jobs.get(ADA, compilationJob.id)).rejects.toMatchObject({ code: 'not-found' })
    const again = await ingest(test.engine, ADA, spaceId, { 'a.md': LIGHTHOUSE })
    expect(again[0]!.asset.id).toBe(asset.id)
  })

  it('removes traces older than the retention policy with their evidence bundles, and no younger traces', async () => {
    await ingest(test.engine, ADA, spaceId, { 'a.md': LIGHTHOUSE })
    const old: string[] = []
    for (let round = 0; round < 5; round++) old.push((await ask(test.engine, ADA, spaceId, QUESTION)).traceId)
    await later(89 * DAY)
    expect(await exists(old[0])).toBe(true)
    await rowsOf(test.dataDir).run('UPDATE traces SET created_at = created_at + ? WHERE id = ?', 2 * DAY, old[4])
    await later(2 * DAY)
    await until(() => count('traces') === 1)
    expect(await exists(old[0])).toBe('not-found')
    expect(await exists(old[4])).toBe(true)
    expect(count('evidence_bundles')).toBe(1)
    expect((await ask(test.engine, ADA, spaceId, QUESTION)).answer).toContain('1908')
  })

  it('applies the policy of each space to that space only', async () => {
    const other = (await test.engine.spaces.create(ADA, { name: 'Other', slug: 'other' })).id
    const theirs = (await test.engine.spaces.create(BOB, { name: 'Theirs', slug: 'theirs' })).id
    await policy({ answerTraceRetentionDays: 1 })
    await test.engine.retention.setTenant(ADA, { answerTraceRetentionDays: 1 })
    const here = await ask(test.engine, ADA, spaceId, QUESTION)
    const there = await ask(test.engine, ADA, other, QUESTION)
    const bobs = await ask(test.engine, BOB, theirs, QUESTION)
    await later(2 * DAY)
    await until(async () => (await exists(here.traceId)) === 'not-found')
    expect(await exists(there.traceId)).toBe(true)
    expect((await test.engine.queries.trace(BOB, bobs.traceId)).id).toBe(bobs.traceId)
  })

  it('removes nothing at the moment of a change of the policy', async () => {
    const { traceId } = await ask(test.engine, ADA, spaceId, QUESTION)
    ahead = 2 * DAY
    await policy({ answerTraceRetentionDays: 1 })
    expect(await exists(traceId)).toBe(true)
  })

  it('removes expired raw documents like a deletion by a user', async () => {
    const [item] = await ingest(test.engine, ADA, spaceId, { 'a.md': LIGHTHOUSE })
    const object = join(test.dataDir, 'objects', item.asset.objectKey)
    expect(existsSync(object)).toBe(true)
    await policy({ rawDocumentRetentionDays: 10 })
    await later(9 * DAY)
    expect((await test.engine.documents.list(ADA, spaceId, { limit: 10 })).items).toHaveLength(1)
    await later(2 * DAY)
    await until(() => count('documents') === 0)
    expect(existsSync(object)).toBe(false)
    expect(count('nodes')).toBe(0)
    expect((await ask(test.engine, ADA, spaceId, QUESTION)).done.finishReason).toBe('no-retrieval-evidence')
  })

  it('marks parse artifacts beyond the number of versions as obsolete, and removes them minutes later', async () => {
    const [item] = await ingest(test.engine, ADA, spaceId, { 'a.md': LIGHTHOUSE })
    await reindex(item.asset.id, 2)
    await policy({ parseArtifactVersions: 1 })
    await later(MINUTE)
    await until(() => count('versions WHERE obsolete_at IS NOT NULL') === 2)
    expect(count('versions')).toBe(3)
    await later(16 * MINUTE)
    await until(() => count('versions') === 1)
    expect(
      (await test.engine.documents.parseArtifact(ADA, spaceId, item.asset.id, 3).then((body) => body.value())).version,
    ).toBe(3)
    expect((await ask(test.engine, ADA, spaceId, QUESTION)).answer).toContain('1908')
  })

  it('removes passages of superseded versions and old publications after a month, but no parse artifacts', async () => {
    const [item] = await ingest(test.engine, ADA, spaceId, { 'a.md': `${LIGHTHOUSE}\n## Keeper\n\nIt has a keeper.\n` })
    await reindex(item.asset.id, 1)
    const nodes = count('nodes')
    const publications = count('publications')
    await later(29 * DAY)
    expect([count('nodes'), count('publications')]).toEqual([nodes, publications])
    await later(2 * DAY)
    await until(() => count('publications') === 1)
    expect(count('nodes')).toBe(nodes / 2)
    expect(count('versions WHERE first_node IS NULL AND node_count = 0')).toBe(1)
    for (const version of [1, 2])
      expect(
        (await test.engine.documents.parseArtifact(ADA, spaceId, item.asset.id, version).then((body) => body.value()))
          .version,
      ).toBe(version)
    expect((await ask(test.engine, ADA, spaceId, QUESTION)).answer).toContain('1908')
    // The versions of a document without passages can be deleted as usual.
    await test.engine.documents.delete(ADA, spaceId, [item.asset.id])
    await until(() => count('versions') === 0)
  })

  it('removes idle sessions and expired replies under idempotency keys', async () => {
    await ask(test.engine, ADA, spaceId, QUESTION)
    await test.engine.idempotency.begin(ADA, 'key', 'print')
    await test.engine.idempotency.finish(ADA, 'key', { status: 201, body: '{}', headers: {} })
    await later(29 * MINUTE)
    expect([count('sessions'), count('session_turns'), count('idempotency')]).toEqual([1, 1, 1])
    await later(2 * MINUTE)
    await until(() => count('sessions') === 0 && count('session_turns') === 0)
    expect(await test.engine.idempotency.begin(ADA, 'key', 'print')).toMatchObject({ status: 201 })
    await later(DAY)
    await until(() => count('idempotency') === 0)
  })

  it('removes failed and canceled commits after the number of days in the manifest', async () => {
    const [item] = await ingest(test.engine, ADA, spaceId, { 'bad.pdf': '%PDF-1.7 this is no pdf' })
    await until(() => count("staged_commits WHERE status = 'failed-terminal'") === 1)
    await later(6 * DAY)
    expect(count("staged_commits WHERE status = 'failed-terminal'")).toBe(1)
    await later(2 * DAY)
    await until(() => count("staged_commits WHERE status = 'gc-complete'") === 1)
    // The failed document still exists with its bytes.
    expect(existsSync(join(test.dataDir, 'objects', item.asset.objectKey))).toBe(true)
    expect((await test.engine.documents.get(ADA, spaceId, item.asset.id)).parserStatus).toBe('failed')
  })
})

describe('the retention clean-up during a query', () => {
  it('keeps passages and documents that the query may still load, until the query ends', async () => {
    const [item] = await ingest(test.engine, ADA, spaceId, { 'a.md': LIGHTHOUSE })
    const body = { knowledgeSpaceId: spaceId, query: QUESTION, activeDocumentIds: [], activeEntityIds: [] }
    const run = await test.engine.queries.start(ADA, body, new AbortController().signal)
    await reindex(item.asset.id, 1)
    await test.engine.documents.delete(ADA, spaceId, [
      (await ingest(test.engine, ADA, spaceId, { 'b.md': LIGHTHOUSE }))[0].asset.id,
    ])
    // The clean-up distrusts a clock that jumps by more than a day.
    for (const start = ahead; ahead < start + 31 * DAY; await cleanUp()) ahead += 0.9 * DAY
    await services.last(JobRunner).drain()
    expect([count('nodes'), count('documents')]).toEqual([3, 2])
    for await (const frame of run.frames()) expect(frame).toBeDefined()
    await cleanUp()
    await until(() => count('nodes') === 1 && count('documents') === 1)
    expect((await ask(test.engine, ADA, spaceId, QUESTION)).answer).toContain('1908')
  })
})

describe('a retention clean-up', () => {
  it('stops when the engine closes, after a part of its work, and continues after the next start', async () => {
    await ingest(test.engine, ADA, spaceId, { 'a.md': LIGHTHOUSE })
    for (let round = 0; round < 60; round++) await ask(test.engine, ADA, spaceId, QUESTION)
    ahead += 91 * DAY
    await test.reopen()
    services.last(RetentionSweeper).wake()
    await until(() => count('traces') < 60)
    await test.engine.close()
    const left = count('traces')
    expect(left).toBeGreaterThan(0)
    expect(count('evidence_bundles')).toBe(left)
    test.engine = await openEngine(engineOptions(test.dataDir, changes))
    await cleanUp()
    await until(() => count('traces') === 0)
    expect(count('evidence_bundles')).toBe(0)
  })

  it('F37: distrusts a clock that jumped by more than a day until it was steady for an hour', () => {
    let wall = 1000 * DAY
    let steady = 0
    const pass = (milliseconds: number) => {
      wall += milliseconds
      steady += milliseconds
    }
    const clock = new SteadyClock(
      () => wall,
      () => steady,
    )
    pass(30 * DAY)
    expect(clock.read()).toBe(wall)
    wall += DAY
    pass(1)
    expect(clock.read()).toBe(wall)
    wall += DAY + 1
    expect(clock.read()).toBeUndefined()
    pass(60 * MINUTE - 1)
    expect(clock.read()).toBeUndefined()
    wall -= 100 * DAY
    pass(1)
    expect(clock.read()).toBeUndefined()
    pass(60 * MINUTE)
    expect(clock.read()).toBe(wall)
  })
})

async function reindex(documentId: string, times: number): Promise<void> {
  for (let round = 0; round < times; round++) {
    const { bulkJobId } = await test.engine.documents.reindex(ADA, spaceId, { documentIds: [documentId] })
    await until(async () => (await test.engine.jobs.bulk(ADA, bulkJobId)).status === 'completed')
  }
}
