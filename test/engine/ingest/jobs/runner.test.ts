import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { JobRunner } from '../../../../src/engine/ingest/jobs/runner.js'
import { recordHeartbeat } from '../../../../src/engine/store/rows/gateways.js'
import type { SpaceRow } from '../../../../src/engine/store/rows/spaces.js'
import { purgeSlice } from '../../../../src/engine/upkeep/retention/purge.js'
import type { SmallStore } from '../../../helpers/store.js'
import { until } from '../../../helpers/until.js'
import { gate, openSmallRunner, type SmallRunner } from './small-runner.js'

let small: SmallRunner
let store: SmallStore

beforeEach(async () => {
  small = await openSmallRunner()
  store = small.store
})
afterEach(() => small.end())

const one = (name: string) => ({ [name]: `text of ${name}` })

describe('the job runner', () => {
  it('publishes a job, then lets the callers that wait for the job continue', async () => {
    const space = store.createSpace()
    const held = gate()
    small.before = () => held.opened
    const id = await small.sendOne(space, 'a.md')
    let told = false
    const settled = small.runner.waitUntilSettled(id).then(() => {
      told = true
    })
    await small.reading('a.md')
    expect(await small.runner.activity()).toEqual({ activeJobs: 1, waitingJobs: 0, training: 0 })
    expect(store.job(id)).toMatchObject({ claimed_by: store.context.instance, stage: 'queued' })
    expect(told).toBe(false)
    expect(small.visible()).toEqual([])
    held.open()
    await settled
    expect(store.job(id)).toMatchObject({ stage: 'published', claimed_by: null, attempts: 0 })
    expect(small.visible()).toEqual(['a.md'])
    await small.idle()
    expect(await small.runner.activity()).toEqual({ activeJobs: 0, waitingJobs: 0, training: 0 })
    // Late callers, and callers with an unknown job, resolve, too.
    await small.runner.waitUntilSettled(id)
    await small.runner.waitUntilSettled('no job')
  })

  it('claims jobs at the start and at every wake', async () => {
    const space = store.createSpace()
    await store.upload(space, one('a.md'))
    small.runner.start()
    await until(() => small.visible().length === 1)
    await small.idle()
    await store.upload(space, one('b.md'))
    expect(small.batches).toEqual([['a.md']])
    small.runner.wake()
    await until(() => small.visible().length === 2)
  })

  it('runs two batches at once and no third, rotating through the spaces', async () => {
    const spaces = [store.createSpace(), store.createSpace(), store.createSpace()]
    const gates = [gate(), gate(), gate()]
    small.before = ([name]) => gates[Number(name?.[0])]?.opened
    for (const [n, space] of spaces.entries()) await store.upload(space, one(`${n}.md`))
    small.runner.wake()
    await until(() => small.batches.length === 2)
    expect(small.batches).toEqual([['0.md'], ['1.md']])
    expect(await small.runner.activity()).toMatchObject({ activeJobs: 2, waitingJobs: 1 })
    small.runner.wake()
    gates[1]?.open()
    await small.reading('2.md')
    expect(small.visible()).toEqual(['1.md'])
    gates[0]?.open()
    gates[2]?.open()
    await until(() => small.visible().length === 3)
  })

  it('compiles the document of a small space before all documents of a large space', async () => {
    const [large, little] = [store.createSpace(), store.createSpace()]
    const many = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`l${n}.md`, `text ${n}`]))
    await store.upload(large, many)
    await store.upload(little, one('small.md'))
    small.runner.wake()
    await until(() => small.visible().length === 101)
    const turn = small.batches.findIndex((files) => files.includes('small.md'))
    expect(small.batches.slice(0, turn).flat().length).toBeLessThan(100)
    expect(small.batches.flat().length).toBe(101)
  })

  it('runs each job once, in one of two runners on one database', async () => {
    const space = store.createSpace()
    const other = new JobRunner({ ...store.context, instance: 'another' }, purgeSlice)
    store.write(() => recordHeartbeat('another', undefined))
    const many = Object.fromEntries(Array.from({ length: 90 }, (_, n) => [`${n}.md`, `text ${n}`]))
    await store.upload(space, many)
    small.runner.wake()
    other.wake()
    await until(() => small.visible().length === 90)
    expect(small.batches.flat().sort()).toEqual(Object.keys(many).sort())
    expect(store.rows('SELECT DISTINCT fence FROM jobs')).toEqual([{ fence: 1 }])
    await other.stop()
  })

  it('leaves jobs that another gateway has claimed', async () => {
    const space = store.createSpace()
    const [id = ''] = await store.upload(space, one('a.md')).then((all) => all.map((it) => it.compilationJob.id))
    store.run("UPDATE jobs SET claimed_by = 'another', fence = 7")
    await small.sendOne(space, 'b.md')
    await until(() => small.visible().length === 1)
    expect(small.visible()).toEqual(['b.md'])
    expect(small.batches).toEqual([['b.md']])
    expect(store.job(id)).toMatchObject({ claimed_by: 'another', fence: 7, stage: 'queued' })
  })
})

describe('a job that may crash processes', () => {
  const suspect = (id: string) => store.run('UPDATE jobs SET unclean_ends = 2 WHERE id = ?', id)
  const upload = async (space: SpaceRow, name: string) =>
    (await store.upload(space, one(name)))[0]?.compilationJob.id ?? ''

  it('runs alone: no other batch starts next to it', async () => {
    const held = gate()
    small.before = ([name]) => (name === 'bad.md' ? held.opened : undefined)
    suspect(await upload(store.createSpace(), 'bad.md'))
    await upload(store.createSpace(), 'good.md')
    small.runner.wake()
    await small.reading('bad.md')
    await small.runner.poll()
    expect(small.batches).toEqual([['bad.md']])
    held.open()
    await until(() => small.visible().length === 2)
  })

  it('does not start while another batch runs, and runs after that batch', async () => {
    const held = gate()
    small.before = ([name]) => (name === 'good.md' ? held.opened : undefined)
    await upload(store.createSpace(), 'good.md')
    const id = await upload(store.createSpace(), 'bad.md')
    suspect(id)
    small.runner.wake()
    await small.reading('good.md')
    await small.runner.poll()
    expect(small.batches).toEqual([['good.md']])
    expect(store.job(id).claimed_by).toBeNull()
    held.open()
    await until(() => small.visible().length === 2)
  })
})

describe('jobs that their batch left unfinished', () => {
  it('run again in another batch', async () => {
    const space = store.createSpace()
    const { compile } = store.context.compiler
    let isFirst = true
    store.context.compiler.compile = async (requests, signal) => {
      const results = await compile(requests, signal)
      if (!isFirst) return results
      isFirst = false
      return results.slice(0, 1)
    }
    await small.send(space, { 'a.md': 'one', 'b.md': 'two' })
    await until(() => small.visible().length === 2)
    await small.idle()
    expect(small.batches.flat().sort()).toEqual(['a.md', 'b.md', 'b.md'])
    expect(store.rows('SELECT stage, attempts FROM jobs')).toEqual([
      { stage: 'published', attempts: 0 },
      { stage: 'published', attempts: 0 },
    ])
  })

  it('stay unchanged when another gateway has claimed them', async () => {
    small.before = () => {
      store.run("UPDATE jobs SET claimed_by = 'another', fence = fence + 1")
      throw new Error('it broke')
    }
    const id = await small.sendOne(store.createSpace(), 'a.md')
    await small.reading('a.md')
    await until(async () => (await small.runner.activity()).activeJobs === 0)
    expect(store.job(id)).toMatchObject({ claimed_by: 'another', fence: 2, attempts: 0, error: null, run_after: 0 })
  })
})

describe('a full disk', () => {
  it('keeps the job runner from claiming jobs, and callers do not wait for them', async () => {
    const [accepted] = await store.upload(store.createSpace(), one('a.md'))
    const id = accepted?.compilationJob.id ?? ''
    small.isFull = true
    small.runner.wake()
    await small.runner.waitUntilSettled(id)
    await small.runner.poll()
    expect(small.batches).toEqual([])
    expect(store.job(id)).toMatchObject({ claimed_by: null, stage: 'queued', attempts: 0, waits: 0 })
    small.isFull = false
    small.runner.wake()
    await until(() => small.visible().length === 1)
  })
})

describe('a closed job runner', () => {
  it('waits for running jobs, releases them without counting an attempt, and claims nothing new', async () => {
    const space = store.createSpace()
    small.before = (_, signal) =>
      new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))
    const id = await small.sendOne(space, 'a.md')
    await small.reading('a.md')
    await small.runner.stop()
    expect(store.job(id)).toMatchObject({ claimed_by: null, run_after: 0, attempts: 0, waits: 0, error: null })
    expect(store.rows('SELECT status FROM staged_commits')).toEqual([{ status: 'metadata-prepared' }])
    small.before = () => undefined
    await small.sendOne(space, 'b.md')
    await small.runner.drain()
    expect(small.batches).toEqual([['a.md']])
    const next = new JobRunner(store.context, purgeSlice)
    next.wake()
    await until(() => small.visible().length === 2)
    await next.stop()
  })

  it('ends when the running jobs have ended', async () => {
    const held = gate()
    small.before = () => held.opened
    const id = await small.sendOne(store.createSpace(), 'a.md')
    await small.reading('a.md')
    let isClosed = false
    const closed = small.runner.stop().then(() => {
      isClosed = true
    })
    await new Promise((resolve) => setImmediate(resolve))
    expect(isClosed).toBe(false)
    held.open()
    await closed
    expect(store.job(id).claimed_by).toBeNull()
    expect(store.rows('SELECT key FROM jobs WHERE claimed_by IS NOT NULL')).toEqual([])
  })
})
