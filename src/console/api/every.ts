import { useQuery } from '@tanstack/react-query'
import type { CallInput, CallResult, RouteKey } from '../../client/routes.js'
import { call } from './client.js'

/** The operations that give their answer in pages. */
type PagedKey = {
  [K in RouteKey]: CallResult<K> extends { items: readonly unknown[]; nextCursor?: string | undefined } ? K : never
}[RouteKey]
type ItemOf<K extends PagedKey> = CallResult<K> extends { items: readonly (infer T)[] } ? T : never

export interface Every<T> {
  items: T[]
  /** there are more than were read */
  isCut: boolean
}

interface EveryOptions<T> {
  enabled?: boolean
  /** milliseconds until it is read again, by what was read last */
  every?: (last: Every<T> | undefined) => number | false
  /** items that are read at most */
  most: number
}

/** Reads the pages of a list up to a bound, and says when there is more. */
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
    // what makes a key paged is that its answer looks like this
    const { items: more, nextCursor } = page as { items: ItemOf<K>[]; nextCursor?: string }
    items.push(...more)
    cursor = nextCursor
  } while (cursor !== undefined && items.length < most)
  return { items: items.slice(0, most), isCut: cursor !== undefined || items.length > most }
}
