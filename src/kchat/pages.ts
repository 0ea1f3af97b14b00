import { usageError } from '../cli/cli-error.js'
import type { Column } from '../cli/columns.js'
import { isRecord } from '../lib/json/values.js'
import type { Common } from './options.js'
import { outputOf, printList } from './output.js'

/** largest page size that all lists of the service support */
export const PAGE = 100

export type Item = Record<string, unknown>

/** The requested range of a list. */
export interface Range {
  limit?: number
  all?: boolean
}

/** The items of a page of the service. */
export function dataOf(page: unknown): Item[] {
  return isRecord(page) && Array.isArray(page.data) ? page.data.filter(isRecord) : []
}

/**
 * Reads the items of a list page by page.
 *
 * @param read reads a page of `size` items after an item or, for numbered pages, with a number from 1
 * @param limit maximum items; undefined for all
 * @returns whether there are more items
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

/**
 * Item limit of a list command: `--limit`; none with `--all` or in a pipe; otherwise the default. @throws CliError exit
 * 2
 */
export function limitOf({ limit, all }: Range, byDefault: number): number | undefined {
  if (all === true && limit !== undefined) throw usageError('--all and --limit both set the count: give one of them')
  return all === true ? undefined : (limit ?? (process.stdout.isTTY === true ? byDefault : undefined))
}

/** Passes items on, and calls `onMore` at the end if the list has more. */
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

/** A range of a list with numbered pages. */
export interface NumberedRange extends Range {
  page?: number
}

/** @param read reads a page, given its query parameters. @throws CliError exit 2 */
export function numberedPageItems(
  read: (query: string) => Promise<unknown>,
  range: NumberedRange,
  byDefault: number,
): AsyncGenerator<Item, boolean> {
  const limit = limitOf(range, byDefault)
  if (range.page !== undefined && range.all === true)
    throw usageError('--all and --page both set the range: give one of them')
  if (range.page !== undefined || (limit !== undefined && limit <= PAGE))
    return pagedItems(() => read(`page=${range.page ?? 1}&limit=${limit ?? byDefault}`), limit ?? byDefault)
  // Pages of equal size; the last one is truncated here.
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

/** Prints such a list, and how to see more of it. */
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
