interface ListPage<T> {
  items: T[]
  nextCursor?: string | undefined
}

export interface PaginationOptions {
  /** maximum number of items; all if absent */
  limit?: number | undefined
  /** cursor of the first page */
  cursor?: string | undefined
  /** maximum page size of the list */
  pageSize: number
}

/**
 * Yields the items of a paged list, one request at a time. Returns the cursor after the last page that was read, or
 * undefined at the end of the list.
 */
export async function* paginate<T>(
  fetchPage: (request: { limit: number; cursor?: string }) => Promise<ListPage<T>>,
  options: PaginationOptions,
): AsyncGenerator<T, string | undefined> {
  let remaining = options.limit ?? Number.POSITIVE_INFINITY
  let cursor = options.cursor
  while (remaining > 0) {
    const limit = Math.min(options.pageSize, remaining)
    const page = await fetchPage(cursor === undefined ? { limit } : { limit, cursor })
    for (const item of page.items) yield item
    remaining -= page.items.length
    cursor = page.nextCursor
    if (cursor === undefined) return undefined
  }
  return cursor
}

/** Passes items on, and reports the cursor after them if the list has more. */
export async function* reportMore<T>(
  items: AsyncGenerator<T, string | undefined>,
  onMore: (cursor: string) => void,
): AsyncGenerator<T> {
  const next = yield* items
  if (next !== undefined) onMore(next)
}
