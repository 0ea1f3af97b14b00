import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ADA, ask, BOB, ingest, startEngine, type TestEngine } from '../../../helpers/engine.js'
import { type FakeOpenAi, startFakeOpenAi } from '../../../helpers/fake-openai.js'

const OLD = { pluginId: 'openai-compatible', provider: 'old', model: 'old-model' }
const NEW = { pluginId: 'openai-compatible', provider: 'new', model: 'new-model' }
const BUILTIN = { pluginId: 'builtin', provider: 'lsa', model: 'lsa-200' }
const TOPICS = ['lighthouse', 'harbour', 'ferry', 'tide', 'anchor', 'sail', 'compass', 'chart', 'beacon', 'buoy']
const files = (prefix: string) =>
  Object.fromEntries(
    TOPICS.map((topic, index) => [
      `${prefix}-${topic}.md`,
      `# The ${topic} of ${prefix}\n\nThe ${topic} of ${prefix} was built in ${1900 + index}; ${TOPICS[(index + 3) % 10]} and ${TOPICS[(index + 7) % 10]} stand beside it.\n`,
    ]),
  )
const QUESTION = 'When was the lighthouse of Westerhever built?'

let oldFake: FakeOpenAi
let newFake: FakeOpenAi
let test: TestEngine
let spaceId: string

beforeEach(async () => {
  oldFake = await startFakeOpenAi({ dimension: 16 })
  newFake = await startFakeOpenAi({ dimension: 24, poison: 'indigestible' })
  test = await startEngine({
    providers: [
      { pluginId: OLD.pluginId, provider: 'old', baseUrl: oldFake.url, timeoutMs: 3000 },
      {
        pluginId: NEW.pluginId,
        provider: 'new',
        baseUrl: newFake.url,
        timeoutMs: 3000,
        maxBatch: 2,
        maxConcurrency: 1,
      },
    ],
  })
  spaceId = (await test.engine.spaces.create(ADA, { name: 'N', slug: 'n', embeddingProfile: OLD })).id
})
afterEach(async () => {
  await test.end()
  await oldFake.close()
  await newFake.close()
})

const profile = async () => (await test.engine.spaces.manifest(ADA, spaceId)).embeddingProfile
const migration = (id: string) => test.engine.spaces.migration(ADA, spaceId, id)
const stateOf = (id: string, state: string) =>
  expect.poll(async () => (await migration(id)).state, { interval: 50 }).toBe(state)
const dense = async () => (await test.engine.spaces.status(ADA, spaceId)).index.summaries.denseVector

/** Vectors of the old model are loaded shortly after publication. */
const oldVectorsAreThere = () => expect.poll(asked).toMatchObject({ by: 'old', found: TOPICS.length, degraded: false })

/** Asks; returns the model that embedded the question and the number of passages its vector found. */
async function asked(): Promise<{ by: string; found: number; degraded: boolean; answer: string }> {
  const before = { old: oldFake.requests.length, new: newFake.requests.length }
  const { traceId, answer } = await ask(test.engine, ADA, spaceId, QUESTION)
  const isQuestion = ({ body }: { body: { input?: string | string[] } }) =>
    JSON.stringify(body.input ?? '').includes('When was')
  const old = oldFake.requests.slice(before.old).some(isQuestion)
  const anew = newFake.requests.slice(before.new).some(isQuestion)
  const { steps } = await test.engine.queries.trace(ADA, traceId)
  const retrieve = steps.find(({ name }) => name === 'query.retrieve')?.metadata as unknown as {
    metrics: { denseCandidateCount: number; degraded: boolean }
  }
  const by = [old ? 'old' : '', anew ? 'new' : ''].filter((name) => name !== '').join('+')
  return { by, found: retrieve.metrics.denseCandidateCount, degraded: retrieve.metrics.degraded, answer }
}

describe('a space with documents that moves to another embedding model', () => {
  it('reports embedding-frozen or migration-active in preference to provider-not-configured', async () => {
    const { spaces } = test.engine
    const unknown = { pluginId: 'nobody', provider: 'nowhere', model: 'nothing' }
    const refused = (code: string) => ({ code })
    await expect(spaces.setEmbeddingProfile(ADA, spaceId, unknown)).rejects.toMatchObject(
      refused('provider-not-configured'),
    )
    await ingest(test.engine, ADA, spaceId, files('Westerhever'))
    await expect(spaces.setEmbeddingProfile(ADA, spaceId, unknown)).rejects.toMatchObject(refused('embedding-frozen'))
    await expect(spaces.startMigration(ADA, spaceId, unknown)).rejects.toMatchObject(refused('provider-not-configured'))
    newFake.always({ kind: 'slow', ms: 400 })
    await spaces.startMigration(ADA, spaceId, NEW)
    await expect(spaces.startMigration(ADA, spaceId, unknown)).rejects.toMatchObject(refused('migration-active'))
    newFake.always()
  })

  it('answers by the old model while new vectors are computed, and by the new model after the migration', async () => {
    await ingest(test.engine, ADA, spaceId, files('Westerhever'))
    await oldVectorsAreThere()
    await expect(test.engine.spaces.setEmbeddingProfile(ADA, spaceId, NEW)).rejects.toMatchObject({
      code: 'embedding-frozen',
      message: expect.stringContaining(`POST /knowledge-spaces/${spaceId}/embedding-profile/migrations`),
    })
    const before = await profile()
    newFake.always({ kind: 'slow', ms: 400 })
    const begun = await test.engine.spaces.startMigration(ADA, spaceId, NEW)
    expect(begun).toMatchObject({ state: 'filling', filled: 0, total: 10 })
    await expect(test.engine.spaces.startMigration(ADA, spaceId, BUILTIN)).rejects.toMatchObject({
      code: 'migration-active',
    })
    await expect(test.engine.spaces.migration(BOB, spaceId, begun.id)).rejects.toMatchObject({ code: 'not-found' })
    await expect.poll(async () => (await migration(begun.id)).filled, { interval: 20 }).toBeGreaterThan(1)
    expect(await asked()).toMatchObject({ by: 'old', found: 10, degraded: false })
    expect(await profile()).toEqual(before)
    expect((await test.engine.activity()).backgroundTasks).toBeGreaterThan(0)
    newFake.always()
    await stateOf(begun.id, 'published')
    expect(await migration(begun.id)).toMatchObject({ filled: 10, total: 10, refused: 0 })
    expect(await profile()).toMatchObject({ ...NEW, dimension: 24, revision: (before?.revision ?? 0) + 1 })
    await expect.poll(asked).toMatchObject({ by: 'new', found: 10, degraded: false })
    expect(await dense()).toMatchObject({ total: 10, ready: 10 })
    await expect(test.engine.spaces.cancelMigration(ADA, spaceId, begun.id)).rejects.toMatchObject({
      code: 'already-terminal',
    })
    await expect.poll(async () => (await test.engine.activity()).backgroundTasks).toBe(0)
    await test.reopen()
    await expect.poll(asked).toMatchObject({ by: 'new', found: 10 })
  }, 90_000)

  it('computes new vectors for documents uploaded during the migration', async () => {
    await ingest(test.engine, ADA, spaceId, files('Westerhever'))
    await oldVectorsAreThere()
    newFake.always({ kind: 'slow', ms: 300 })
    const { id } = await test.engine.spaces.startMigration(ADA, spaceId, NEW)
    await ingest(test.engine, ADA, spaceId, files('Pellworm'))
    expect((await migration(id)).state).toBe('filling')
    newFake.always()
    await stateOf(id, 'published')
    expect(await migration(id)).toMatchObject({ filled: 20, total: 20 })
    expect(await dense()).toMatchObject({ total: 20, ready: 20, building: 0 })
    await ingest(test.engine, ADA, spaceId, files('Amrum'))
    await expect.poll(dense).toMatchObject({ total: 30, ready: 30, building: 0 })
  }, 90_000)

  it('keeps the old model when the migration is canceled midway, and can start another migration', async () => {
    await ingest(test.engine, ADA, spaceId, files('Westerhever'))
    await oldVectorsAreThere()
    const before = await profile()
    newFake.always({ kind: 'slow', ms: 400 })
    const { id } = await test.engine.spaces.startMigration(ADA, spaceId, NEW)
    await expect.poll(async () => (await migration(id)).filled, { interval: 20 }).toBeGreaterThan(1)
    expect((await test.engine.spaces.cancelMigration(ADA, spaceId, id)).state).toBe('canceled')
    await expect.poll(async () => (await test.engine.activity()).backgroundTasks).toBe(0)
    const sent = newFake.requests.length
    expect(await profile()).toEqual(before)
    expect(await asked()).toMatchObject({ by: 'old', found: 10, degraded: false })
    await test.reopen()
    expect(await asked()).toMatchObject({ by: 'old', found: 10 })
    expect(newFake.requests.length).toBe(sent)
    newFake.always()
    const again = await test.engine.spaces.startMigration(ADA, spaceId, NEW)
    await stateOf(again.id, 'published')
    await expect.poll(asked).toMatchObject({ by: 'new', found: 10 })
  }, 90_000)

  it('keeps the old model when the new one fails permanently', async () => {
    await ingest(test.engine, ADA, spaceId, files('Westerhever'))
    await oldVectorsAreThere()
    const before = await profile()
    newFake.always({ kind: 'status', status: 401 })
    const { id } = await test.engine.spaces.startMigration(ADA, spaceId, NEW)
    await stateOf(id, 'failed')
    expect(await migration(id)).toMatchObject({ errorClass: 'auth', error: expect.stringContaining('401') })
    expect(await profile()).toEqual(before)
    expect(await asked()).toMatchObject({ by: 'old', found: 10, degraded: false })
  })

  it('reports that the migration waits for an unavailable provider, and resumes it after a restart', async () => {
    await ingest(test.engine, ADA, spaceId, files('Westerhever'))
    await oldVectorsAreThere()
    newFake.always({ kind: 'slow', ms: 200 })
    const { id } = await test.engine.spaces.startMigration(ADA, spaceId, NEW)
    await expect.poll(async () => (await migration(id)).filled, { interval: 20 }).toBeGreaterThan(1)
    newFake.always({ kind: 'status', status: 429 })
    await stateOf(id, 'waiting')
    const { filled, ...waiting } = await migration(id)
    expect(waiting).toMatchObject({ errorClass: 'rate-limited', nextAttemptAt: expect.any(String) })
    expect(await asked()).toMatchObject({ by: 'old', found: 10 })
    await test.reopen()
    expect((await migration(id)).filled).toBe(filled)
    const first = newFake.requests.length
    newFake.always()
    await stateOf(id, 'published')
    const sent = newFake.requests.slice(first).flatMap(({ body }) => [body.input ?? []].flat())
    // Vectors made before the restart are not requested again.
    expect(new Set(sent).size).toBeLessThan(10)
    await expect.poll(asked).toMatchObject({ by: 'new', found: 10 })
  }, 90_000)

  it('counts a passage that the new model rejects as refused, and migrates all others', async () => {
    await ingest(test.engine, ADA, spaceId, {
      ...files('Westerhever'),
      'poison.md': '# Poison\n\nAn indigestible passage on mushrooms.\n',
    })
    const { id } = await test.engine.spaces.startMigration(ADA, spaceId, NEW)
    await stateOf(id, 'published')
    expect(await migration(id)).toMatchObject({ filled: 10, total: 11, refused: 1 })
    expect(await dense()).toMatchObject({ ready: 10, failed: 1, building: 0 })
  })

  it('moves to the built-in model, which is trained on its text, and from there to a provider', async () => {
    await ingest(test.engine, ADA, spaceId, { ...files('Westerhever'), ...files('Pellworm'), ...files('Amrum') })
    const { id } = await test.engine.spaces.startMigration(ADA, spaceId, BUILTIN)
    await stateOf(id, 'published')
    expect(await profile()).toMatchObject(BUILTIN)
    expect((await migration(id)).filled).toBe(30)
    await expect.poll(asked).toMatchObject({ by: '', degraded: false })
    expect((await asked()).found).toBeGreaterThan(0)
    const back = await test.engine.spaces.startMigration(ADA, spaceId, NEW)
    await stateOf(back.id, 'published')
    await expect.poll(asked).toMatchObject({ by: 'new', found: 30 })
  }, 90_000)

  it('switches at once when it has no passages', async () => {
    const { id } = await test.engine.spaces.startMigration(ADA, spaceId, NEW)
    await stateOf(id, 'published')
    await ingest(test.engine, ADA, spaceId, files('Westerhever'))
    await expect.poll(asked).toMatchObject({ by: 'new', found: 10 })
  })

  it('ends its migration when it is deleted', async () => {
    await ingest(test.engine, ADA, spaceId, files('Westerhever'))
    await oldVectorsAreThere()
    newFake.always({ kind: 'hang' })
    await test.engine.spaces.startMigration(ADA, spaceId, NEW)
    await test.engine.spaces.delete(ADA, spaceId)
    newFake.always()
    await expect.poll(async () => (await test.engine.activity()).backgroundTasks).toBe(0)
  })
})
