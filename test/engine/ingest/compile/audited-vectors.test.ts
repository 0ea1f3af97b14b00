import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { VectorAudits } from '../../../../src/engine/ingest/compile/vector-audit.js'
import type { EngineContext } from '../../../../src/engine/library/context.js'
import type { SpaceRow } from '../../../../src/engine/store/rows/spaces.js'
import type { VectorSpace } from '../../../../src/engine/store/rows/vector-spaces.js'
import { openSmallStore, PROVIDED, passages, type SmallStore, vectorOf } from '../../../helpers/store.js'
import { until } from '../../../helpers/until.js'
import { filledSpace, inUse, nodeKeys, publish, vectorsOf } from './trained-spaces.js'

const MINUTE_MS = 60_000

let store: SmallStore
let stop: AbortController
let begunAudits: VectorAudits[]
/** Spaces that the audit visited, in order. */
let looked: number[]

beforeEach(async () => {
  store = await openSmallStore()
  stop = new AbortController()
  looked = []
  begunAudits = []
})
afterEach(async () => {
  vi.useRealTimers()
  for (const audits of begunAudits) await audits.stop()
  await store.end()
})

function auditsOf(context: EngineContext = store.context): VectorAudits {
  const audits = new VectorAudits(context, (key) => void looked.push(key))
  begunAudits.push(audits)
  return audits
}
/** Starts audits and waits until the first one has visited the given number of spaces. */
async function begun(spaces = 1, context?: EngineContext): Promise<VectorAudits> {
  const audits = auditsOf(context)
  audits.start()
  await until(() => looked.length >= spaces)
  return audits
}

/** A space with a model and a vector of each passage except the first ones. */
async function lacking(count: number): Promise<{ space: SpaceRow; model: VectorSpace }> {
  const space = await filledSpace(store, passages('one', 'two', 'three', 'four', 'five'))
  const model = inUse(store, space)
  lose(model, count)
  return { space: store.reload(space), model }
}
function lose({ key }: VectorSpace, count: number): void {
  store.run(
    `DELETE FROM vectors WHERE vector_space = ? AND node_key IN
       (SELECT node_key FROM vectors WHERE vector_space = ? ORDER BY node_key LIMIT ?)`,
    ...[key, key, count],
  )
}

const isDue = (audits: VectorAudits, space: SpaceRow) => store.db.now(audits.isDue(store.reload(space)))
const fill = (audits: VectorAudits, { key }: SpaceRow, signal = stop.signal) => audits.fill(store.context, key, signal)

describe('the audit of vectors', () => {
  it('visits every space that is not being deleted when it starts', async () => {
    const [one, gone, other] = [store.createSpace(), store.createSpace(), store.createSpace()]
    store.run('UPDATE spaces SET deleted_at = 1 WHERE key = ?', gone.key)
    await begun(2)
    expect(looked).toEqual([one.key, other.key])
  })

  it('repeats every ten minutes until it is stopped', async () => {
    const { key } = store.createSpace()
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const audits = await begun()
    await vi.advanceTimersByTimeAsync(10 * MINUTE_MS - 1)
    expect(looked).toEqual([key])
    await vi.advanceTimersByTimeAsync(1)
    await until(() => looked.length === 2)
    await vi.advanceTimersByTimeAsync(10 * MINUTE_MS)
    await until(() => looked.length === 3)
    await audits.stop()
    await vi.advanceTimersByTimeAsync(60 * MINUTE_MS)
    await audits.drain()
    expect(looked).toHaveLength(3)
  })

  it('repeats at the interval of the option vectorAuditMs', async () => {
    store.createSpace()
    await begun(3, { ...store.context, options: { ...store.context.options, vectorAuditMs: 5 } })
  })

  it('tries again at the next interval when the spaces cannot be read', async () => {
    store.createSpace()
    let failures = 0
    const { db } = store.context
    const broken = Object.create(db, {
      read: {
        value: async (program: never) => {
          if (++failures < 3) throw new Error('busy')
          return await db.read(program)
        },
      },
    })
    await begun(1, { ...store.context, db: broken, options: { ...store.context.options, vectorAuditMs: 5 } })
    expect(failures).toBeGreaterThanOrEqual(3)
  })

  it('reports a space as due from finding missing vectors until the run that fills them has ended', async () => {
    const { space } = await lacking(1)
    const { space: other } = await lacking(2)
    expect(isDue(auditsOf(), space)).toBe(false)
    const audits = await begun(2)
    expect(isDue(audits, space)).toBe(true)
    audits.ended(space.key)
    expect(isDue(audits, space)).toBe(false)
    expect(isDue(audits, other)).toBe(true)
  })

  it('finds nothing where every passage has a vector, where no model exists, and where a provider owes the vectors', async () => {
    const { space } = await lacking(0)
    const without = await filledSpace(store, 'one')
    const provided = store.createSpace({ model: PROVIDED })
    await publish(store, provided, { 'a.md': 'one' })
    inUse(store, provided)
    store.run('DELETE FROM vectors WHERE node_key IN (SELECT key FROM nodes WHERE space_key = ?)', provided.key)
    const audits = await begun(3)
    for (const one of [space, without, provided]) expect(isDue(audits, one)).toBe(false)
  })
})

describe('passages without a vector', () => {
  it('get a vector in the rows and in the index, and their space is due no more', async () => {
    const { space, model } = await lacking(2)
    const audits = await begun()
    await fill(audits, space)
    expect(vectorsOf(store, model.key)).toEqual(nodeKeys(store))
    expect(store.embedded.flat()).toEqual(['a.md\none', 'a.md\ntwo'])
    expect(store.indexes.vectorKeys(space.id, model.id)).toHaveLength(2)
    expect(store.logged).toMatchObject([{ level: 'warn', fields: { space: space.id, passages: 2 } }])
    // A vector lost after the audit is found by the next one only.
    lose(model, 1)
    expect(isDue(audits, space)).toBe(false)
  })

  it('make their space due no more when the model cannot embed them, until their number grows', async () => {
    const { space, model } = await lacking(2)
    store.embed = (texts) => texts.map((text) => (text.endsWith('one') ? undefined : vectorOf(text)))
    const audits = await begun()
    await fill(audits, space)
    expect(store.logged).toMatchObject([{ fields: { passages: 1 } }])
    audits.start()
    await until(() => looked.length === 2)
    expect(isDue(audits, space)).toBe(false)
    lose(model, 2)
    expect(isDue(audits, space)).toBe(true)
    await fill(audits, space)
    expect(vectorsOf(store, model.key)).toHaveLength(4)
  })

  it('make their space due again under the next model after one model could not embed them', async () => {
    const { space } = await lacking(1)
    store.embed = (texts) => texts.map(() => undefined)
    const audits = await begun()
    await fill(audits, space)
    expect(store.logged).toEqual([])
    const next = inUse(store, store.reload(space))
    lose(next, 1)
    audits.start()
    await until(() => looked.length === 2)
    expect(isDue(audits, space)).toBe(true)
  })

  it('wait for the next audit when the model of their space is replaced during the run', async () => {
    const { space } = await lacking(3)
    let next: VectorSpace | undefined
    store.embed = (texts) => {
      next ??= inUse(store, store.reload(space))
      return texts.map(vectorOf)
    }
    const audits = await begun()
    await fill(audits, space)
    expect(store.logged).toEqual([])
    if (next !== undefined) lose(next, 1)
    audits.start()
    await until(() => looked.length === 2)
    expect(isDue(audits, space)).toBe(true)
  })

  it('appear in the log when embedding fails, and the next audit retries; a stop logs nothing', async () => {
    const { space, model } = await lacking(2)
    store.embed = () => {
      throw new Error('the thread has died')
    }
    const audits = await begun()
    await fill(audits, space)
    expect(store.logged).toMatchObject([{ level: 'warn', fields: { error: 'Error: the thread has died' } }])
    expect(isDue(audits, space)).toBe(false)
    await fill(audits, space, AbortSignal.abort(new Error('stopped')))
    expect(store.logged).toHaveLength(1)
    expect(vectorsOf(store, model.key)).toHaveLength(3)
    audits.start()
    await until(() => looked.length === 2)
    expect(isDue(audits, space)).toBe(true)
  })

  it('cause no embedding in a space without a model and in a deleted space', async () => {
    const without = await filledSpace(store, 'one')
    const { space: gone } = await lacking(1)
    store.run('UPDATE spaces SET deleted_at = 1 WHERE key = ?', gone.key)
    const audits = await begun()
    for (const { key } of [without, gone]) await audits.fill(store.context, key, stop.signal)
    expect(store.embedded).toEqual([])
    expect(store.logged).toEqual([])
  })
})
