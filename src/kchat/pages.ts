import { usageError } from '../cli/cli-error.js'
import type { Column } from '../cli/columns.js'
import { isRecord } from '../lib/json/values.js'
import type { Common } from './options.js'
import { outputOf, printList } from './output.js'

/** the largest page that every list of the service gives */
export const PAGE = 100

export type Item = Record<string, unknown>

/** How much of a list is wanted. */
export interface Range {
  limit?: number
  all?: boolean
}

/** The items of a page as the service gives it. */
export function dataOf(page: unknown): Item[] {
  return isRecord(page) && Array.isArray(page.data) ? page.data.filter(isRecord) : []
}

/**
 * The items of a list, page by page.
 *
 * @param read the page of so many items after an item, or, for lists that count pages, of that number from 1
 * @param limit items at most; undefined for all
 * @returns whether there are more
 */
export async function* pagedItems(
  read: (size: number, last: Item | undefined, page: number) => Promise<unknown>,
  limit: number | undefined,
): AsyncGenerator<Item, boolean> {
  let last: Item | undefined
  for (let [left, page] = [limit ?? Number.POSITIVE_INFINITY, 1]; ; page++) {
    const size = Math.min(PAGE, left)
    const found = await read(size, last, page)
    const items = dataOf(found)
    yield* items
    left -= items.length
    last = items.at(-1)
    const isLast = isRecord(found) && typeof found.has_more === 'boolean' ? !found.has_more : items.length < size
    if (isLast || last === undefined) return false
    if (left <= 0) return true
  }
}

/** How many items a command lists: `--limit`, all with `--all` and in a pipe, else its default. @throws CliError exit 2 */
export function limitOf({ limit, all }: Range, byDefault: number): number | undefined {
  if (all === true && limit !== undefined) throw usageError('--all and --limit both say how many: give one of them')
  return all === true ? undefined : (limit ?? (process.stdout.isTTY === true ? byDefault : undefined))
}

/** Passes items on, and tells what was said at their end. */
export async function* withMoreNotice(
  items: AsyncGenerator<Item, boolean>,
  onMore: (last: Item) => void,
): AsyncGenerator<Item> {
  let last: Item | undefined
  for (;;) {
    const next = await items.next()
    if (next.done === true) {
      if (next.value && last !== undefined) onMore(last)
      return
    }
    last = next.value
    yield next.value
  }
}

/** Of lists that count pages: the page that `--page` names, or as many items as are wanted. */
export interface NumberedRange extends Range {
  page?: number
}

/** @param read a page, by the query that names it. @throws CliError exit 2 */
export function numberedPageItems(
  read: (query: string) => Promise<unknown>,
  range: NumberedRange,
  byDefault: number,
): AsyncGenerator<Item, boolean> {
  const limit = limitOf(range, byDefault)
  if (range.page !== undefined && range.all === true)
    throw usageError('--all and --page both say how many: give one of them')
  if (range.page !== undefined || (limit !== undefined && limit <= PAGE))
    return pagedItems(() => read(`page=${range.page ?? 1}&limit=${limit ?? byDefault}`), limit ?? byDefault)
  // pages of one size, the last of which is cut here
  return cut(
    pagedItems((_size, _last, number) => read(`page=${number}&limit=${PAGE}`), undefined),
    limit,
  )
}

async function* cut(items: AsyncGenerator<Item, boolean>, limit: number | undefined): AsyncGenerator<Item, boolean> {
  let shown = 0
  for await (const item of items) {
    if (shown === limit) return true
    shown++
    yield item
  }
  return false
}

/** Prints such a list, and says how to see more of it. */
export async function printNumbered(
  items: AsyncGenerator<Item, boolean>,
  options: Common & NumberedRange,
  how: { columns: Column[]; empty: string; hint?: string },
): Promise<void> {
  let hasMore = false
  await printList(
    withMoreNotice(items, () => {
      hasMore = true
    }),
    options,
    how,
  )
  const isPaged = (options.limit ?? 1) <= PAGE
  if (hasMore) outputOf(options).note(`more: \`--all\`${isPaged ? `, or \`--page ${(options.page ?? 1) + 1}\`` : ''}`)
}
