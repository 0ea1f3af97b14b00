import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { TestSpace } from './space.js'

/** A clock that only waiting advances, with fractions of a millisecond like a real one. */
let now: number
/** How long views and graph were waited for, in order. */
let waited: number[]
let space: TestSpace

beforeEach(async () => {
  now = 1000.25
  waited = []
  vi.spyOn(performance, 'now').mockImplementation(() => now)
  // Never built, however long a caller waits.
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

describe('the virtual file system with unfinished views', () => {
  it('waits at most 100 ms for a tree, and lists the missing views and graph as degraded', async () => {
    const { degradedReasons } = await tree('/knowledge')
    expect(sum(waited)).toBeLessThanOrEqual(100)
    for (const what of [/communities/, /topics/, /1 document/]) expect(String(degradedReasons)).toMatch(what)
  })

  it('waits at most 100 ms for a find, and lists the missing views and graph as degraded', async () => {
    const { degradedReasons } = await space.fs.find(space.caller, space.id, { path: '/knowledge', limit: 100 })
    expect(sum(waited)).toBeLessThanOrEqual(100)
    expect(degradedReasons).toHaveLength(3)
  })

  it.each(['topics', 'communities', 'entities'])('waits up to 2.5 s for a listing of %s', async (name) => {
    const path = `/knowledge/${name}`
    const { degradedReasons } = await space.fs.ls(space.caller, space.id, { path, limit: 100 })
    expect(waited).toEqual([2500])
    expect(degradedReasons).toHaveLength(1)
  })

  it('waits for integer milliseconds, as timers require', async () => {
    await tree('/knowledge')
    expect(waited).not.toEqual([])
    for (const milliseconds of waited) expect(Number.isInteger(milliseconds)).toBe(true)
  })
})
