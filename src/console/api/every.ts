import { useQuery } from '@tanstack/react-query'
import type { CallInput, CallResult, RouteKey } from '../../client/routes.js'
import { call } from './client.js'

/** The operations that return a paged list. */
type PagedKey = {
  [K in RouteKey]: CallResult<K> extends { items: readonly unknown[]; nextCursor?: string | undefined } ? K : never
}[RouteKey]
type ItemOf<K extends PagedKey> = CallResult<K> extends { items: readonly (infer T)[] } ? T : never

export interface Every<T> {
  items: T[]
  /** the list has more items than were read */
  isCut: boolean
}

interface EveryOptions<T> {
  enabled?: boolean
  /** milliseconds until the list is read again; computed from the last result */
  every?: (last: Every<T> | undefined) => number | false
  /** maximum number of items */
  most: number
}

/** Reads a paged list up to a maximum and reports whether there is more. */
export function useEvery<K extends PagedKey>(
  key: K,
  input: (cursor: string | undefined) => CallInput<K> & object,
  { enabled = true, most, every }: EveryOptions<ItemOf<K>>,
) {
  return useQuery<Every<ItemOf<K>>>({
    queryKey: [key, 'every', most, input(undefined)],
    queryFn: ({ signal }) => readEvery(key, input, most, signal),
    enabled,
    ...(every === undefined ? {} : { refetchInterval: (query) => every(query.state.data) }),
  })
}

export async function readEvery<K extends PagedKey>(
  key: K,
  input: (cursor: string | undefined) => CallInput<K> & object,
  most: number,
  signal?: AbortSignal,
): Promise<Every<ItemOf<K>>> {
  const items: ItemOf<K>[] = []
  let cursor: string | undefined
  do {
    const page = await call(key, input(cursor), { signal })
    // the definition of `PagedKey` guarantees this form
    const { items: more, nextCursor } = page as { items: ItemOf<K>[]; nextCursor?: string }
    items.push(...more)
    cursor = nextCursor
  } while (cursor !== undefined && items.length < most)
  return { items: items.slice(0, most), isCut: cursor !== undefined || items.length > most }
}
