import { afterEach, beforeEach, expect, it } from 'vitest'
import { recoverJobs } from '../../../../src/engine/ingest/jobs/recovery.js'
import { JobRunner } from '../../../../src/engine/ingest/jobs/runner.js'
import type { Driver } from '../../../../src/engine/store/driver.js'
import { recordHeartbeat, removeLostGateways } from '../../../../src/engine/store/rows/gateways.js'
import { claimJobs, listDueJobs, releaseJob } from '../../../../src/engine/store/rows/job-claims.js'
import type { JobRow } from '../../../../src/engine/store/rows/jobs.js'
import { openDriver, rowsOf } from '../../../helpers/databases.js'
import { ADA, ask, startEngine, type TestEngine, uploadOne } from '../../../helpers/engine.js'
import { type FakeOpenAi, startFakeOpenAi } from '../../../helpers/fake-openai.js'
import { watchStarts } from '../../../helpers/services.js'
import { until } from '../../../helpers/until.js'

const MODEL = { pluginId: 'openai-compatible', provider: 'local', model: 'some-model' }
const TEXT = '# Lighthouse\n\nThe lighthouse of Westerheversand was built in 1908.\n'
const QUESTION = 'When was the lighthouse built?'
/** Longer than a gateway may be silent. */
const SLEPT_MS = 70_000

const services = watchStarts()
let provider: FakeOpenAi
let test: TestEngine
let spaceId: string
let failures: string[]

beforeEach(async () => {
  provider = await startFakeOpenAi({ dimension: 8 })
  failures = []
  const log = { debug() {}, info() {}, warn: (_: object, message: string) => failures.push(message), error() {} }
  test = await startEngine({
    ...{ log, providers: [{ pluginId: MODEL.pluginId, provider: MODEL.provider, baseUrl: provider.url }] },
  })
  spaceId = (await test.engine.spaces.create(ADA, { name: 'N', slug: 'n', embeddingProfile: MODEL })).id
})
afterEach(async () => {
  await test.end()
  await provider.close()
})

/** A job that is being compiled, and whose publication waits a second and a half for the model. */
async function underWay() {
  provider.always({ kind: 'slow', ms: 1500 })
  const accepted = await uploadOne(test.engine, ADA, spaceId, { filename: 'a.md', text: TEXT })
  await until(() => provider.requests.some(({ path }) => path.endsWith('/embeddings')))
  return accepted
}

const jobs = () => rowsOf(test.dataDir).all('SELECT id, stage, claimed_by, fence, error, attempts, waits FROM jobs')
const published = () =>
  rowsOf(test.dataDir).all(
    'SELECT head_revision, (SELECT count(*) FROM versions WHERE from_revision IS NOT NULL) shown FROM spaces',
  )

/** What another gateway does that considers all others dead. */
function takeOver(other: Driver): Promise<JobRow[]> {
  return other.write(function* () {
    yield* recordHeartbeat('another', undefined)
    yield* removeLostGateways('another')
    yield* recoverJobs()
    const due = yield* listDueJobs(1, { now: Date.now(), latest: Date.now() }, 10)
    return yield* claimJobs(due, 'another')
  })
}

it('a publication by a gateway considered dead is rejected completely, and the new claimant publishes the document', async () => {
  const { asset, compilationJob } = await underWay()
  await rowsOf(test.dataDir).run(`UPDATE gateways SET beat_at = beat_at - ${SLEPT_MS}`)
  const other = await openDriver(test.dataDir)
  const [taken] = await takeOver(other)
  expect(taken).toMatchObject({ id: compilationJob.id, claimed_by: 'another', fence: 2, unclean_ends: 1 })
  await until(() => failures.some((said) => said.includes(`the lease of job ${compilationJob.id} was lost`)))
  await services.last(JobRunner).drain()
  // Neither published, moved or released, nor counted as an attempt.
  expect(published()).toEqual([{ head_revision: 0, shown: 0 }])
  expect(jobs()).toMatchObject([
    { stage: taken?.stage, claimed_by: 'another', fence: 2, error: null, attempts: 0, waits: 0 },
  ])
  expect(await test.engine.documents.get(ADA, spaceId, asset.id)).toMatchObject({ parserStatus: 'pending' })
  provider.always()
  await other.write(() => releaseJob(taken!, 0))
  await other.close()
  await until(async () => (await test.engine.jobs.get(ADA, compilationJob.id)).stage === 'published')
  expect(published()).toEqual([{ head_revision: 1, shown: 1 }])
  expect((await ask(test.engine, ADA, spaceId, QUESTION)).answer).toContain('1908')
})

it('a publication by a process that slept and lost no claim succeeds', async () => {
  const { compilationJob } = await underWay()
  await rowsOf(test.dataDir).run(`UPDATE gateways SET beat_at = beat_at - ${SLEPT_MS}`)
  await until(async () => (await test.engine.jobs.get(ADA, compilationJob.id)).stage === 'published')
  expect(jobs()).toMatchObject([{ fence: 1, attempts: 0, waits: 0 }])
  expect(failures).toEqual([])
})

it('deleting a document ends the claim of the gateway that compiles it, which then publishes nothing', async () => {
  const { asset, compilationJob } = await underWay()
  await test.engine.documents.delete(ADA, spaceId, [asset.id])
  expect(jobs()).toMatchObject([{ stage: 'canceled', claimed_by: null }])
  await until(async () => (await test.engine.activity()).activeJobs === 0)
  expect(jobs()).toMatchObject([{ id: compilationJob.id, stage: 'canceled', claimed_by: null }])
  expect(published()).toEqual([{ head_revision: 1, shown: 0 }])
  await expect(test.engine.documents.get(ADA, spaceId, asset.id)).rejects.toMatchObject({ code: 'not-found' })
})

it('the lease of a compilation comes from the row of its job: it shows the fence and the heartbeat of the gateway', async () => {
  const { asset, compilationJob } = await underWay()
  const [gateway] = rowsOf(test.dataDir).all('SELECT beat_at FROM gateways')
  await rowsOf(test.dataDir).run('UPDATE gateways SET beat_at = beat_at + 30000')
  const beatAt = Number(gateway?.['beat_at']) + 30_000
  const { items } = await test.engine.integrity.leases(ADA, spaceId, { limit: 10 })
  expect(items).toMatchObject([
    {
      ...{ leaseType: 'publish', status: 'active', targetType: 'document', targetId: asset.id, targetVersion: 1 },
      ...{ sessionId: compilationJob.id, virtualPath: `/knowledge/documents/${asset.id}`, metadata: { fence: 1 } },
      heartbeatAt: new Date(beatAt).toISOString(),
      expiresAt: new Date(beatAt + 60_000).toISOString(),
    },
  ])
  const { activeLeases } = await test.engine.spaces.status(ADA, spaceId)
  expect(activeLeases).toMatchObject({ count: 1, items: [{ id: items[0]?.id, leaseType: 'publish' }] })
  await until(async () => (await test.engine.jobs.get(ADA, compilationJob.id)).stage === 'published')
  expect((await test.engine.integrity.leases(ADA, spaceId, { limit: 10 })).items).toEqual([])
})
