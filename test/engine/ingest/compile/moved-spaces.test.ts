import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { KsError } from '../../../../src/contract/errors.js'
import { ProviderFailure } from '../../../../src/engine/base/provider-failure.js'
import { EmbeddingMigrations } from '../../../../src/engine/ingest/compile/embedding-migrations.js'
import { getMigration, startMigration } from '../../../../src/engine/ingest/compile/migration-operations.js'
import { VectorFiller } from '../../../../src/engine/ingest/compile/vector-filler.js'
import type { SpaceRow } from '../../../../src/engine/store/rows/spaces.js'
import { recordDimension } from '../../../../src/engine/store/rows/vector-spaces.js'
import { ADA } from '../../../helpers/engine.js'
import { MAX_BATCH, openSmallStore, PROVIDED, type SmallStore, vectorOf } from '../../../helpers/store.js'
import { until } from '../../../helpers/until.js'
import { DIMENSION, modelsOf, nodeKeys, publish, shared, vector, vectorsOf } from './trained-spaces.js'

vi.mock('../../../../src/engine/models/builtin/lsa-trainer.js', () => import('./trained-here.js'))

const BUILTIN = { pluginId: 'builtin', provider: 'lsa', model: 'lsa-200' }
const OTHER = { ...PROVIDED, model: 'another-model' }
/** How long a publication waits for a silent provider. */
const SILENCE_MS = 2000

const signal = new AbortController().signal

let store: SmallStore
let space: SpaceRow
beforeEach(async () => {
  store = await openSmallStore()
  space = store.createSpace({ model: PROVIDED })
})
afterEach(async () => {
  vi.useRealTimers()
  await store.end()
})

const fails = (kind: 'status' | 'timeout', status?: number) =>
  new KsError('provider-failed', `it answered ${status ?? kind}`, {
    cause: new ProviderFailure(kind, 'x', status === undefined ? {} : { status }),
  })
const sizes = () => store.embedded.map((texts) => texts.length)
const many = (count: number) => Array.from({ length: count }, (_, n) => `passage ${n}`).join('\n\n')

describe('a space that migrates to another embedding model', () => {
  let migrations: EmbeddingMigrations
  /** The vector space before the migration. */
  let old: string

  async function begin(text: string, model = BUILTIN): Promise<string> {
    store.context.vectors.waitForVectors = async () => undefined
    await publish(store, space, { 'a.md': text })
    const made = store.write(() => recordDimension(space.key, 2, space.vector_space))
    old = made?.id ?? ''
    store.run("INSERT INTO vectors SELECT ?, key, x'003c0000' FROM nodes", made?.key ?? 0)
    migrations = new EmbeddingMigrations()
    store.context.migrations = migrations
    migrations.start(store.context)
    return (await startMigration(store.context, ADA, space.id, model)).id
  }
  afterEach(() => migrations.stop())
  const told = (id: string) => store.db.now(getMigration(ADA, space.id, id))
  const ended = (id: string) => until(() => told(id).completedAt !== undefined)

  it('trains the built-in model on its own text and has a vector for every passage', async () => {
    store.embed = (texts) => texts.map(vector)
    const id = await begin(shared(60))
    await ended(id)
    expect(told(id)).toMatchObject({ state: 'published', filled: 60, total: 60, refused: 0 })
    await until(() => modelsOf(store).length === 1)
    const [model] = modelsOf(store)
    expect(model).toMatchObject({ state: 'active', dimension: DIMENSION, trained_nodes: 60 })
    expect(store.reload(space)).toMatchObject({
      ...{ embedding_plugin: 'builtin', vector_space: model?.id, dimension: DIMENSION },
    })
    expect(vectorsOf(store, model?.key ?? 0)).toEqual(nodeKeys(store))
    expect(store.indexes.vectorKeys(space.id, model?.id ?? '')).toHaveLength(60)
    await until(async () => (await migrations.active) === 0)
    // Training and other work may be due again.
    expect(store.wokenSpaces.length).toBeGreaterThan(0)
  })

  it('gets no vectors when it lacks the text to train the built-in model', async () => {
    const id = await begin('one\n\ntwo')
    await ended(id)
    expect(told(id)).toMatchObject({ state: 'published', filled: 0, total: 2 })
    await until(() => modelsOf(store).length === 0)
    expect(store.reload(space)).toMatchObject({ embedding_plugin: 'builtin', dimension: null })
    expect(store.reload(space).vector_space).not.toBe(old)
    expect(store.embedded).toEqual([])
  })

  it('resumes after a stop with the model that was trained before', async () => {
    let stopped: Promise<void> | undefined
    store.embed = (texts) => {
      stopped ??= migrations.stop()
      return texts.map(vector)
    }
    const id = await begin(shared(300))
    await until(() => stopped !== undefined)
    await stopped
    expect(told(id).state).toBe('filling')
    expect(store.reload(space).vector_space).toBe(old)
    const [, building] = modelsOf(store)
    expect(building).toMatchObject({ state: 'building', trained_nodes: 300 })
    store.embed = (texts) => texts.map(vector)
    migrations = new EmbeddingMigrations()
    migrations.start(store.context)
    await ended(id)
    await until(() => modelsOf(store).length === 1)
    expect(modelsOf(store)[0]?.id).toBe(building?.id)
    expect(vectorsOf(store, building?.key ?? 0)).toHaveLength(300)
  })

  it('reports the passages that the model rejected and has the vectors of all others', async () => {
    store.embed = (texts) => {
      if (texts.some((text) => text.endsWith('passage 2'))) throw fails('status', 400)
      return texts.map(vectorOf)
    }
    const id = await begin(many(6), OTHER)
    await ended(id)
    expect(told(id)).toMatchObject({ state: 'published', filled: 5, total: 6, refused: 1 })
    const [model] = modelsOf(store).filter(({ state }) => state === 'active')
    const [, , refused] = nodeKeys(store)
    expect(vectorsOf(store, model?.key ?? 0)).toEqual(
      nodeKeys(store).filter((one) => JSON.stringify(one) !== JSON.stringify(refused)),
    )
    expect(store.logged).toContainEqual(
      expect.objectContaining({ level: 'warn', fields: expect.objectContaining({ error: 'it answered 400' }) }),
    )
  })

  it('keeps its model when the new one rejects every passage', async () => {
    store.embed = (texts) => {
      if (texts.some((text) => text !== 'text')) throw fails('status', 400)
      return texts.map(vectorOf)
    }
    const id = await begin(many(2), OTHER)
    await ended(id)
    expect(told(id)).toMatchObject({ state: 'failed', errorClass: 'unavailable' })
    expect(store.reload(space)).toMatchObject({ vector_space: old, embedding_model: PROVIDED.model })
    expect(modelsOf(store).map(({ id, state }) => ({ id, state }))).toEqual([{ id: old, state: 'active' }])
  })

  it('without a passage switches at once', async () => {
    const id = await begin('', OTHER)
    await ended(id)
    expect(told(id)).toMatchObject({ state: 'published', filled: 0, total: 0 })
    expect(store.reload(space).embedding_model).toBe(OTHER.model)
  })

  it('sends smaller requests after timeouts, down to one text', async () => {
    store.embed = () => {
      throw fails('timeout')
    }
    const id = await begin(many(6), OTHER)
    for (const [attempts, most] of [
      [1, MAX_BATCH],
      [2, MAX_BATCH / 2],
      [3, 1],
      [4, 1],
    ] as const) {
      await until(() => store.rows('SELECT 1 FROM embedding_migrations WHERE attempts = ?', attempts).length === 1)
      expect(Math.max(...sizes())).toBe(most)
      store.embedded.length = 0
      store.run('UPDATE embedding_migrations SET next_at = 0')
      if (attempts < 4) migrations.wake()
    }
    store.embed = (texts) => texts.map(vectorOf)
    migrations.wake()
    await ended(id)
    expect(told(id)).toMatchObject({ state: 'published', filled: 6 })
  })

  it('keeps its model when the worker of its migration lost the claim', async () => {
    let isLost = false
    store.embed = (texts) => {
      if (!isLost) store.run("UPDATE embedding_migrations SET claimed_by = 'another'")
      isLost = true
      migrations.lost()
      return texts.map(vectorOf)
    }
    const id = await begin(many(6), OTHER)
    await until(() => isLost)
    await migrations.drain()
    expect(told(id).state).toBe('filling')
    expect(store.reload(space).vector_space).toBe(old)
  })
})

describe('a provider that owes vectors', () => {
  let filler: VectorFiller
  beforeEach(() => {
    filler = new VectorFiller()
    filler.start(store.context)
    store.context.vectors = filler
  })
  afterEach(() => filler.stop())
  const versions = () => store.rows<{ key: number }>('SELECT key FROM versions').map(({ key }) => key)
  const due = () => store.rows('SELECT 1 FROM vectors_due WHERE due > 0').length

  it('receives smaller requests after timeouts, down to one text', async () => {
    store.embed = () => {
      throw fails('timeout')
    }
    await publish(store, space, { 'a.md': many(6) })
    for (const [attempts, most] of [
      [1, MAX_BATCH],
      [2, MAX_BATCH / 2],
      [3, 1],
      [4, 1],
    ] as const) {
      await until(() => store.rows('SELECT 1 FROM vector_waits WHERE attempts = ?', attempts).length === 1)
      if (attempts > 1) expect(Math.max(...sizes())).toBe(most)
      store.embedded.length = 0
      store.run('UPDATE vector_waits SET next_at = 0')
      if (attempts < 4) filler.wake()
    }
    store.embed = (texts) => texts.map(vectorOf)
    filler.wake()
    await until(() => due() === 0)
  })

  it('delays one publication while it does not reply, and after a reply one again', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    const silent = () => {
      let answer: () => void = () => undefined
      const answered = new Promise<void>((resolve) => {
        answer = resolve
      })
      let isAsked = false
      store.embed = async (texts) => {
        isAsked = true
        await answered
        return texts.map(vectorOf)
      }
      return { answer, asked: () => until(() => isAsked) }
    }
    for (const name of ['a.md', 'b.md']) {
      const { answer, asked } = silent()
      let isPublished = false
      const published = publish(store, space, { [name]: 'one' }).then(() => {
        isPublished = true
      })
      await asked()
      await vi.advanceTimersByTimeAsync(SILENCE_MS - 1)
      expect(isPublished).toBe(false)
      await vi.advanceTimersByTimeAsync(1)
      await published
      expect(due()).toBe(1)
      // The next publication does not wait: the earlier timeout still applies.
      await filler.waitForVectors(space.key, versions(), signal)
      answer()
      await until(() => due() === 0)
    }
  })

  it('gets no request before the vector filler starts, and counting missing vectors fails', async () => {
    const early = new VectorFiller()
    expect(await early.active).toBe(0)
    await expect(early.missing(space.key)).rejects.toMatchObject({ code: 'internal' })
  })
})
