import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { CallInput, CallResult, RouteKey } from '../../client/routes.js'
import { call } from './client.js'

interface ReadOptions<R> {
  /** false: not read yet */
  enabled?: boolean
  /** Milliseconds between reads while the tab is visible; a function computes it from the last result. */
  refetchInterval?: number | ((last: R | undefined) => number | false)
}

/**
 * Calls a reading operation, and again when its data changes: `useRead('GET /knowledge-spaces', { query: {} })`. Equal
 * calls share one request.
 */
export function useRead<K extends RouteKey>(
  key: K,
  input: CallInput<K> & object,
  { enabled = true, refetchInterval }: ReadOptions<CallResult<K>> = {},
) {
  return useQuery<CallResult<K>>({
    queryKey: [key, input],
    queryFn: ({ signal }) => call(key, input, { signal }),
    enabled,
    ...(refetchInterval === undefined
      ? {}
      : {
          refetchInterval:
            typeof refetchInterval === 'number' ? refetchInterval : (query) => refetchInterval(query.state.data),
        }),
  })
}

/**
 * Calls an operation that changes data: `const create = useWrite('POST /knowledge-spaces', ['GET /knowledge-spaces'])`,
 * then `create.mutate({ body })`. The results of the operations in `changes` are read again.
 */
export function useWrite<K extends RouteKey>(key: K, changes: readonly RouteKey[] = []) {
  const invalidate = useInvalidate()
  return useMutation({
    mutationFn: (input: CallInput<K> & object) => call(key, input),
    onSettled: () => invalidate(...changes),
  })
}

/**
 * Invalidates the results of operations: mounted ones are read again, others are dropped from the cache. A page that
 * opens later must not show a deleted item until the list is read.
 */
export function useInvalidate() {
  const client = useQueryClient()
  return async (...keys: readonly RouteKey[]): Promise<void> => {
    for (const key of keys) client.removeQueries({ queryKey: [key], type: 'inactive' })
    await Promise.all(keys.map((key) => client.invalidateQueries({ queryKey: [key] })))
  }
}
