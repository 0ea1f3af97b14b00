import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { cancelJob } from '../../../../src/engine/ingest/jobs/jobs.js'
import { deleteDocuments } from '../../../../src/engine/library/documents/delete.js'
import type { SpaceRow } from '../../../../src/engine/store/rows/spaces.js'
import { ADA } from '../../../helpers/engine.js'
import type { SmallStore } from '../../../helpers/store.js'
import { until } from '../../../helpers/until.js'
import { gate, openSmallRunner, type SmallRunner } from './small-runner.js'

let small: SmallRunner
let store: SmallStore

beforeEach(async () => {
  small = await openSmallRunner()
  store = small.store
  store.context.wake = (spaceKey) => small.runner.wakeFor(spaceKey)
})
afterEach(() => small.end())

describe('waiting for a job', () => {
  it('ends when the job is canceled, before its claim and while it runs', async () => {
    const space = store.createSpace()
    const held = gate()
    small.before = () => held.opened
    const running = await small.sendOne(space, 'a.md')
    await small.reading('a.md')
    const ended: string[] = []
    const settled = small.runner.waitUntilSettled(running).then(() => ended.push('running'))
    await cancelJob(store.context, ADA, running)
    await settled
    const { wake } = store.context
    store.context.wake = () => undefined
    const [accepted] = await store.upload(space, { 'b.md': 'text' })
    const waiting = accepted?.compilationJob.id ?? ''
    store.run('UPDATE jobs SET run_after = ? WHERE id = ?', Date.now() + 60_000, waiting)
    store.context.wake = wake
    const both = [1, 2].map(() => small.runner.waitUntilSettled(waiting).then(() => ended.push('waiting')))
    await cancelJob(store.context, ADA, waiting)
    await Promise.all(both)
    expect(ended).toEqual(['running', 'waiting', 'waiting'])
    held.open()
    await small.idle()
    expect(small.visible()).toEqual([])
  })

  it('fails when the job cannot be read', async () => {
    const { db } = store.context
    const { read } = db
    db.read = async () => {
      throw new Error('the database is locked')
    }
    await expect(small.runner.waitUntilSettled('a job')).rejects.toThrow('the database is locked')
    db.read = read
  })
})

describe('deleted content', () => {
  async function removed(space: SpaceRow, ...names: string[]): Promise<void> {
    for (const name of names) await small.runner.waitUntilSettled(await small.sendOne(space, name))
    await small.idle()
    const rows = store.rows<{ id: string }>('SELECT id FROM documents WHERE deleted_at IS NULL')
    await deleteDocuments(
      { ...store.context, wake: () => undefined },
      ADA,
      space.id,
      rows.map(({ id }) => id),
    )
  }
  const left = () => store.rows('SELECT key FROM documents WHERE deleted_at IS NOT NULL').length

  it('gets purged completely when the job runner wakes and no job runs', async () => {
    await removed(store.createSpace(), 'a.md', 'b.md', 'c.md')
    expect(left()).toBe(3)
    small.runner.wake()
    await until(() => left() === 0)
    expect(store.rows('SELECT key FROM nodes')).toEqual([])
  })

  it('gets purged after a running job has ended', async () => {
    const space = store.createSpace()
    await removed(space, 'a.md')
    const held = gate()
    small.before = () => held.opened
    await small.sendOne(space, 'b.md')
    await small.reading('b.md')
    await small.runner.poll()
    expect(left()).toBe(1)
    held.open()
    await until(() => left() === 0)
  })

  it('gets purged even on a full disk', async () => {
    await removed(store.createSpace(), 'a.md')
    small.isFull = true
    small.runner.wake()
    await until(() => left() === 0)
  })

  it('stays with a log entry when its purge fails, and is purged at the next wake', async () => {
    await removed(store.createSpace(), 'a.md')
    store.run("CREATE TRIGGER held BEFORE DELETE ON nodes BEGIN SELECT RAISE(ABORT, 'held'); END")
    small.runner.wake()
    await until(() => store.logged.some(({ level }) => level === 'warn'))
    expect(left()).toBe(1)
    store.run('DROP TRIGGER held')
    small.runner.wake()
    await until(() => left() === 0)
  })

  it('stays after the job runner was closed', async () => {
    await removed(store.createSpace(), 'a.md')
    await small.runner.stop()
    await small.runner.drain()
    expect(left()).toBe(1)
  })
})

describe('a failure of the job runner', () => {
  it('reaches the monitor of disk space when a batch fails', async () => {
    const noted: unknown[] = []
    store.context.options.diskReserve = {
      isFull: false,
      noteError: (error: unknown) => void noted.push(error),
    } as never
    const error = Object.assign(new Error('no room'), { code: 'ENOSPC' })
    small.before = () => {
      throw error
    }
    const id = await small.sendOne(store.createSpace(), 'a.md')
    await until(() => store.job(id).waits === 1)
    expect(noted).toEqual([error])
  })

  it('appears in the log when jobs cannot be read, and the jobs are claimed at the next wake', async () => {
    const { db } = store.context
    const { read } = db
    await store.upload(store.createSpace(), { 'a.md': 'text' })
    db.read = async () => {
      throw new Error('the database is locked')
    }
    small.runner.wake()
    await until(() => store.logged.length > 0)
    db.read = read
    small.runner.wake()
    await until(() => small.visible().length === 1)
  })

  it('keeps the claim of a job until the retry of the job can be stored', async () => {
    small.before = () => {
      throw new Error('it broke')
    }
    store.run(
      "CREATE TRIGGER held BEFORE UPDATE OF run_after ON jobs WHEN NEW.run_after > 0 BEGIN SELECT RAISE(ABORT, 'held'); END",
    )
    const id = await small.sendOne(store.createSpace(), 'a.md')
    await until(() => store.logged.some(({ level }) => level === 'error'))
    expect(store.job(id)).toMatchObject({ claimed_by: store.context.instance, attempts: 0 })
    store.run('DROP TRIGGER held')
    await until(() => store.job(id).attempts === 1)
    expect(store.job(id)).toMatchObject({ claimed_by: null, error: 'Error: it broke' })
  })
})
