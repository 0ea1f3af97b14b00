import { type UseQueryResult, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { CallInput, CallResult, RouteKey } from '../../client/routes.js'
import { call } from './client.js'

interface ReadOptions<R, T> {
  /** false: not read yet */
  enabled?: boolean
  /** milliseconds between two readings while the tab is looked at; a function decides by what was read last */
  every?: number | ((last: R | undefined) => number | false)
  select?: (answer: R) => T
}

/**
 * Reads an operation, and again when what it tells has changed: `useRead('GET /knowledge-spaces', { query: {} })`. The
 * same call in two places is one request.
 */
export function useRead<K extends RouteKey, T = CallResult<K>>(
  key: K,
  input: CallInput<K> & object,
  { enabled = true, every, select }: ReadOptions<CallResult<K>, T> = {},
): UseQueryResult<T> {
  return useQuery<CallResult<K>, Error, T>({
    queryKey: [key, input],
    queryFn: ({ signal }) => call(key, input, { signal }),
    enabled,
    ...(every === undefined
      ? {}
      : { refetchInterval: typeof every === 'number' ? every : (query) => every(query.state.data) }),
    ...(select === undefined ? {} : { select }),
  })
}

/**
 * Changes something: `const create = useWrite('POST /knowledge-spaces', ['GET /knowledge-spaces'])`, then
 * `create.mutate({ body })`. What is read by the operations named is read anew.
 */
export function useWrite<K extends RouteKey>(key: K, changes: readonly RouteKey[] = []) {
  const forget = useForget()
  return useMutation({
    mutationFn: (input: CallInput<K> & object) => call(key, input),
    onSettled: () => forget(...changes),
  })
}

/**
 * Reads the results of operations again where they are shown, and drops them from the cache elsewhere: a page that
 * opens later must not show a deleted item until the list is read.
 */
export function useForget() {
  const client = useQueryClient()
  return async (...keys: readonly RouteKey[]): Promise<void> => {
    for (const key of keys) client.removeQueries({ queryKey: [key], type: 'inactive' })
    await Promise.all(keys.map((key) => client.invalidateQueries({ queryKey: [key] })))
  }
}
