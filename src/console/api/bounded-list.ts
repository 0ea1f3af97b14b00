import { useQuery } from '@tanstack/react-query'
import type { CallInput, CallResult, RouteKey } from '../../client/routes.js'
import { call } from './client.js'

/** The operations that return a paged list. */
type PagedKey = {
  [K in RouteKey]: CallResult<K> extends { items: readonly unknown[]; nextCursor?: string | undefined } ? K : never
}[RouteKey]
type PagedItem<K extends PagedKey> = CallResult<K> extends { items: readonly (infer T)[] } ? T : never

export interface BoundedList<T> {
  items: T[]
  /** the list has more items than were read */
  isTruncated: boolean
}

/** Makes the input of the call that reads one page; spreads the parameter into the query. */
type PageInput<K extends PagedKey> = (position: { cursor?: string }) => CallInput<K> & object

interface BoundedListOptions<T> {
  enabled?: boolean
  /** milliseconds until the list is read again; computed from the last result */
  refetchInterval?: (last: BoundedList<T> | undefined) => number | false
  maxItems: number
}

/** Reads a paged list up to a maximum and reports whether there is more. */
export function useBoundedList<K extends PagedKey>(
  key: K,
  input: PageInput<K>,
  { enabled = true, maxItems, refetchInterval }: BoundedListOptions<PagedItem<K>>,
) {
  return useQuery<BoundedList<PagedItem<K>>>({
    queryKey: [key, 'bounded', maxItems, input({})],
    queryFn: ({ signal }) => readBoundedList(key, input, { maxItems, signal }),
    enabled,
    ...(refetchInterval === undefined ? {} : { refetchInterval: (query) => refetchInterval(query.state.data) }),
  })
}

/** The same as `useBoundedList`, outside of a component. */
export async function readBoundedList<K extends PagedKey>(
  key: K,
  input: PageInput<K>,
  { maxItems, signal }: { maxItems: number; signal: AbortSignal },
): Promise<BoundedList<PagedItem<K>>> {
  const items: PagedItem<K>[] = []
  let cursor: string | undefined
  do {
    const page = await call(key, input(cursor === undefined ? {} : { cursor }), { signal })
    // the definition of `PagedKey` guarantees this form
    const { items: pageItems, nextCursor } = page as { items: PagedItem<K>[]; nextCursor?: string }
    items.push(...pageItems)
    cursor = nextCursor
  } while (cursor !== undefined && items.length < maxItems)
  return { items: items.slice(0, maxItems), isTruncated: cursor !== undefined || items.length > maxItems }
}
