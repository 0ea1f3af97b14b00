import type { CallInput, CallResult, RouteKey } from '../client/routes.js'
import type { ServerEvent } from '../client/sse.js'

/**
 * The operations of the contract, by whatever way they are reached: over HTTP from `ks mcp`, or within the daemon through
 * the same routes. Tools, resources and prompts know nothing else of the product. Failures are those of the client:
 * `ApiError` and `ConnectionError`.
 */
export interface Api {
  request<K extends RouteKey>(key: K, input: CallInput<K> & object): Promise<CallResult<K>>
  /** @param input with a signal that ends the stream */
  stream<K extends RouteKey>(key: K, input: CallInput<K> & object & { signal?: AbortSignal }): Promise<ApiStream>
}

export interface ApiStream {
  /** lower-case names */
  headers: Readonly<Record<string, string | string[] | undefined>>
  events: AsyncGenerator<ServerEvent>
}
