import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { KsError } from '../../../../src/contract/errors.js'
import { IndexProcessFailedError } from '../../../../src/engine/search/ports.js'
import type { SmallStore } from '../../../helpers/store.js'
import { until } from '../../../helpers/until.js'
import { openSmallRunner, type SmallRunner } from './small-runner.js'

const DAY_MS = 24 * 60 * 60 * 1000

let small: SmallRunner
let store: SmallStore

beforeEach(async () => {
  small = await openSmallRunner()
  store = small.store
})
afterEach(() => small.end())

describe('a failing batch', () => {
  it('runs again after a pause and not earlier, reports the reason, and shows nothing to readers', async () => {
    small.before = () => {
      throw new Error('it broke')
    }
    const id = await small.sendOne(store.createSpace(), 'a.md')
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
    await small.runner.drain()
    expect(small.batches).toHaveLength(1)
    small.before = () => undefined
    small.skipPauses()
    await small.runner.waitUntilSettled(id)
    expect(store.job(id)).toMatchObject({ stage: 'published', error: null })
    expect(small.visible()).toEqual(['a.md'])
  })

  it('fails permanently at its fifth failure, with the reason in its document; callers wait no longer', async () => {
    small.before = () => {
      throw new KsError('internal', 'it always breaks')
    }
    const id = await small.sendOne(store.createSpace(), 'a.md')
    expect((await small.untilTried(id, 4)).stage).toBe('queued')
    const settled = small.runner.waitUntilSettled(id)
    small.skipPauses()
    await settled
    expect(store.job(id)).toMatchObject({ stage: 'failed', claimed_by: null, error: 'it always breaks' })
    expect(store.rows('SELECT parser_status, error_code, error FROM documents')).toEqual([
      { parser_status: 'failed', error_code: 'internal', error: 'it always breaks' },
    ])
    expect(store.rows('SELECT status FROM staged_commits')).toEqual([{ status: 'failed-terminal' }])
    small.skipPauses()
    await small.idle()
    expect(small.batches).toHaveLength(5)
  })

  it('leaves the published version of its document unchanged, even after it failed permanently', async () => {
    const space = store.createSpace()
    await small.runner.waitUntilSettled(await small.sendOne(space, 'a.md', 'first'))
    small.before = () => {
      throw new Error('it broke')
    }
    const id = await small.sendOne(space, 'a.md', 'second')
    expect(await small.untilTried(id, 5)).toMatchObject({ stage: 'failed' })
    expect(small.visible()).toEqual(['a.md'])
    expect(store.indexes.texts(space.id)).toEqual(['first'])
  })

  it('does not delay batches of other spaces', async () => {
    const [bad, good] = [store.createSpace(), store.createSpace()]
    small.before = ([name]) => {
      if (name === 'bad.md') throw new Error('it broke')
    }
    const id = await small.sendOne(bad, 'bad.md')
    await small.runner.waitUntilSettled(await small.sendOne(good, 'good.md'))
    expect(small.visible()).toEqual(['good.md'])
    await until(() => store.job(id).attempts === 1)
  })

  it('waits without counting attempts while the failure is temporary, for at most seven days', async () => {
    small.before = () => {
      throw new KsError('unavailable', 'the compiler is away')
    }
    const id = await small.sendOne(store.createSpace(), 'a.md')
    // A caller does not wait for days.
    await until(() => store.job(id).waits > 0)
    await small.runner.waitUntilSettled(id)
    expect(await small.untilTried(id, 7, 'waits')).toMatchObject({
      attempts: 0,
      waiting_since: small.clock,
      completed_at: null,
    })
    small.clock += 7 * DAY_MS - 1
    expect(await small.untilTried(id, 8, 'waits')).toMatchObject({ completed_at: null })
    small.clock += 1
    expect(await small.untilTried(id, 9, 'waits')).toMatchObject({
      stage: 'failed',
      error: 'the compiler is away: not resolved within 7 days',
    })
  })

  it('no longer counts as waiting when a failure follows that is not temporary', async () => {
    let error: Error = new KsError('unavailable', 'away')
    small.before = () => {
      throw error
    }
    const id = await small.sendOne(store.createSpace(), 'a.md')
    await small.untilTried(id, 2, 'waits')
    error = new Error('it broke')
    expect(await small.untilTried(id, 1)).toMatchObject({ attempts: 1, waits: 0, waiting_since: null })
  })

  it('continues at the stored stage, without reading the file again', async () => {
    const space = store.createSpace()
    store.indexes.failing.set('search', new Error('the index stumbled'))
    const id = await small.sendOne(space, 'a.md')
    await until(() => store.job(id).attempts === 1)
    await small.idle()
    expect(store.job(id).stage).toBe('nodes_generated')
    expect(small.visible()).toEqual([])
    store.indexes.failing.clear()
    small.skipPauses()
    await small.runner.waitUntilSettled(id)
    expect(small.batches).toHaveLength(1)
    expect(small.visible()).toEqual(['a.md'])
    expect(store.indexes.texts(space.id)).toEqual(['text of a.md'])
  })

  it('starts over when it may have crashed the index process, and its entries are removed from the index', async () => {
    const space = store.createSpace()
    store.indexes.failing.set('search', new IndexProcessFailedError(new Error('killed')))
    const id = await small.sendOne(space, 'a.md')
    await until(() => store.job(id).attempts === 1)
    await small.idle()
    expect(store.job(id)).toMatchObject({ stage: 'queued', waits: 0 })
    expect(store.rows('SELECT key FROM nodes')).toEqual([])
    await until(() => store.indexes.texts(space.id).length === 0)
    expect(await small.untilTried(id, 5)).toMatchObject({ stage: 'failed' })
    expect(store.rows('SELECT error_code FROM documents')).toEqual([{ error_code: 'crashed' }])
    expect(store.rows('SELECT key FROM versions')).toEqual([])
  })

  it('starts over even when the index cannot remove its entries', async () => {
    const space = store.createSpace()
    store.indexes.failing.set('follow', new IndexProcessFailedError(new Error('killed')))
    const id = await small.sendOne(space, 'a.md')
    await until(() => store.job(id).attempts === 1)
    await small.idle()
    store.indexes.failing.clear()
    small.skipPauses()
    await small.runner.waitUntilSettled(id)
    expect(store.indexes.texts(space.id)).toEqual(['text of a.md'])
  })
})
