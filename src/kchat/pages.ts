import { usageError } from '../cli/cli-error.js'
import type { OutputColumn } from '../cli/columns.js'
import { isRecord } from '../lib/json/values.js'
import type { KchatOptions } from './options.js'
import { createOutput, printList } from './output.js'

/** largest page size that all lists of the service support */
export const MAX_PAGE_SIZE = 100

export type ListItem = Record<string, unknown>

/** The requested range of a list. */
export interface ListRange {
  limit?: number
  all?: boolean
}

/** The items of a page of the service. */
export function toItems(page: unknown): ListItem[] {
  return isRecord(page) && Array.isArray(page.data) ? page.data.filter(isRecord) : []
}

/**
 * Reads the items of a list page by page.
 *
 * @param read reads a page of `size` items after an item or, for numbered pages, with a number from 1
 * @param limit maximum items; undefined for all
 * @returns whether there are more items
 */
export async function* readPages(
  read: (size: number, last: ListItem | undefined, page: number) => Promise<unknown>,
  limit: number | undefined,
): AsyncGenerator<ListItem, boolean> {
  let last: ListItem | undefined
  for (let [remaining, page] = [limit ?? Number.POSITIVE_INFINITY, 1]; ; page++) {
    const size = Math.min(MAX_PAGE_SIZE, remaining)
    const reply = await read(size, last, page)
    const items = toItems(reply)
    yield* items
    remaining -= items.length
    last = items.at(-1)
    const isLast = isRecord(reply) && typeof reply.has_more === 'boolean' ? !reply.has_more : items.length < size
    if (isLast || last === undefined) return false
    if (remaining <= 0) return true
  }
}

/**
 * Item limit of a list command: `--limit`; none with `--all` or in a pipe; otherwise the default. @throws CliError exit
 * 2
 */
export function selectLimit({ limit, all }: ListRange, defaultLimit: number): number | undefined {
  if (all === true && limit !== undefined) throw usageError('--all and --limit both set the count: give one of them')
  return all === true ? undefined : (limit ?? (process.stdout.isTTY === true ? defaultLimit : undefined))
}

/** Passes items on, and calls `onMore` at the end if the list has more. */
export async function* withMoreNotice(
  items: AsyncGenerator<ListItem, boolean>,
  onMore: (last: ListItem) => void,
): AsyncGenerator<ListItem> {
  let last: ListItem | undefined
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
export interface NumberedRange extends ListRange {
  page?: number
}

/** @param read reads a page, given its query parameters. @throws CliError exit 2 */
export function readNumberedPages(
  read: (query: string) => Promise<unknown>,
  range: NumberedRange,
  defaultLimit: number,
): AsyncGenerator<ListItem, boolean> {
  const limit = selectLimit(range, defaultLimit)
  if (range.page !== undefined && range.all === true)
    throw usageError('--all and --page both set the range: give one of them')
  if (range.page !== undefined || (limit !== undefined && limit <= MAX_PAGE_SIZE))
    return readPages(() => read(`page=${range.page ?? 1}&limit=${limit ?? defaultLimit}`), limit ?? defaultLimit)
  // Pages of equal size; the last one is truncated here.
  return limitItems(
    readPages((_size, _last, number) => read(`page=${number}&limit=${MAX_PAGE_SIZE}`), undefined),
    limit,
  )
}

async function* limitItems(
  items: AsyncGenerator<ListItem, boolean>,
  limit: number | undefined,
): AsyncGenerator<ListItem, boolean> {
  let count = 0
  for await (const item of items) {
    if (count === limit) return true
    count++
    yield item
  }
  return false
}

/** Prints such a list, and how to see more of it. */
export async function printNumbered(
  items: AsyncGenerator<ListItem, boolean>,
  options: KchatOptions & NumberedRange,
  listOptions: { columns: OutputColumn[]; empty: string; hint?: string },
): Promise<void> {
  let hasMore = false
  await printList(
    withMoreNotice(items, () => {
      hasMore = true
    }),
    options,
    listOptions,
  )
  const isPaged = (options.limit ?? 1) <= MAX_PAGE_SIZE
  if (hasMore)
    createOutput(options).note(`more: \`--all\`${isPaged ? `, or \`--page ${(options.page ?? 1) + 1}\`` : ''}`)
}
