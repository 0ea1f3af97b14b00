import type { explainRoutes } from '../../contract/gateway/explain.js'
import type { searchRoutes } from '../../contract/gateway/search.js'
import type { HandlerDeps, RouteHandlers } from '../operation.js'

export function explainHandlers({ engine: { queries } }: HandlerDeps) {
  return {
    explainQuery: ({ caller, params, body }) => queries.explain(caller, params.id, body),
  } satisfies RouteHandlers<typeof explainRoutes>
}

export function searchHandlers({ engine: { queries } }: HandlerDeps) {
  return {
    searchSpace: ({ caller, params, body }) => queries.search(caller, params.id, body),
  } satisfies RouteHandlers<typeof searchRoutes>
}
