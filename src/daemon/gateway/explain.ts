import type { explainRoutes } from '../../contract/gateway/explain.js'
import type { HandlerDeps, Handlers } from '../operation.js'

export function explainHandlers({ engine: { queries } }: HandlerDeps) {
  return {
    explainQuery: ({ caller, params, body }) => queries.explain(caller, params.id, body),
  } satisfies Handlers<typeof explainRoutes>
}
