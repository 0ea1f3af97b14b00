import type { ChatAppRoute } from '../contract/chat/apps.js'
import type { GatewayRoute } from '../contract/gateway/routes.js'
import type { RouteRequest, RouteResult } from '../contract/route.js'

/** The routes of the contract by method and path: `GET /knowledge-spaces/{id}`. */
type RoutesByKey = { [R in GatewayRoute | ChatAppRoute as `${R['method']} ${R['path']}`]: R }

export type RouteKey = keyof RoutesByKey
export type RouteOf<K extends RouteKey> = RoutesByKey[K]

/** Query strings accept numbers for parameters that are strings in the contract. */
type WithNumbers<Q> = { [P in keyof Q]: Q[P] extends string | undefined ? Q[P] | number : Q[P] }

type InputPart<Name extends string, T> = [T] extends [undefined]
  ? unknown
  : Record<never, never> extends T
    ? { [N in Name]?: T }
    : { [N in Name]: T }

/** Input of a call: path parameters, query and body, as far as the route has them. */
export type CallInput<K extends RouteKey> = InputPart<'path', RouteRequest<RouteOf<K>>['path']> &
  InputPart<'query', WithNumbers<RouteRequest<RouteOf<K>>['query']>> &
  InputPart<'body', RouteRequest<RouteOf<K>>['body']>

export type CallResult<K extends RouteKey> = RouteResult<RouteOf<K>>

/** The input of any call, without the types of its route. */
export interface UntypedCallInput {
  path?: Record<string, unknown>
  query?: Record<string, unknown>
  body?: unknown
  /** aborts this call only */
  signal?: AbortSignal
}

/**
 * Builds the method of a route and its path with query string. Path parameters are percent-encoded, so an id with a
 * slash stays one segment.
 *
 * @param key method and path template, such as `GET /knowledge-spaces/{id}`
 */
export function toRequestLine(key: string, input: UntypedCallInput): { method: string; path: string } {
  const [method = '', template = ''] = key.split(' ')
  const path = template.replace(/\{(\w+)\*?\}/g, (_, name: string) =>
    encodeURIComponent(String(input.path?.[name] ?? '')),
  )
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(input.query ?? {})) {
    if (value !== undefined) query.set(name, String(value))
  }
  const queryText = query.toString()
  return { method, path: queryText === '' ? path : `${path}?${queryText}` }
}
