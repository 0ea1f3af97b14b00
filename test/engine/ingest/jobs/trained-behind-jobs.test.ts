import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { SpaceRow } from '../../../../src/engine/store/rows/spaces.js'
import type { SmallStore } from '../../../helpers/store.js'
import { filledSpace, inUse, modelsOf, nodeKeys, shared, vector, vectorsOf } from '../compile/trained-spaces.js'
import { gate, openSmallRunner, type SmallRunner } from './small-runner.js'

vi.mock('../../../../src/engine/models/builtin/lsa-trainer.js', () => import('../compile/trained-here.js'))

/** How long a space has no new documents before its model is trained again. */
const QUIET_MS = 3000
const MINUTE_MS = 60_000
const TRIES = 400

let small: SmallRunner
let store: SmallStore

beforeEach(async () => {
  small = await openSmallRunner()
  store = small.store
  store.embed = (texts) => texts.map(vector)
  // Nothing happens automatically: the clock stands still.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'] })
})
afterEach(async () => {
  vi.useRealTimers()
  await small.end()
})

/** Polls with a running clock. */
async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; !(await condition()); tries++) {
    if (tries === TRIES) throw new Error('still not so')
    await sleep(10)
  }
}
/** Advances the time and waits for everything it triggers. */
async function pass(milliseconds: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(milliseconds)
  await settle()
}
/** Everything that was started has ended or paused. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve))
  await until(async () => (await small.runner.activity()).training === 0)
}
async function sent(space: SpaceRow, name: string, text: string): Promise<void> {
  const id = await small.sendOne(space, name, text)
  await until(() => store.job(id).completed_at !== null)
  await until(async () => (await small.runner.activity()).activeJobs === 0)
  await settle()
}
const active = () => modelsOf(store).filter(({ state }) => state === 'active')

describe('the model of a space', () => {
  it('gets trained right after the job that brings enough text', async () => {
    const space = store.createSpace()
    await sent(space, 'a.md', shared(29))
    expect(modelsOf(store)).toEqual([])
    await sent(space, 'b.md', shared(20))
    await until(() => active().length === 1)
    expect(active()).toMatchObject([{ trained_nodes: 49 }])
    expect(store.reload(space).vector_space).toBe(active()[0]?.id)
    expect(vectorsOf(store, active()[0]?.key ?? 0)).toEqual(nodeKeys(store))
  })

  it('gets trained again when the space has been quiet for a while, and not between two uploads', async () => {
    const space = store.createSpace()
    await sent(space, 'a.md', shared(48))
    await until(() => active().length === 1)
    await sent(space, 'b.md', shared(12))
    await pass(QUIET_MS / 2)
    await sent(space, 'c.md', shared(5))
    await pass(QUIET_MS / 2 + 100)
    expect(active()).toMatchObject([{ trained_nodes: 48 }])
    await pass(QUIET_MS)
    await until(() => active()[0]?.trained_nodes === 65)
    expect(modelsOf(store)).toHaveLength(1)
  })

  it('gets trained on request when the space has been quiet for a while', async () => {
    const space = await filledSpace(store, shared(50))
    small.runner.wake()
    await pass(2 * QUIET_MS)
    expect(modelsOf(store)).toEqual([])
    small.runner.wakeFor(space.key)
    await pass(QUIET_MS - 1)
    expect(modelsOf(store)).toEqual([])
    await pass(1)
    await until(() => active().length === 1)
  })

  it('does not get trained at the same time as the model of another space', async () => {
    const spaces = [await filledSpace(store, shared(50)), await filledSpace(store, shared(60))]
    const held = gate()
    let calls = 0
    store.embed = async (texts) => {
      calls++
      await held.opened
      return texts.map(vector)
    }
    for (const { key } of spaces) small.runner.wakeFor(key)
    await vi.advanceTimersByTimeAsync(QUIET_MS)
    await until(() => calls === 1)
    await vi.advanceTimersByTimeAsync(10 * QUIET_MS)
    expect((await small.runner.activity()).training).toBe(1)
    expect(modelsOf(store)).toHaveLength(1)
    held.open()
    await until(() => active().length === 1)
    await pass(QUIET_MS)
    await until(() => active().length === 2)
    expect(
      active()
        .map(({ trained_nodes }) => trained_nodes)
        .sort(),
    ).toEqual([50, 60])
  })

  it('gets another attempt after the longest pause when its training failed', async () => {
    const space = await filledSpace(store, shared(50))
    let tries = 0
    store.embed = () => {
      tries++
      throw new Error('the thread has died')
    }
    small.runner.wakeFor(space.key)
    await pass(QUIET_MS)
    await until(async () => tries === 1 && (await small.runner.activity()).training === 0)
    expect(store.logged).toContainEqual(
      expect.objectContaining({ level: 'warn', fields: expect.objectContaining({ space: space.id }) }),
    )
    store.embed = (texts) => {
      tries++
      return texts.map(vector)
    }
    await pass(4 * MINUTE_MS)
    expect(tries).toBe(1)
    await pass(MINUTE_MS + QUIET_MS)
    await until(() => active().length === 1)
  })

  it('gets another attempt soon when the failure of its training was temporary', async () => {
    const space = await filledSpace(store, shared(50))
    let tries = 0
    store.embed = (texts) => {
      if (++tries === 1) throw Object.assign(new Error('no room'), { code: 'ENOSPC' })
      return texts.map(vector)
    }
    small.runner.wakeFor(space.key)
    await pass(QUIET_MS)
    await until(async () => tries === 1 && (await small.runner.activity()).training === 0)
    await pass(2 * QUIET_MS)
    await until(() => active().length === 1)
  })

  it('waits with its training while the disk is full', async () => {
    const space = await filledSpace(store, shared(50))
    small.isFull = true
    small.runner.wakeFor(space.key)
    await pass(4 * QUIET_MS)
    expect(modelsOf(store)).toEqual([])
    small.isFull = false
    await pass(QUIET_MS)
    await until(() => active().length === 1)
  })

  it('stays inactive when the job runner is closed during its training and has waited for it', async () => {
    const space = await filledSpace(store, shared(50))
    const held = gate()
    let isAsked = false
    store.embed = async (texts) => {
      isAsked = true
      await held.opened
      return texts.map(vector)
    }
    small.runner.wakeFor(space.key)
    await vi.advanceTimersByTimeAsync(QUIET_MS)
    await until(() => isAsked)
    let isClosed = false
    const closed = small.runner.stop().then(() => {
      isClosed = true
    })
    await new Promise((resolve) => setImmediate(resolve))
    expect(isClosed).toBe(false)
    held.open()
    await closed
    expect(active()).toEqual([])
    expect(store.logged).toEqual([])
    small.runner.wakeFor(space.key)
    await pass(2 * QUIET_MS)
    expect(modelsOf(store).map(({ state }) => state)).toEqual(['building'])
  })
})

describe('passages without a vector', () => {
  it('get a vector after the start when their space is quiet, and later only at the next audit', async () => {
    const space = await filledSpace(store, shared(30))
    const model = inUse(store, space)
    store.run('DELETE FROM vectors WHERE node_key IN (SELECT key FROM nodes ORDER BY key LIMIT 3)')
    store.embed = (texts) => texts.map(() => new Float32Array(2).fill(1))
    small.runner.start()
    await pass(QUIET_MS - 1)
    expect(vectorsOf(store, model.key)).toHaveLength(27)
    await pass(1)
    await until(() => vectorsOf(store, model.key).length === 30)
    store.run('DELETE FROM vectors WHERE node_key IN (SELECT key FROM nodes ORDER BY key LIMIT 3)')
    small.runner.wakeFor(space.key)
    await pass(2 * QUIET_MS)
    expect(vectorsOf(store, model.key)).toHaveLength(27)
    // Ten minutes after the start.
    await pass(10 * MINUTE_MS + QUIET_MS)
    await until(() => vectorsOf(store, model.key).length === 30)
  })

  it('get a vector from a new model when the training of one is due anyway', async () => {
    const space = await filledSpace(store, shared(48))
    inUse(store, space)
    store.run('DELETE FROM vectors WHERE node_key IN (SELECT key FROM nodes ORDER BY key LIMIT 3)')
    small.runner.start()
    await pass(QUIET_MS)
    await until(() => active()[0]?.trained_nodes === 48)
    expect(vectorsOf(store, active()[0]?.key ?? 0)).toHaveLength(48)
  })
})
