import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { KsError } from '../../../../src/contract/errors.js'
import { ProviderFailure } from '../../../../src/engine/base/provider-failure.js'
import { EmbeddingMigrations } from '../../../../src/engine/ingest/compile/embedding-migrations.js'
import {
  cancelMigration,
  getMigration,
  startMigration,
} from '../../../../src/engine/ingest/compile/migration-operations.js'
import { compileBatch } from '../../../../src/engine/ingest/compile/pipeline.js'
import { deleteSuperseded, fillVectors } from '../../../../src/engine/ingest/compile/training.js'
import { VectorFiller } from '../../../../src/engine/ingest/compile/vector-filler.js'
import type { SpaceRow } from '../../../../src/engine/store/rows/spaces.js'
import {
  activateVectorSpace,
  insertTrainedVectorSpace,
  type VectorSpace,
} from '../../../../src/engine/store/rows/vector-spaces.js'
import { newId } from '../../../../src/lib/ids.js'
import { ADA, BOB } from '../../../helpers/engine.js'
import { MAX_BATCH, openSmallStore, PROVIDED, passages, type SmallStore, vectorOf } from '../../../helpers/store.js'
import { until } from '../../../helpers/until.js'

const signal = new AbortController().signal
const OTHER = { ...PROVIDED, model: 'another-model' }

let store: SmallStore
beforeEach(async () => {
  store = await openSmallStore()
})
afterEach(() => store.end())

async function publish(space: SpaceRow, files: Record<string, string>): Promise<void> {
  await compileBatch(store.context, space, await store.uploadAndClaim(space, files), { signal })
}

function trained(space: SpaceRow, use = true): VectorSpace {
  return store.write(function* () {
    const made = yield* insertTrainedVectorSpace(
      space,
      newId(),
      { dimension: 2, bytes: new Uint8Array(1), trainedNodes: 30 },
      'gone',
    )
    if (use) yield* activateVectorSpace(space.key, made)
    return made
  })
}

const many = (count: number) => passages(...Array.from({ length: count }, (_, n) => `passage ${n}`))
const vectorsOf = ({ key }: { key: number }) =>
  store.rows<{ node_key: number }>('SELECT node_key FROM vectors WHERE vector_space = ? ORDER BY 1', key)
const nodeKeys = () => store.rows<{ node_key: number }>('SELECT key node_key FROM nodes ORDER BY 1')
const fails = (failure: ProviderFailure) => new KsError('provider-failed', failure.message, { cause: failure })
const refused = () => fails(new ProviderFailure('status', 'the provider refused', { status: 400 }))
const away = () => fails(new ProviderFailure('unreachable', 'the provider is away'))

describe('vectors of a trained model', () => {
  it('get computed for every live passage without one, in the rows and in the index', async () => {
    const space = store.createSpace()
    await publish(space, { 'a.md': many(600), 'b.md': 'unknown words', 'gone.md': 'gone' })
    store.run(
      "UPDATE versions SET until_revision = 2 WHERE doc_key = (SELECT key FROM documents WHERE filename = 'gone.md')",
    )
    const model = trained(space)
    store.embed = (texts) => texts.map((text) => (text.includes('unknown') ? undefined : vectorOf(text)))
    await fillVectors(store.context, store.reload(space), model, { signal })
    expect(vectorsOf(model)).toEqual(nodeKeys().slice(0, 600))
    expect(store.indexes.vectorKeys(space.id, model.id)).toEqual(
      nodeKeys()
        .slice(0, 600)
        .map(({ node_key }) => node_key),
    )
    // A second run requests only the passage that can have no vector.
    store.embedded.length = 0
    await fillVectors(store.context, store.reload(space), model, { signal })
    expect(store.embedded.flat()).toEqual(['b.md\nunknown words'])
  })

  it('get computed only for passages after a given one, and the key of the last passage is returned', async () => {
    const space = store.createSpace()
    await publish(space, { 'a.md': many(5) })
    const model = trained(space)
    const keys = nodeKeys().map(({ node_key }) => node_key)
    expect(await fillVectors(store.context, space, model, { signal, from: keys[2] })).toBe(keys[4])
    expect(vectorsOf(model).map(({ node_key }) => node_key)).toEqual(keys.slice(3))
  })

  it('do not get computed for a replaced model or after a stop', async () => {
    const space = store.createSpace()
    await publish(space, { 'a.md': many(3) })
    const [old, next] = [trained(space), trained(store.reload(space), false)]
    const { embed } = store
    store.embed = (texts) => {
      store.write(() => activateVectorSpace(space.key, next))
      return embed(texts)
    }
    await fillVectors(store.context, space, old, { signal })
    expect(vectorsOf(old)).toEqual([])
    expect(store.indexes.vectorKeys(space.id, old.id)).toEqual([])
    const stop = AbortSignal.abort(new Error('stopped'))
    await expect(fillVectors(store.context, space, next, { signal: stop })).rejects.toThrow('stopped')
    expect(vectorsOf(next)).toEqual([])
  })

  it('get deleted when their model is superseded, not before; a stop leaves the rest for the next run', async () => {
    const space = store.createSpace()
    await publish(space, { 'a.md': many(2100) })
    const [old, using, building] = [trained(space), trained(store.reload(space)), trained(store.reload(space), false)]
    const otherSpace = store.createSpace()
    const other = trained(otherSpace)
    for (const { key } of [old, using, building])
      store.run("INSERT INTO vectors SELECT ?, key, x'003c0000' FROM nodes", key)
    store.run("UPDATE vector_spaces SET state = 'superseded' WHERE key = ?", other.key)
    await deleteSuperseded(store.context, space.key, AbortSignal.abort())
    expect(vectorsOf(old)).toHaveLength(2100)
    await deleteSuperseded(store.context, space.key)
    expect(vectorsOf(old)).toEqual([])
    expect(vectorsOf(using)).toHaveLength(2100)
    expect(vectorsOf(building)).toHaveLength(2100)
    expect(store.rows('SELECT id FROM vector_spaces ORDER BY key')).toEqual(
      [using, building, other].map(({ id }) => ({ id })),
    )
  })
})

describe('vectors that a provider owes', () => {
  let filler: VectorFiller
  let space: SpaceRow
  beforeEach(() => {
    filler = new VectorFiller()
    filler.start(store.context)
    store.context.vectors = filler
    space = store.createSpace({ model: PROVIDED })
  })
  afterEach(() => filler.stop())

  const owed = () => store.rows<{ due: number }>('SELECT due FROM vectors_due WHERE due > 0')
  const made = () => store.rows('SELECT node_key FROM vectors ORDER BY 1')

  it('arrive with the publication in requests of the size that the provider accepts', async () => {
    await publish(space, { 'a.md': many(10), 'b.md': 'one' })
    await until(() => owed().length === 0)
    expect(made()).toEqual(nodeKeys())
    expect(Math.max(...store.embedded.map((texts) => texts.length))).toBe(MAX_BATCH)
    expect(store.embedded.flat().sort()).toEqual(
      [
        ...many(10)
          .split('\n\n')
          .map((text) => `a.md\n${text}`),
        'b.md\none',
      ].sort(),
    )
    expect(await filler.missing(space.key)).toBeUndefined()
    const { vector_space: id } = store.reload(space)
    expect(store.indexes.vectorKeys(space.id, id)).toHaveLength(11)
    await until(async () => (await filler.active) === 0)
  })

  it('do not prevent the publication when the provider fails, and arrive at the next retry', async () => {
    const { embed } = store
    store.embed = () => {
      throw away()
    }
    await publish(space, { 'a.md': passages('one', 'two') })
    expect(store.rows('SELECT stage FROM jobs')).toEqual([{ stage: 'published' }])
    await until(() => store.rows('SELECT 1 FROM vector_waits').length === 1)
    await until(async () => (await filler.missing(space.key)) !== undefined)
    expect(await filler.missing(space.key)).toMatchObject({ passages: 2 })
    expect(store.rows<{ next_at: number }>('SELECT next_at FROM vector_waits')[0]?.next_at).toBeGreaterThan(Date.now())
    expect(await filler.active).toBe(1)
    const calls = store.embedded.length
    await filler.drain()
    expect(store.embedded).toHaveLength(calls)
    store.embed = embed
    await filler.retryNow(space.key)
    await until(() => owed().length === 0)
    expect(made()).toEqual(nodeKeys())
    expect(store.rows('SELECT 1 FROM vector_waits')).toEqual([])
  })

  it('arrive for all passages except the one that the provider rejects', async () => {
    const { embed } = store
    store.embed = (texts) => {
      if (texts.some((text) => text.includes('poison'))) throw refused()
      return embed(texts)
    }
    await publish(space, { 'a.md': passages('one', 'poison', 'three', 'four', 'five') })
    await until(() => owed().length === 0)
    const [, poison, ...rest] = nodeKeys()
    expect(made()).toEqual([nodeKeys()[0], ...rest])
    expect(store.rows('SELECT node_key FROM vector_refusals')).toEqual([poison])
    expect(store.rows('SELECT due, refused FROM vectors_due')).toEqual([{ due: 0, refused: 1 }])
  })

  it('stop being due when the space has changed its model', async () => {
    store.embed = () => {
      store.run("UPDATE spaces SET vector_space = ?, embedding_plugin = 'builtin' WHERE key = ?", newId(), space.key)
      return [vectorOf('x')]
    }
    await publish(space, { 'a.md': 'one' })
    await until(() => store.rows('SELECT 1 FROM vectors_due').length === 0)
    expect(made()).toEqual([])
  })
})

describe('a space that moves to another embedding model', () => {
  let migrations: EmbeddingMigrations
  let space: SpaceRow
  let old: string
  beforeEach(async () => {
    const filler = new VectorFiller()
    filler.start(store.context)
    store.context.vectors = filler
    space = store.createSpace({ model: PROVIDED })
    await publish(space, { 'a.md': many(9) })
    await until(() => store.rows('SELECT 1 FROM vectors').length === 9)
    await filler.stop()
    old = store.reload(space).vector_space
    store.embedded.length = 0
    migrations = new EmbeddingMigrations()
    store.context.migrations = migrations
    migrations.start(store.context)
  })
  afterEach(() => migrations.stop())

  const begin = () => startMigration(store.context, ADA, space.id, OTHER)
  const told = (id: string, caller = ADA) => store.db.now(getMigration(caller, space.id, id))
  const models = () => store.rows('SELECT id, state FROM vector_spaces ORDER BY key')

  it('uses the old model until all new vectors exist, then drops the old vectors', async () => {
    const seen: string[] = []
    const { embed } = store
    store.embed = (texts) => {
      seen.push(store.reload(space).vector_space)
      return embed(texts)
    }
    const { id } = await begin()
    await until(() => told(id).state === 'published')
    expect(new Set(seen)).toEqual(new Set([old]))
    expect(told(id)).toMatchObject({ filled: 9, total: 9, refused: 0 })
    expect(store.reload(space)).toMatchObject({ embedding_model: OTHER.model })
    const next = store.reload(space).vector_space
    await until(() => models().length === 1)
    expect(models()).toEqual([{ id: next, state: 'active' }])
    expect(store.rows('SELECT node_key FROM vectors ORDER BY 1')).toEqual(nodeKeys())
    await until(() => store.indexes.vectorKeys(space.id, old).length === 0)
    expect(store.indexes.vectorKeys(space.id, next)).toHaveLength(9)
    await until(async () => (await migrations.active) === 0)
  })

  it('keeps the old model and its vectors when the new model fails permanently', async () => {
    store.embed = () => {
      throw fails(new ProviderFailure('status', 'the key is wrong', { status: 401 }))
    }
    const { id } = await begin()
    await until(() => told(id).state === 'failed')
    expect(store.reload(space).vector_space).toBe(old)
    await until(() => models().length === 1)
    expect(vectorsOf(store.rows<{ key: number }>('SELECT key FROM vector_spaces')[0] ?? { key: 0 })).toHaveLength(9)
  })

  it('waits while the new model is unavailable, and keeps the old model when the migration is canceled', async () => {
    store.embed = () => {
      throw away()
    }
    const { id } = await begin()
    await until(() => told(id).state === 'waiting')
    await expect(begin()).rejects.toMatchObject({ code: 'migration-active' })
    await expect(cancelMigration(store.context, BOB, space.id, id)).rejects.toMatchObject({ code: 'not-found' })
    expect(() => told(id, BOB)).toThrow()
    expect(await cancelMigration(store.context, ADA, space.id, id)).toMatchObject({ id, state: 'canceled' })
    await expect(cancelMigration(store.context, ADA, space.id, id)).rejects.toMatchObject({ code: 'already-terminal' })
    store.embed = (texts) => texts.map(vectorOf)
    migrations.wake()
    await until(async () => (await migrations.active) === 0)
    expect(told(id).state).toBe('canceled')
    expect(store.reload(space)).toMatchObject({ vector_space: old, embedding_model: PROVIDED.model })
    expect(models()).toEqual([{ id: old, state: 'active' }])
  })

  it('keeps the old model when the vectors of the new model have different lengths', async () => {
    let length = 3
    store.embed = (texts) => texts.map(() => new Float32Array(length++).fill(1))
    const { id } = await begin()
    await until(() => told(id).state === 'failed')
    expect(store.reload(space).vector_space).toBe(old)
  })

  it('computes new vectors for documents published during the migration', async () => {
    const { embed } = store
    let isFirst = true
    store.embed = async (texts) => {
      if (isFirst) {
        isFirst = false
        store.context.vectors.waitForVectors = async () => undefined
        await publish(space, { 'b.md': 'meanwhile' })
      }
      return await embed(texts)
    }
    const { id } = await begin()
    await until(() => told(id).state === 'published')
    expect(told(id)).toMatchObject({ filled: 10, total: 10 })
    const next = store.rows<{ key: number }>("SELECT key FROM vector_spaces WHERE state = 'active'")
    expect(vectorsOf(next[0] ?? { key: 0 })).toEqual(nodeKeys())
  })
})
