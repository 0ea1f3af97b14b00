import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { KsError } from '../../../../src/contract/errors.js'
import { SourceRuns, type SourceWork } from '../../../../src/engine/ingest/sources/runs.js'
import { computeNextSync, replanAll } from '../../../../src/engine/ingest/sources/schedule.js'
import { getSource } from '../../../../src/engine/ingest/sources/sources.js'
import { EgressFailure } from '../../../../src/engine/models/egress/failure.js'
import { hasScheduledSync, listDueSources } from '../../../../src/engine/store/rows/source-syncs.js'
import type { SourceRow } from '../../../../src/engine/store/rows/sources.js'
import { ADA } from '../../../helpers/engine.js'
import { openSmallSources, type SmallSources } from './small-source.js'

const HOUR_MS = 60 * 60 * 1000
const HOURLY = { syncPolicy: { everyHours: 1 } }

let small: SmallSources
let source: SourceRow
let runs: SourceRuns
beforeEach(async () => {
  small = await openSmallSources()
  source = await small.made({ metadata: HOURLY })
  runs = new SourceRuns(small.store.context, small.settled)
})
afterEach(async () => {
  await runs.stopAll('the test is over')
  await small.store.end()
})

const COUNTS = { imported: 1, replaced: 2, skipped: 3, failures: [{ url: 'u', error: 'e' }] }
const run = <T>(work: SourceWork<T>['run'], more: Partial<SourceWork<T>> = {}, of = source) =>
  runs.start(ADA, small.space.id, of, {
    trigger: 'request',
    failure: 'crawl-failed',
    isPart: false,
    run: work,
    ...more,
  })
const done = async () => ({ value: 7, counts: COUNTS })
const waiting = ({ signal }: { signal: AbortSignal }) =>
  new Promise<never>((_, reject) => {
    if (signal.aborted) reject(signal.reason)
    signal.addEventListener('abort', () => reject(signal.reason))
  })

/** What a client sees of syncs. */
const told = () => small.store.db.now(getSource(ADA, small.space.id, source.id)).metadata.syncState

describe('a sync run of a source', () => {
  it('shows as syncing while it runs, and stores its result', async () => {
    const during: unknown[] = []
    const value = await run(async () => {
      const { status, sync_started_at, next_sync_at } = small.again(source)
      during.push({
        status,
        sync_started_at,
        next_sync_at,
        size: runs.size,
        is: runs.whenEnded(source.id) !== undefined,
      })
      return done()
    })
    expect(value).toBe(7)
    const { now } = small.clock
    expect(during).toEqual([
      { status: 'syncing', sync_started_at: now, next_sync_at: now + HOUR_MS, size: 1, is: true },
    ])
    expect([runs.size, runs.whenEnded(source.id)]).toEqual([0, undefined])
    const after = small.again(source)
    expect(after).toMatchObject({ status: 'active', last_sync_at: now, last_sync_error: null, sync_started_at: null })
    expect(told()).toEqual({
      ...{ lastSyncAt: new Date(now).toISOString(), lastSyncStatus: 'ok' },
      nextSyncAt: new Date(now + HOUR_MS).toISOString(),
    })
    expect(JSON.parse(after.sync_summary ?? '')).toEqual({
      ...{ at: new Date(now).toISOString(), trigger: 'request', total: 7, completed: 6, failed: 1, ...COUNTS },
    })
  })

  it('leaves the next sync as planned if it is only a part of a sync', async () => {
    const { next_sync_at } = source
    small.clock.now += HOUR_MS / 2
    await run(done, { isPart: true })
    expect(small.again(source).next_sync_at).toBe(next_sync_at)
    await run(done)
    expect(small.again(source).next_sync_at).toBe(small.clock.now + HOUR_MS)
  })

  it.each([
    ['a failed response', new EgressFailure('answered 500'), 'crawl-failed', 'answered 500'],
    ['a temporary failure', new KsError('unavailable', 'try later'), 'crawl-failed', 'try later'],
    ['a documented error', new KsError('not-configured', 'no token'), 'not-configured', 'no token'],
    ['an unexpected error', new TypeError('x is undefined'), 'crawl-failed', 'an unexpected failure'],
  ])('stores the reason in the source when it fails with %s', async (_, error, code, reason) => {
    await expect(run(async () => Promise.reject(error))).rejects.toMatchObject({
      code,
      message: expect.stringContaining(reason),
    })
    expect(small.again(source)).toMatchObject({ status: 'error', last_sync_error: reason, sync_started_at: null })
    expect(told()).toMatchObject({ lastSyncStatus: 'error', lastSyncError: reason })
    const unforeseen = error instanceof TypeError
    expect(small.store.logged.filter(({ level }) => level === 'error')).toHaveLength(unforeseen ? 1 : 0)
  })

  it('names a crawl or a connector in its failure', async () => {
    const fail = async () => Promise.reject(new EgressFailure('no'))
    await expect(run(fail)).rejects.toThrow(`source ${source.id} could not be crawled: no`)
    await expect(run(fail, { failure: 'connector-failed' })).rejects.toThrow(
      `source ${source.id} could not be read: no`,
    )
  })

  it('becomes due again after 15 s if the disk is full', async () => {
    const full = new KsError('storage-full', 'the disk is full')
    await expect(run(async () => Promise.reject(full))).rejects.toBe(full)
    expect(small.again(source).next_sync_at).toBe(small.clock.now + 15_000)
  })

  it('does not start if the source is disabled or claimed by another gateway', async () => {
    small.store.run("UPDATE sources SET status = 'disabled'")
    let begun = false
    const begin = async () => {
      begun = true
      return done()
    }
    await expect(run(begin)).rejects.toMatchObject({ code: 'crawl-failed' })
    small.store.run("UPDATE sources SET status = 'syncing', sync_started_at = 1, claimed_by = 'another', fence = 9")
    await expect(run(begin)).rejects.toMatchObject({ code: 'crawl-failed' })
    expect(small.store.rows('SELECT claimed_by, status FROM sources')).toEqual([
      { claimed_by: 'another', status: 'syncing' },
    ])
    expect([begun, runs.size]).toEqual([false, 0])
  })

  it('ends when it is stopped, also while it waits for its uploads', async () => {
    const stopped = run(waiting)
    await new Promise((resolve) => setImmediate(resolve))
    await runs.stop(source.id, 'the source was deleted')
    await expect(stopped).rejects.toThrow('the source was deleted')
    runs = new SourceRuns(small.store.context, () => new Promise(() => undefined))
    const held = run(async ({ settled }) => {
      await settled('a job that never ends')
      return done()
    })
    while (small.again(source).status !== 'syncing') await new Promise((resolve) => setImmediate(resolve))
    await runs.stop(source.id, 'it takes too long')
    await expect(held).rejects.toThrow('it takes too long')
    expect(small.again(source)).toMatchObject({ status: 'error', last_sync_error: 'it takes too long' })
    await runs.stop('nothing runs for this one', 'x')
  })

  it('ends when its gateway is declared dead, and when all runs are stopped', async () => {
    const lost = run(waiting)
    while (small.again(source).status !== 'syncing') await new Promise((resolve) => setImmediate(resolve))
    runs.lost()
    await expect(lost).rejects.toThrow('another process took it over')
    const stopped = run(waiting)
    while (small.again(source).status !== 'syncing') await new Promise((resolve) => setImmediate(resolve))
    const over = runs.whenEnded(source.id)
    await runs.stopAll('the daemon is stopping')
    await expect(stopped).rejects.toThrow('the daemon is stopping')
    expect(await over).toBeUndefined()
  })

  it('waits while four other runs are active', async () => {
    const sources = await Promise.all(Array.from({ length: 6 }, () => small.made()))
    let going = 0
    let most = 0
    const ends: (() => void)[] = []
    const all = sources.map((one) =>
      run(
        async () => {
          most = Math.max(most, ++going)
          await new Promise<void>((resolve) => ends.push(resolve))
          going--
          return done()
        },
        {},
        one,
      ),
    )
    expect(runs.size).toBe(6)
    for (let ended = 0; ended < 6; ended++) {
      while (ends.length === 0) await new Promise((resolve) => setImmediate(resolve))
      // All runs that may start have started.
      for (let turns = 0; turns < 50; turns++) await new Promise((resolve) => setImmediate(resolve))
      ends.shift()?.()
    }
    await Promise.all(all)
    expect(most).toBe(4)
  })

  it('blocks the next run until its end is stored if the disk was full at its end', async () => {
    const { write } = small.store.db
    let isFull = false
    small.store.db.write = (async (work: never) => {
      if (isFull) throw new KsError('storage-full', 'the disk is full')
      return await write.call(small.store.db, work)
    }) as typeof write
    await expect(
      run(async () => {
        isFull = true
        return await Promise.reject(new EgressFailure('answered 500'))
      }),
    ).rejects.toMatchObject({ code: 'crawl-failed' })
    expect(small.again(source).status).toBe('syncing')
    await expect(run(done)).rejects.toMatchObject({ code: 'storage-full' })
    isFull = false
    expect(await run(done)).toBe(7)
    expect(small.again(source)).toMatchObject({ status: 'active', last_sync_error: null, sync_started_at: null })
  })
})

describe('the sync schedule', () => {
  it('includes only sources that can be synced and have a policy', async () => {
    const plain = await small.made()
    expect([computeNextSync(source, 5), computeNextSync(plain, 5)]).toEqual([5 + HOUR_MS, null])
    expect([source.next_sync_at, plain.next_sync_at]).toEqual([small.clock.now + HOUR_MS, null])
    const foreign = await small.made({ metadata: { ...HOURLY, pluginId: 'another' } })
    expect([foreign.next_sync_at, computeNextSync(foreign, 5)]).toEqual([null, null])
    const upload = await small.made({ type: 'upload', metadata: HOURLY })
    expect(upload.next_sync_at).toBeNull()
    expect(small.store.db.now(hasScheduledSync())).toBe(true)
    small.store.run("UPDATE sources SET status = 'disabled'")
    expect(small.store.db.now(hasScheduledSync())).toBe(false)
  })

  it('gets replanned after the clock was set back', () => {
    const far = small.clock.now + 9 * HOUR_MS
    small.store.run('UPDATE sources SET next_sync_at = ?', far)
    small.store.write(() => replanAll(small.clock.now))
    expect(small.again(source).next_sync_at).toBe(small.clock.now + HOUR_MS)
    const { version } = small.again(source)
    small.store.write(() => replanAll(small.clock.now))
    expect(small.again(source).version).toBe(version)
    small.store.run("UPDATE sources SET next_sync_at = ?, metadata = '{}'", far)
    small.store.write(() => replanAll(small.clock.now))
    expect(small.again(source).next_sync_at).toBe(far)
  })

  it('makes a source due at its planned time', () => {
    const due = (now: number) => small.store.db.now(listDueSources(now)).map(({ id }) => id)
    expect([due(small.clock.now), due(small.clock.now + HOUR_MS)]).toEqual([[], [source.id]])
  })
})
