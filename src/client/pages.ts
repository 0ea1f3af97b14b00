interface Page<T> {
  items: T[]
  nextCursor?: string | undefined
}

export interface PagedOptions {
  /** items to yield at most; all of them when absent */
  limit?: number | undefined
  /** where to start */
  cursor?: string | undefined
  /** largest page the list gives */
  pageSize: number
}

/**
 * Items of a list over its pages, one request at a time. The generator returns the cursor after the last page that
 * was read, or undefined at the end of the list.
 */
export async function* paginate<T>(
  fetchPage: (request: { limit: number; cursor?: string }) => Promise<Page<T>>,
  options: PagedOptions,
): AsyncGenerator<T, string | undefined> {
  let left = options.limit ?? Number.POSITIVE_INFINITY
  let cursor = options.cursor
  while (left > 0) {
    const limit = Math.min(options.pageSize, left)
    const page = await fetchPage(cursor === undefined ? { limit } : { limit, cursor })
    for (const item of page.items) yield item
    left -= page.items.length
    cursor = page.nextCursor
    if (cursor === undefined) return undefined
  }
  return cursor
}
