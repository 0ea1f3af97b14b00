import { usageError } from '../cli/cli-error.js'
import type { PrintListOptions } from '../cli/output.js'
import { paginate, reportMore } from '../client/pages.js'
import { isRecord, toNonEmptyString } from '../lib/json/values.js'
import { DEFAULT_LIST_LIMIT, type KchatOptions } from './options.js'
import { createOutput, printList } from './output.js'

/** largest page size that all lists of the service support */
export const MAX_PAGE_SIZE = 100

export type ListItem = Record<string, unknown>

/** The requested range of a list. */
export interface ListRange {
  limit?: number
  all?: boolean
}

/** Returns the items of a page of the service. */
export function toItems(page: unknown): ListItem[] {
  return isRecord(page) && Array.isArray(page.data) ? page.data.filter(isRecord) : []
}

/**
 * Reads the items of a list whose pages are requested by the item before them.
 *
 * @param read reads a page of `size` items after the item with an id, encoded for a URL; empty for the first page
 * @param limit maximum items; undefined for all
 * @returns the id of the last item if there are more
 */
export function readPages(
  readPage: (size: number, afterId: string) => Promise<unknown>,
  limit: number | undefined,
  cursor?: string,
): AsyncGenerator<ListItem, string | undefined> {
  const fetchPage = async ({ limit: size, cursor: afterId = '' }: { limit: number; cursor?: string }) => {
    const reply = await readPage(size, encodeURIComponent(afterId))
    const items = toItems(reply)
    return { items, nextCursor: hasMore(reply, size) ? toNonEmptyString(items.at(-1)?.id) : undefined }
  }
  return paginate(fetchPage, { limit, cursor, pageSize: MAX_PAGE_SIZE })
}

/** @param size number of requested items: a service that does not state it has more if the page is full */
function hasMore(page: unknown, size: number): boolean {
  return isRecord(page) && typeof page.has_more === 'boolean' ? page.has_more : toItems(page).length >= size
}

/** Selects the item limit: `--limit`; none with `--all` or in a pipe; otherwise the default. @throws CliError exit 2 */
export function selectLimit({ limit, all }: ListRange, defaultLimit = DEFAULT_LIST_LIMIT): number | undefined {
  if (all === true && limit !== undefined) throw usageError('--all and --limit both set the count: give one of them')
  return all === true ? undefined : (limit ?? (process.stdout.isTTY === true ? defaultLimit : undefined))
}

/** A range of a list with numbered pages. */
export interface NumberedRange extends ListRange {
  page?: number
}

/**
 * Reads the items of a list with numbered pages.
 *
 * @param read reads a page, given its query parameters
 * @returns the number of the next page if there are more items
 * @throws CliError exit 2
 */
export function readNumberedPages(
  readPage: (query: string) => Promise<unknown>,
  range: NumberedRange,
): AsyncGenerator<ListItem, string | undefined> {
  const limit = selectLimit(range)
  if (range.page !== undefined && range.all === true)
    throw usageError('--all and --page both set the range: give one of them')
  const isOnePage = range.page !== undefined || (limit !== undefined && limit <= MAX_PAGE_SIZE)
  // Pages have one size, because their numbers count from the start; the last one is truncated here.
  const pageSize = isOnePage ? (limit ?? DEFAULT_LIST_LIMIT) : MAX_PAGE_SIZE
  const fetchPage = async ({ limit: count, cursor }: { limit: number; cursor?: string }) => {
    const page = Number(cursor)
    const reply = await readPage(`page=${page}&limit=${pageSize}`)
    const items = toItems(reply)
    const isTruncated = items.length > count
    const isMore = items.length > 0 && (isTruncated || hasMore(reply, pageSize))
    return { items: items.slice(0, count), nextCursor: isMore ? String(page + 1) : undefined }
  }
  return paginate(fetchPage, {
    limit: isOnePage ? pageSize : limit,
    cursor: String(range.page ?? 1),
    pageSize: MAX_PAGE_SIZE,
  })
}

/** Prints a list with numbered pages, and how to see more of it. */
export async function printNumbered(
  items: AsyncGenerator<ListItem, string | undefined>,
  options: KchatOptions & NumberedRange,
  listOptions: PrintListOptions,
): Promise<void> {
  const isOnePage = (options.limit ?? 1) <= MAX_PAGE_SIZE
  await printPages(items, options, listOptions, (page) => (isOnePage ? `, or \`--page ${page}\`` : ''))
}

/**
 * Prints a list, and how to see more of it.
 *
 * @param describeRest makes the text after `--all` from the return value of the list
 */
export async function printPages(
  items: AsyncGenerator<ListItem, string | undefined>,
  options: KchatOptions,
  listOptions: PrintListOptions,
  describeRest: (next: string) => string,
): Promise<void> {
  let rest: string | undefined
  const reported = reportMore(items, (next) => {
    rest = describeRest(next)
  })
  await printList(reported, options, listOptions)
  if (rest !== undefined) createOutput(options).note(`more: \`--all\`${rest}`)
}
