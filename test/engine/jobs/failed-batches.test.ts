import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { KsError } from '../../../src/contract/errors.js'
import { IndexProcessDied } from '../../../src/engine/search/ports.js'
import type { SmallStore } from '../../helpers/store.js'
import { until } from '../../helpers/until.js'
import { openSmallRunner, type SmallRunner } from './small-runner.js'

const DAY_MS = 24 * 60 * 60 * 1000

let small: SmallRunner
let store: SmallStore

beforeEach(async () => {
  small = await openSmallRunner()
  store = small.store
})
afterEach(() => small.end())

describe('a batch that fails', () => {
  it('is tried again after a pause and not before, and says why meanwhile; nothing of it is seen', async () => {
    small.before = () => {
      throw new Error('it broke')
    }
    const id = await small.sendOne(store.space(), 'a.md')
    await until(() => store.job(id).attempts === 1)
    await small.idle()
    const failed = store.job(id)
    expect(failed).toMatchObject({ completed_at: null, stage: 'queued', waits: 0, error: 'Error: it broke' })
    expect(failed.run_after - Date.now()).toBeGreaterThan(0)
    expect(small.visible()).toEqual([])
    expect(store.rows('SELECT parser_status FROM documents')).toEqual([{ parser_status: 'pending' }])
    expect(store.rows('SELECT status, error_code FROM staged_commits')).toEqual([
      { status: 'failed-retryable', error_code: 'internal' },
    ])
    small.runner.wake()
    await new Promise((resolve) => setTimeout(resolve, 30))
    expect(small.batches).toHaveLength(1)
    small.before = () => undefined
    small.hurry()
    await small.runner.settled(id)
    expect(store.job(id)).toMatchObject({ stage: 'published', error: null })
    expect(small.visible()).toEqual(['a.md'])
  })

  it('is given up at its fifth failure: its document says why, and who waits is told', async () => {
    small.before = () => {
      throw new KsError('internal', 'it always breaks')
    }
    const id = await small.sendOne(store.space(), 'a.md')
    expect((await small.tried(id, 4)).stage).toBe('queued')
    const settled = small.runner.settled(id)
    small.hurry()
    await settled
    expect(store.job(id)).toMatchObject({ stage: 'failed', claimed_by: null, error: 'it always breaks' })
    expect(store.rows('SELECT parser_status, error_code, error FROM documents')).toEqual([
      { parser_status: 'failed', error_code: 'internal', error: 'it always breaks' },
    ])
    expect(store.rows('SELECT status FROM staged_commits')).toEqual([{ status: 'failed-terminal' }])
    small.hurry()
    await small.idle()
    expect(small.batches).toHaveLength(5)
  })

  it('leaves what was published before as it is, also when it is given up', async () => {
    const space = store.space()
    await small.runner.settled(await small.sendOne(space, 'a.md', 'first'))
    small.before = () => {
      throw new Error('it broke')
    }
    const id = await small.sendOne(space, 'a.md', 'second')
    expect(await small.tried(id, 5)).toMatchObject({ stage: 'failed' })
    expect(small.visible()).toEqual(['a.md'])
    expect(store.indexes.texts(space.id)).toEqual(['first'])
  })

  it('does not hold up others', async () => {
    const [bad, good] = [store.space(), store.space()]
    small.before = ([name]) => {
      if (name === 'bad.md') throw new Error('it broke')
    }
    const id = await small.sendOne(bad, 'bad.md')
    await small.runner.settled(await small.sendOne(good, 'good.md'))
    expect(small.visible()).toEqual(['good.md'])
    await until(() => store.job(id).attempts === 1)
  })

  it('is waited for where that passes by itself: no try counts, until it has not passed in seven days', async () => {
    small.before = () => {
      throw new KsError('unavailable', 'the compiler is away')
    }
    const id = await small.sendOne(store.space(), 'a.md')
    // who waits for the job is not kept for days
    await until(() => store.job(id).waits > 0)
    await small.runner.settled(id)
    expect(await small.tried(id, 7, 'waits')).toMatchObject({
      attempts: 0,
      waiting_since: small.clock,
      completed_at: null,
    })
    small.clock += 7 * DAY_MS - 1
    expect(await small.tried(id, 8, 'waits')).toMatchObject({ completed_at: null })
    small.clock += 1
    expect(await small.tried(id, 9, 'waits')).toMatchObject({
      stage: 'failed',
      error: 'the compiler is away: this has not passed in 7 days',
    })
  })

  it('and then fails otherwise has not waited any more', async () => {
    let error: Error = new KsError('unavailable', 'away')
    small.before = () => {
      throw error
    }
    const id = await small.sendOne(store.space(), 'a.md')
    await small.tried(id, 2, 'waits')
    error = new Error('it broke')
    expect(await small.tried(id, 1)).toMatchObject({ attempts: 1, waits: 0, waiting_since: null })
  })

  it('goes on where it had come to: what was read is not read again', async () => {
    const space = store.space()
    store.indexes.failing.set('search', new Error('the index stumbled'))
    const id = await small.sendOne(space, 'a.md')
    await until(() => store.job(id).attempts === 1)
    await small.idle()
    expect(store.job(id).stage).toBe('nodes_generated')
    expect(small.visible()).toEqual([])
    store.indexes.failing.clear()
    small.hurry()
    await small.runner.settled(id)
    expect(small.batches).toHaveLength(1)
    expect(small.visible()).toEqual(['a.md'])
    expect(store.indexes.texts(space.id)).toEqual(['text of a.md'])
  })

  it('begins anew where it may be what ended the process of the indexes, which forget it', async () => {
    const space = store.space()
    store.indexes.failing.set('search', new IndexProcessDied(new Error('killed')))
    const id = await small.sendOne(space, 'a.md')
    await until(() => store.job(id).attempts === 1)
    await small.idle()
    expect(store.job(id)).toMatchObject({ stage: 'queued', waits: 0 })
    expect(store.rows('SELECT key FROM nodes')).toEqual([])
    await until(() => store.indexes.texts(space.id).length === 0)
    expect(await small.tried(id, 5)).toMatchObject({ stage: 'failed' })
    expect(store.rows('SELECT error_code FROM documents')).toEqual([{ error_code: 'crashed' }])
    expect(store.rows('SELECT key FROM versions')).toEqual([])
  })

  it('also where the index cannot be told to forget it', async () => {
    const space = store.space()
    store.indexes.failing.set('follow', new IndexProcessDied(new Error('killed')))
    const id = await small.sendOne(space, 'a.md')
    await until(() => store.job(id).attempts === 1)
    await small.idle()
    store.indexes.failing.clear()
    small.hurry()
    await small.runner.settled(id)
    expect(store.indexes.texts(space.id)).toEqual(['text of a.md'])
  })
})
