import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { isTrainingDue, retrain } from '../../../../src/engine/ingest/compile/training.js'
import type { SpaceRow } from '../../../../src/engine/store/rows/spaces.js'
import { openSmallStore, PROVIDED, type SmallStore } from '../../../helpers/store.js'
import {
  filledSpace,
  inUse,
  modelsOf,
  nodeKeys,
  publish,
  shared,
  strange,
  vector,
  vectorsOf,
} from './trained-spaces.js'

// The child process that trains a model has separate tests.
vi.mock('../../../../src/engine/models/builtin/lsa-trainer.js', () => import('./trained-here.js'))

const PASSAGES = 70

const signal = new AbortController().signal

let store: SmallStore
beforeEach(async () => {
  store = await openSmallStore()
  store.embed = (texts) => texts.map(vector)
})
afterEach(() => store.end())

const train = (space: SpaceRow, stop = signal) => retrain(store.context, space.key, stop)
const isDue = (space: SpaceRow, context = store.context) =>
  store.db.now(isTrainingDue(context, store.reload(space), false))

describe('a model that is being trained', () => {
  /** Runs an action while the vectors are computed. */
  const meanwhile = (happens: () => unknown) => {
    store.embed = (texts) => {
      happens()
      return texts.map(vector)
    }
  }

  it('disappears when the space has switched to a provider meanwhile', async () => {
    const space = await filledSpace(store, shared(PASSAGES))
    const old = inUse(store, space)
    meanwhile(() => store.run("UPDATE spaces SET embedding_plugin = 'openai-compatible' WHERE key = ?", space.key))
    await train(space)
    expect(store.reload(space).vector_space).toBe(old.id)
    expect(modelsOf(store).map(({ id }) => id)).toEqual([old.id])
    expect(vectorsOf(store, old.key)).toEqual(nodeKeys(store))
  })

  it('disappears when another gateway took this process for dead and superseded the model', async () => {
    const space = await filledSpace(store, shared(PASSAGES))
    const old = inUse(store, space)
    meanwhile(() => store.run("UPDATE vector_spaces SET state = 'superseded' WHERE state = 'building'"))
    await train(space)
    expect(store.reload(space).vector_space).toBe(old.id)
    expect(modelsOf(store).map(({ id, state }) => ({ id, state }))).toEqual([{ id: old.id, state: 'active' }])
    expect(store.rows('SELECT DISTINCT vector_space FROM vectors')).toEqual([{ vector_space: old.key }])
  })

  it('stays unused when the space is being deleted', async () => {
    const space = await filledSpace(store, shared(PASSAGES))
    const old = inUse(store, space)
    meanwhile(() => store.run('UPDATE spaces SET deleted_at = 1 WHERE key = ?', space.key))
    await train(space)
    expect(store.rows('SELECT vector_space FROM spaces')).toEqual([{ vector_space: old.id }])
    expect(modelsOf(store).map(({ state }) => state)).toEqual(['active', 'building'])
  })

  it('disappears when computing its vectors fails; the previous model stays', async () => {
    const space = await filledSpace(store, shared(PASSAGES))
    const old = inUse(store, space)
    let calls = 0
    store.embed = (texts) => {
      if (++calls > 1) throw new Error('the thread has died')
      return texts.map(vector)
    }
    await expect(train(space)).rejects.toThrow('the thread has died')
    expect(store.reload(space).vector_space).toBe(old.id)
    expect(modelsOf(store).map(({ id, state }) => ({ id, state }))).toEqual([{ id: old.id, state: 'active' }])
    expect(store.rows('SELECT DISTINCT vector_space FROM vectors')).toEqual([{ vector_space: old.key }])
    expect(isDue(space)).toBe(true)
  })

  it('stays unfinished after a stop, for the next start', async () => {
    const space = await filledSpace(store, shared(PASSAGES))
    const old = inUse(store, space)
    const stop = new AbortController()
    meanwhile(() => stop.abort(new Error('stopped')))
    await expect(train(space, stop.signal)).rejects.toThrow('stopped')
    expect(store.reload(space).vector_space).toBe(old.id)
    expect(modelsOf(store).map(({ state }) => state)).toEqual(['active', 'building'])
    await expect(train(space, AbortSignal.abort(new Error('stopped before')))).rejects.toThrow('stopped before')
    expect(modelsOf(store)).toHaveLength(2)
  })

  it('does not exist for a space with a provider or for a deleted space', async () => {
    const [provided, deleted] = [store.createSpace({ model: PROVIDED }), await filledSpace(store, shared(PASSAGES))]
    await publish(store, provided, { 'a.md': shared(40) })
    store.run('UPDATE spaces SET deleted_at = 1 WHERE key = ?', deleted.key)
    for (const key of [provided.key, deleted.key, 99]) await retrain(store.context, key, signal)
    expect(modelsOf(store)).toEqual([])
    expect(store.embedded).toEqual([])
  })
})

describe('texts that no model can be trained on', () => {
  it('cause no new attempt before they grow by a tenth, in this space and process only', async () => {
    const [space, other] = [await filledSpace(store, strange(40)), store.createSpace()]
    await publish(store, other, { 'b.md': strange(40) })
    expect(isDue(space)).toBe(true)
    await train(space)
    expect(modelsOf(store)).toEqual([])
    expect(store.reload(space).vector_space).toBe(space.vector_space)
    expect(isDue(space)).toBe(false)
    expect(isDue(other)).toBe(true)
    expect(isDue(space, { ...store.context })).toBe(true)
    await publish(store, space, { 'b.md': strange(3, 100) })
    expect(isDue(space)).toBe(false)
    await publish(store, space, { 'c.md': strange(2, 200) })
    expect(isDue(space)).toBe(true)
  })

  it('allow a new attempt after a model that was trained on more text is lost', async () => {
    const space = await filledSpace(store, strange(60))
    await train(space)
    await publish(store, space, { 'b.md': shared(40) })
    store.embed = (texts) => texts.map(() => undefined)
    await train(space)
    expect(modelsOf(store)).toHaveLength(1)
    // Fewer passages than in the failed attempt, and the model is lost.
    store.run('UPDATE versions SET until_revision = 9 WHERE node_count = 60')
    store.run("UPDATE vector_spaces SET state = 'superseded'")
    expect(isDue(space)).toBe(true)
  })
})
