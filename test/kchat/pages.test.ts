import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type Item, limitOf, numberedPageItems, PAGE, pagedItems, withMoreNotice } from '../../src/kchat/pages.js'

const items = (count: number): Item[] => Array.from({ length: count }, (_, id) => ({ id }))

async function whole(found: AsyncGenerator<Item, boolean>): Promise<{ items: Item[]; hasMore: boolean }> {
  let hasMore = false
  const all: Item[] = []
  const seen = withMoreNotice(found, (last) => {
    hasMore = true
    expect(last).toBe(all.at(-1))
  })
  for await (const item of seen) all.push(item)
  return { items: all, hasMore }
}

const sizes = fc.record({
  count: fc.nat(350),
  limit: fc.option(fc.integer({ min: 1, max: 400 }), { nil: undefined }),
  /** whether pages report that there are more */
  says: fc.boolean(),
})

it('a list with cursors returns the requested number of items, and reports whether there are more', async () => {
  await fc.assert(
    fc.asyncProperty(sizes, async ({ count, limit, says }) => {
      const all = items(count)
      const read = async (size: number, last: Item | undefined) => {
        expect(size).toBeLessThanOrEqual(PAGE)
        const from = last === undefined ? 0 : Number(last.id) + 1
        const data = all.slice(from, from + size)
        return says ? { data, has_more: from + size < count } : { data }
      }
      const found = await whole(pagedItems(read, limit))
      expect(found.items).toEqual(all.slice(0, limit ?? count))
      if (says) expect(found.hasMore).toBe(limit !== undefined && count > limit)
    }),
  )
})

it('a list of numbered pages does the same, or returns the given page', async () => {
  await fc.assert(
    fc.asyncProperty(sizes, async ({ count, limit, says }) => {
      const all = items(count)
      const read = async (query: string) => {
        const asked = new URLSearchParams(query)
        const [page, size] = [Number(asked.get('page')), Number(asked.get('limit'))]
        expect(size).toBeLessThanOrEqual(PAGE)
        const data = all.slice((page - 1) * size, page * size)
        return says ? { data, has_more: page * size < count } : { data }
      }
      const range = limit === undefined ? { all: true } : { limit }
      const found = await whole(numberedPageItems(read, range, 20))
      expect(found.items).toEqual(all.slice(0, limit ?? count))
      if (says) expect(found.hasMore).toBe(limit !== undefined && count > limit)
      const second = await whole(numberedPageItems(read, { page: 2, limit: 20 }, 20))
      expect(second.items).toEqual(all.slice(20, 40))
    }),
  )
})

it('a limit and --all exclude each other', () => {
  const { isTTY } = process.stdout
  for (const [terminal, byDefault] of [
    [true, 20],
    [false, undefined],
  ] as const) {
    process.stdout.isTTY = terminal
    expect([limitOf({}, 20), limitOf({ limit: 3 }, 20), limitOf({ all: true }, 20)]).toEqual([byDefault, 3, undefined])
  }
  process.stdout.isTTY = isTTY
  expect(() => limitOf({ all: true, limit: 3 }, 20)).toThrow(/give one of them/)
})
