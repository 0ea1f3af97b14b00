import fc from 'fast-check'
import { expect, it } from 'vitest'
import { reportMore } from '../../src/client/pages.js'
import { type ListItem, MAX_PAGE_SIZE, readNumberedPages, readPages, selectLimit } from '../../src/kchat/pages.js'

const items = (count: number): ListItem[] => Array.from({ length: count }, (_, id) => ({ id: String(id) }))

async function whole(found: AsyncGenerator<ListItem, string | undefined>) {
  let rest: string | undefined
  const all: ListItem[] = []
  for await (const item of reportMore(found, (next) => {
    rest = next
  }))
    all.push(item)
  return { items: all, hasMore: rest !== undefined, rest }
}

const sizes = fc.record({
  count: fc.nat(350),
  limit: fc.option(fc.integer({ min: 1, max: 400 }), { nil: undefined }),
  /** whether pages report that there are more */
  says: fc.boolean(),
})

it('a kchat list with cursors returns the requested number of items, and reports whether there are more', async () => {
  await fc.assert(
    fc.asyncProperty(sizes, async ({ count, limit, says }) => {
      const all = items(count)
      const read = async (size: number, after: string) => {
        expect(size).toBeLessThanOrEqual(MAX_PAGE_SIZE)
        const from = after === '' ? 0 : Number(after) + 1
        const data = all.slice(from, from + size)
        return says ? { data, has_more: from + size < count } : { data }
      }
      const found = await whole(readPages(read, limit))
      expect(found.items).toEqual(all.slice(0, limit ?? count))
      if (says) expect(found.hasMore).toBe(limit !== undefined && count > limit)
      if (found.hasMore) expect(found.rest).toBe(all[(limit ?? 0) - 1]?.id)
    }),
  )
})

it('a kchat list of numbered pages returns the requested number of items, or the given page', async () => {
  await fc.assert(
    fc.asyncProperty(sizes, async ({ count, limit, says }) => {
      const all = items(count)
      const read = async (query: string) => {
        const asked = new URLSearchParams(query)
        const [page, size] = [Number(asked.get('page')), Number(asked.get('limit'))]
        expect(size).toBeLessThanOrEqual(MAX_PAGE_SIZE)
        const data = all.slice((page - 1) * size, page * size)
        return says ? { data, has_more: page * size < count } : { data }
      }
      const range = limit === undefined ? { all: true } : { limit }
      const found = await whole(readNumberedPages(read, range))
      expect(found.items).toEqual(all.slice(0, limit ?? count))
      if (says) expect(found.hasMore).toBe(limit !== undefined && count > limit)
      const second = await whole(readNumberedPages(read, { page: 2, limit: 20 }))
      expect(second.items).toEqual(all.slice(20, 40))
    }),
  )
})

it('a kchat list refuses --limit together with --all; a pipe gets all items by default', () => {
  const { isTTY } = process.stdout
  for (const [terminal, byDefault] of [
    [true, 20],
    [false, undefined],
  ] as const) {
    process.stdout.isTTY = terminal
    expect([selectLimit({}, 20), selectLimit({ limit: 3 }, 20), selectLimit({ all: true }, 20)]).toEqual([
      byDefault,
      3,
      undefined,
    ])
  }
  process.stdout.isTTY = isTTY
  expect(() => selectLimit({ all: true, limit: 3 }, 20)).toThrow(/give one of them/)
})
