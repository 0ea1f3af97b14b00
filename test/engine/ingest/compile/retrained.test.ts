import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { compileBatch } from '../../../../src/engine/ingest/compile/pipeline.js'
import { isTrainingDue, retrain } from '../../../../src/engine/ingest/compile/training.js'
import { parseModel } from '../../../../src/engine/models/builtin/lsa-file.js'
import type { SpaceRow } from '../../../../src/engine/store/rows/spaces.js'
import { openSmallStore, type SmallStore } from '../../../helpers/store.js'
import {
  DIMENSION,
  filledSpace,
  inUse,
  modelsOf,
  nodeKeys,
  publish,
  shared,
  vector,
  vectorsOf,
} from './trained-spaces.js'

// The child process that trains a model has separate tests.
vi.mock('../../../../src/engine/models/builtin/lsa-trainer.js', () => import('./trained-here.js'))

/** More passages than are read at once. */
const PASSAGES = 70

const signal = new AbortController().signal

let store: SmallStore
beforeEach(async () => {
  store = await openSmallStore()
  store.embed = (texts) => texts.map(vector)
})
afterEach(() => store.end())

const nodes = () => store.rows<{ key: number; doc_key: number; title: string; text: string }>('SELECT * FROM nodes')
const train = (space: SpaceRow, stop = signal) => retrain(store.context, space.key, stop)
const isDue = (space: SpaceRow, context = store.context) =>
  store.db.now(isTrainingDue(context, store.reload(space), false))

describe('a retrained model', () => {
  it('covers all published text and becomes the model of the space, with a vector for every passage', async () => {
    const space = await filledSpace(store, shared(PASSAGES))
    await train(space)
    const [model, ...others] = modelsOf(store)
    expect(others).toEqual([])
    expect(model).toMatchObject({ state: 'active', dimension: DIMENSION, trained_nodes: PASSAGES })
    expect(parseModel(model?.model ?? new Uint8Array())).toMatchObject({ documents: PASSAGES, dimension: DIMENSION })
    expect(store.reload(space)).toMatchObject({
      ...{ vector_space: model?.id, dimension: DIMENSION, embedding_revision: space.embedding_revision + 1 },
    })
    expect(vectorsOf(store, model?.key ?? 0)).toEqual(nodeKeys(store))
    const held = store.indexes.stateOf(space.id).vectors.get(model?.id ?? '')
    expect(held?.size).toBe(PASSAGES)
    for (const { key, doc_key, title, text } of nodes())
      expect(held?.get(key)).toEqual({ doc: doc_key, vector: vector(`${title}\n${text}`) })
    expect(isDue(space)).toBe(false)
  })

  it('replaces the old model when each passage has a vector; rows, index and memory drop the old one', async () => {
    const space = await filledSpace(store, shared(PASSAGES))
    const old = inUse(store, space)
    await store.context.lsa.load(old.id, new Uint8Array(1))
    await store.indexes.addVectors(space.id, {
      ...{ vectorSpace: old.id, dimension: 2, keys: [1], docs: [1], vectors: new Float32Array(2) },
    })
    const seen: unknown[] = []
    store.embed = (texts) => {
      const { vector_space } = store.reload(space)
      seen.push({ vector_space, states: modelsOf(store).map(({ state, claimed_by }) => ({ state, claimed_by })) })
      return texts.map(vector)
    }
    await train(space)
    // The claim tells other gateways that the model is not abandoned.
    const states = [
      { state: 'active', claimed_by: 'gone' },
      { state: 'building', claimed_by: store.context.instance },
    ]
    expect(seen.length).toBeGreaterThan(0)
    for (const one of seen) expect(one).toEqual({ vector_space: old.id, states })
    const [model, ...others] = modelsOf(store)
    expect(others).toEqual([])
    expect(model?.id).not.toBe(old.id)
    expect(vectorsOf(store, old.key)).toEqual([])
    expect([...store.indexes.stateOf(space.id).vectors.keys()]).toEqual([model?.id])
    expect(store.context.lsa.has(old.id)).toBe(false)
    expect(store.context.lsa.has(model?.id ?? '')).toBe(true)
  })

  it('gets vectors for passages that still lack one when it becomes active', async () => {
    const space = await filledSpace(store, shared(PASSAGES))
    const { indexes } = store
    const activateVectors = indexes.activateVectors.bind(indexes)
    indexes.activateVectors = async (id, vectorSpace) => {
      await activateVectors(id, vectorSpace)
      store.run('DELETE FROM vectors WHERE node_key IN (SELECT key FROM nodes ORDER BY key LIMIT 3)')
    }
    await train(space)
    expect(vectorsOf(store, modelsOf(store)[0]?.key ?? 0)).toEqual(nodeKeys(store))
  })

  it('ignores passages of replaced and of unpublished versions', async () => {
    const space = await filledSpace(store, shared(48))
    await publish(store, space, { 'gone.md': shared(50) })
    const [work] = await store.uploadAndClaim(space, { 'next.md': shared(60) })
    store.run('UPDATE versions SET until_revision = 9 WHERE node_count = 50')
    store.indexes.failing.set('search', new Error('stumbled'))
    const compiled = work === undefined ? undefined : compileBatch(store.context, space, [work], { signal })
    await expect(compiled).rejects.toThrow('stumbled')
    await train(space)
    const [model] = modelsOf(store)
    expect(model?.trained_nodes).toBe(48)
    expect(parseModel(model?.model ?? new Uint8Array()).documents).toBe(48)
  })
})
