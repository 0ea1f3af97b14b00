import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { SmallStore } from '../../../helpers/store.js'
import { until } from '../../../helpers/until.js'
import { openSmallRunner, type SmallRunner } from './small-runner.js'

let small: SmallRunner
let store: SmallStore

beforeEach(async () => {
  small = await openSmallRunner()
  store = small.store
})
afterEach(() => small.end())

/** A job that was stored and whose publication was interrupted. */
async function stored(name: string, space = store.createSpace()) {
  store.indexes.failing.set('search', new Error('the index stumbled'))
  const id = await small.sendOne(space, name)
  await until(() => store.job(id).attempts === 1)
  await small.idle()
  store.indexes.failing.clear()
  expect(store.job(id).stage).toBe('nodes_generated')
  return { space, id }
}

describe('rows lost in a damaged database', () => {
  it('make the file of an unpublished version be read again, once', async () => {
    const { space, id } = await stored('a.md')
    store.run('DELETE FROM nodes')
    store.run('DELETE FROM versions')
    small.skipPauses()
    await until(() => store.job(id).completed_at !== null)
    await small.idle()
    expect(store.job(id)).toMatchObject({ stage: 'published', attempts: 1 })
    expect(small.visible()).toEqual(['a.md'])
    expect(store.rows('SELECT text FROM nodes')).toEqual([{ text: 'text of a.md' }])
    expect(store.rows('SELECT status FROM staged_commits')).toEqual([{ status: 'published' }])
    expect(small.batches).toEqual([['a.md'], ['a.md']])
    expect(store.indexes.texts(space.id)).toContain('text of a.md')
  })

  it('change nothing when another gateway has taken over the job of the version', async () => {
    const { id } = await stored('a.md')
    store.run('DELETE FROM nodes')
    store.run('DELETE FROM versions')
    const { foregroundPriority } = store.context
    let isTaken = false
    store.context.foregroundPriority = {
      ...foregroundPriority,
      async yieldToQueries() {
        if (isTaken || store.job(id).claimed_by === null) return
        isTaken = true
        store.run("UPDATE jobs SET claimed_by = 'another', fence = fence + 1")
      },
    } as never
    small.skipPauses()
    await until(async () => isTaken && (await small.runner.activity()).activeJobs === 0)
    expect(store.job(id)).toMatchObject({ claimed_by: 'another', stage: 'nodes_generated' })
    expect(small.batches).toEqual([['a.md']])
  })

  it('block neither later jobs of the space nor other spaces when a document is lost', async () => {
    const [first, second] = [store.createSpace(), store.createSpace()]
    const [lost] = await store.upload(first, { 'lost.md': 'text' })
    await store.upload(second, { 'b.md': 'text' })
    const id = lost?.compilationJob.id ?? ''
    store.run('DELETE FROM documents WHERE key = ?', store.job(id).doc_key)
    small.runner.wake()
    await until(() => small.visible().includes('b.md'))
    await small.runner.waitUntilSettled(await small.sendOne(first, 'a.md'))
    expect(small.visible()).toEqual(['a.md', 'b.md'])
    expect(store.job(id)).toMatchObject({ claimed_by: null, attempts: 0 })
  })
})
