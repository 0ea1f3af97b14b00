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

/** Builds path and query string. Path parameters are percent-encoded, so an id with a slash stays one segment. */
export function urlPath(
  template: string,
  path: Record<string, unknown> | undefined,
  query: Record<string, unknown> | undefined,
): string {
  const filled = template.replace(/\{(\w+)\*?\}/g, (_, name: string) => encodeURIComponent(String(path?.[name] ?? '')))
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value !== undefined) search.set(name, String(value))
  }
  const text = search.toString()
  return text === '' ? filled : `${filled}?${text}`
}
