import type { ChatAppRoute } from '../contract/chat/apps.js'
import type { GatewayRoute } from '../contract/gateway/routes.js'
import type { RouteRequest, RouteResult } from '../contract/route.js'

/** The routes of the contract by what a reader of the API document would type: `GET /knowledge-spaces/{id}`. */
type ByKey = { [R in GatewayRoute | ChatAppRoute as `${R['method']} ${R['path']}`]: R }

export type RouteKey = keyof ByKey
export type RouteOf<K extends RouteKey> = ByKey[K]

/** Numbers may be given where the query string carries their digits. */
type Loose<Q> = { [P in keyof Q]: Q[P] extends string | undefined ? Q[P] | number : Q[P] }

type Part<Name extends string, T> = [T] extends [undefined]
  ? unknown
  : Record<never, never> extends T
    ? { [N in Name]?: T }
    : { [N in Name]: T }

/** What a call of a route takes: its path parts, query and body, where it has them. */
export type CallInput<K extends RouteKey> = Part<'path', RouteRequest<RouteOf<K>>['path']> &
  Part<'query', Loose<RouteRequest<RouteOf<K>>['query']>> &
  Part<'body', RouteRequest<RouteOf<K>>['body']>

export type CallResult<K extends RouteKey> = RouteResult<RouteOf<K>>

/** Path and query string of a call. Path parts are percent-encoded, so an id with a slash stays one part. */
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
