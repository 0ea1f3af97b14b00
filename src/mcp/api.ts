import type { CallInput, CallResult, RouteKey } from '../client/routes.js'
import type { ServerEvent } from '../client/sse.js'

/**
 * The operations of the contract, over HTTP from `ks mcp` or through the same routes within the daemon. Tools,
 * resources and prompts use nothing else of the product. Failures are those of the client: `ApiError` and
 * `ConnectionError`.
 */
export interface GatewayApi {
  request<K extends RouteKey>(key: K, input: CallInput<K> & object): Promise<CallResult<K>>
  /** @param input with a signal that ends the stream */
  stream<K extends RouteKey>(key: K, input: CallInput<K> & object & { signal?: AbortSignal }): Promise<GatewayStream>
}

export interface GatewayStream {
  /** Header names in lower case. */
  headers: Readonly<Record<string, string | string[] | undefined>>
  events: AsyncGenerator<ServerEvent>
}
