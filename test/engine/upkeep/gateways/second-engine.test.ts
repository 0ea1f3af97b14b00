import { afterAll, beforeAll, expect, test } from 'vitest'
import { removeFolder } from '../../../../bench/lib/removed-folder.js'
import { type Engine, openEngine } from '../../../../src/engine/index.js'
import { newId } from '../../../../src/lib/ids.js'
import { copyDataDir, listOwners } from '../../../helpers/copied-store.js'
import { forgetDatabase, rowsOf } from '../../../helpers/databases.js'
import { ADA, engineOptions, ingest, startEngine, type TestEngine, uploadOne } from '../../../helpers/engine.js'
import { type FakeOpenAi, startFakeOpenAi } from '../../../helpers/fake-openai.js'
import { watchStarts } from '../../../helpers/services.js'
import { page, type Site, startSite } from '../../../helpers/site.js'
import { until } from '../../../helpers/until.js'

const MODEL = { pluginId: 'openai-compatible', provider: 'local', model: 'some-model' }
const TIDES = '# Tides\n\nThe moon pulls the sea and makes the tides.\n'
/** How long the provider takes to respond while the copy is made. */
const SLOW_MS = 1500

const providersAt = ({ url }: FakeOpenAi) => ({
  providers: [{ pluginId: MODEL.pluginId, provider: MODEL.provider, baseUrl: url }],
  sources: { egressAllow: ['127.0.0.2'], tickMs: 50 },
})

const services = watchStarts()
let fakes: FakeOpenAi[]
let site: Site
let first: TestEngine
let copy = ''
let answerPage = () => {}
let ids: { job: string; task: string; source: string; message: string }
let firstGateway = ''
let crawled: Promise<unknown>

beforeAll(async () => {
  fakes = [await startFakeOpenAi({ dimension: 8 }), await startFakeOpenAi({ dimension: 8 })]
  first = await startEngine(providersAt(fakes[0]!))
  const { engine } = first
  const space = await engine.spaces.create(ADA, { name: 'Sea', slug: 'sea', embeddingProfile: MODEL })
  await ingest(engine, ADA, space.id, { 'tides.md': TIDES })
  await engine.spaces.setRetrievalProfile(ADA, space.id, {
    ...{
      defaultMode: 'fast',
      modes: ['fast', 'deep', 'research'],
      topK: 5,
      scoreThreshold: 0,
      rerank: { enabled: false },
    },
    reasoningModel: MODEL,
  })
  const app = await engine.chat.apps.create(ADA, { name: 'App', knowledgeSpaceIds: [space.id], model: MODEL })
  const session = (await engine.chat.authenticate(String((await engine.chat.apps.createKey(ADA, app.id)).key)))!
  site = await startSite({
    '/': (_request, response) => {
      answerPage = () => response.setHeader('content-type', 'text/html').end(page('Web', 'A page about the web.'))
    },
  })
  const source = await engine.sources.create(ADA, space.id, {
    ...{ name: 'Site', type: 'web', uri: `${site.url}/`, permissionScope: [], metadata: {} },
  })
  firstGateway = String(rowsOf(first.dataDir).all('SELECT id FROM gateways')[0]?.['id'])

  crawled = engine.sources.crawl(ADA, space.id, source.id)
  await until(() => site.hits.includes('/'))
  fakes[0]!.always({ kind: 'slow', ms: SLOW_MS })
  const task = await engine.research.create(ADA, { knowledgeSpaceId: space.id, query: 'What makes the tides?' })
  const turn = await engine.chat.send(session, {
    ...{ query: 'What pulls the sea?', inputs: {}, response_mode: 'streaming', user: 'u', files: [] },
    auto_generate_name: false,
  })
  const { compilationJob } = await uploadOne(engine, ADA, space.id, {
    filename: 'sea.md',
    text: '# Sea\n\nSalt water.\n',
  })
  await engine.idempotency.begin(ADA, 'a key', 'fingerprint')
  ids = { job: compilationJob.id, task: task.id, source: source.id, message: turn.ids.messageId }
  await until(() => {
    const { jobs, tasks, messages } = listOwners(first.dataDir)
    return [...jobs!, ...tasks!, ...messages!].filter(({ claimed_by }) => claimed_by === firstGateway).length === 3
  })
  copy = copyDataDir(first.dataDir)
  await holdMore(copy, space.id, app.id)
})

/** Work that takes the first engine only moments, in the state of those moments. */
async function holdMore(dataDir: string, spaceId: string, appId: string): Promise<void> {
  const { run, value } = rowsOf(dataDir)
  const key = value('SELECT key FROM spaces WHERE id = ?', spaceId)
  await run(
    `INSERT INTO staged_commits (id, tenant, space_key, idempotency_key, operation_type, status, claimed_by, created_at, updated_at)
     VALUES (?, 'tenant-a', ?, 'k', 'document-upload', 'received', ?, 1, 1)`,
    ...[newId(), key, firstGateway],
  )
  await run(
    `INSERT INTO vector_spaces (id, space_key, revision, dimension, state, claimed_by, created_at)
     VALUES (?, ?, 2, 8, 'building', ?, 1)`,
    ...[newId(), key, firstGateway],
  )
  await run(
    `INSERT INTO chat_annotation_jobs (tenant, id, app_id, action, status, claimed_by, created_at)
     VALUES ('tenant-a', ?, ?, 'enable', 'processing', ?, 1)`,
    ...[newId(), appId, firstGateway],
  )
  await run(
    `INSERT INTO graph_readings (id, space_key, state, budget, total, claimed_by, created_at, updated_at)
     VALUES (?, ?, 'reading', 1, 1, ?, 1, 1)`,
    ...[newId(), key, firstGateway],
  )
}

afterAll(async () => {
  await first.end()
  await site.end()
  for (const fake of fakes) await fake.close()
  forgetDatabase(copy)
  removeFolder(copy)
})

async function onCopy(work: (engine: Engine) => Promise<void>): Promise<void> {
  const engine = await openEngine(engineOptions(copy, providersAt(fakes[1]!)))
  try {
    await work(engine)
  } finally {
    await engine.close()
  }
}

test('a second engine on a copy of the data takes over no live claim, and the first engine finishes its work', {
  timeout: 60_000,
}, async () => {
  const before = listOwners(copy)
  for (const [kind, rows] of Object.entries(before))
    if (kind !== 'migrations')
      expect(rows, kind).toContainEqual(
        expect.objectContaining(kind === 'keys' ? { instance: firstGateway } : { claimed_by: firstGateway }),
      )
  const known = services.all().length
  await onCopy(async (engine) => {
    for (const service of services.all().slice(known)) await service.drain()
    await expect(engine.idempotency.begin(ADA, 'a key', 'fingerprint')).rejects.toThrow('still running')
    expect(listOwners(copy)).toEqual(before)
  })
  expect(listOwners(copy)).toEqual(before)

  fakes[0]!.always()
  answerPage()
  expect(await crawled).toMatchObject({ status: 'completed', imported: 1 })
  const { engine } = first
  await until(async () => (await engine.jobs.get(ADA, ids.job)).stage === 'published')
  await until(async () => (await engine.research.get(ADA, ids.task)).stage === 'completed')
  await until(() => listOwners(first.dataDir)['messages']?.[0]?.['status'] === 'normal')
})

test('a second engine takes over all work when the first engine has been silent for a minute', async () => {
  expect(await rowsOf(copy).run('UPDATE gateways SET beat_at = beat_at - 60000')).toBe(1)
  await onCopy(async (engine) => {
    const { uploads, models, annotationJobs, messages, sources } = listOwners(copy)
    expect(uploads).toMatchObject([{ status: 'failed-retryable' }])
    // And it is removed in the background after the start.
    expect(models!.filter(({ state }) => state !== 'superseded')).toEqual([])
    expect(annotationJobs).toMatchObject([{ status: 'error', error: expect.stringContaining('stopped') }])
    expect(messages).toMatchObject([{ status: 'error', error: expect.stringContaining('stopped') }])
    expect(sources).toMatchObject([{ status: 'error', claimed_by: null, sync_started_at: null }])
    expect(await engine.idempotency.begin(ADA, 'a key', 'fingerprint')).toBeUndefined()
    await until(async () => (await engine.jobs.get(ADA, ids.job)).stage === 'published')
    await until(async () => (await engine.research.get(ADA, ids.task)).stage === 'completed')
    await until(() => listOwners(copy)['readings']?.[0]?.['state'] === 'completed')
    const gateways = rowsOf(copy).all('SELECT id FROM gateways')
    expect(gateways.map(({ id }) => id)).not.toContain(firstGateway)
    expect(gateways).toHaveLength(1)
  })
  expect(rowsOf(copy).all('SELECT id FROM gateways')).toEqual([])
})
