import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { TestSpace } from './space.js'

/** A time of day that only waiting moves, with a part of a millisecond, as the real one has. */
let now: number
/** how long views and graph were waited for, one after the other */
let waited: number[]
let space: TestSpace

beforeEach(async () => {
  now = 1000.25
  waited = []
  vi.spyOn(performance, 'now').mockImplementation(() => now)
  // never made, however long somebody waits
  const wait = (milliseconds: number) => {
    waited.push(milliseconds)
    now += milliseconds
  }
  const coverage = () => ({ coveredDocuments: 0, totalDocuments: 1, stale: true })
  space = new TestSpace(
    {},
    {
      derivations: {
        catchUp: async (_, milliseconds) => {
          wait(milliseconds)
          return 1
        },
      },
      views: { ready: async (_space, _kind, milliseconds) => wait(milliseconds), coverage: async () => coverage },
    },
  )
  await space.add({ filename: 'a' })
})
afterEach(async () => {
  vi.restoreAllMocks()
  await space.close()
})

const tree = (path: string) => space.fs.tree(space.caller, space.id, { path, limit: 100, depth: 5 })
const sum = (numbers: readonly number[]) => numbers.reduce((all, number) => all + number, 0)

describe('what is not made yet', () => {
  it('is hardly waited for by a tree that comes by it, which says what it lacks', async () => {
    const { degradedReasons } = await tree('/knowledge')
    expect(sum(waited)).toBeLessThanOrEqual(100)
    for (const what of [/communities/, /topics/, /1 document/]) expect(String(degradedReasons)).toMatch(what)
  })

  it('is hardly waited for by a search that comes by it', async () => {
    const { degradedReasons } = await space.fs.find(space.caller, space.id, { path: '/knowledge', limit: 100 })
    expect(sum(waited)).toBeLessThanOrEqual(100)
    expect(degradedReasons).toHaveLength(3)
  })

  it.each(['topics', 'communities', 'entities'])('is waited for by a listing that names %s', async (name) => {
    const path = `/knowledge/${name}`
    const { degradedReasons } = await space.fs.ls(space.caller, space.id, { path, limit: 100 })
    expect(waited).toEqual([2500])
    expect(degradedReasons).toHaveLength(1)
  })

  it('is waited for in whole milliseconds, which are all that timers take', async () => {
    await tree('/knowledge')
    expect(waited).not.toEqual([])
    for (const milliseconds of waited) expect(Number.isInteger(milliseconds)).toBe(true)
  })
})
