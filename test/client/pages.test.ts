import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { paginate } from '../../src/client/pages.js'
import { toRequestLine } from '../../src/client/routes.js'

/** A list of numbers in pages, with the index as cursor. */
function pagesOf(total: number, asked: number[]) {
  return async ({ limit, cursor }: { limit: number; cursor?: string }) => {
    asked.push(limit)
    const start = Number(cursor ?? 0)
    const items = Array.from({ length: Math.max(0, Math.min(limit, total - start)) }, (_, index) => start + index)
    const next = start + items.length
    return next < total ? { items, nextCursor: String(next) } : { items }
  }
}

describe('a paged list', () => {
  it('yields the first items in order, and never requests more than needed or than a page allows', async () => {
    const numbers = fc.integer({ min: 0, max: 60 })
    await fc.assert(
      fc.asyncProperty(numbers, fc.integer({ min: 1, max: 20 }), fc.option(numbers), async (total, pageSize, limit) => {
        const asked: number[] = []
        const items: number[] = []
        const wanted = limit ?? undefined
        const pages = paginate(pagesOf(total, asked), { pageSize, limit: wanted })
        let step = await pages.next()
        for (; step.done !== true; step = await pages.next()) items.push(step.value)
        const expected = Math.min(total, wanted ?? total)
        expect(items).toEqual(Array.from({ length: expected }, (_, index) => index))
        expect(asked.every((size) => size <= pageSize)).toBe(true)
        // The cursor exists exactly when there are more items.
        if (wanted !== 0) expect(step.value).toBe(expected < total ? String(expected) : undefined)
      }),
    )
  })

  it('starts at the given cursor', async () => {
    const items: number[] = []
    for await (const item of paginate(pagesOf(10, []), { pageSize: 4, cursor: '7' })) items.push(item)
    expect(items).toEqual([7, 8, 9])
  })
})

describe('the path and query of a request', () => {
  it('omits undefined parameters and encodes all defined parameters', () => {
    const input = { path: { id: 'ü/1' }, query: { limit: 3, cursor: undefined, path: '/x y' } }
    expect(toRequestLine('GET /a/{id}/b', input)).toEqual({
      method: 'GET',
      path: '/a/%C3%BC%2F1/b?limit=3&path=%2Fx+y',
    })
  })
})
