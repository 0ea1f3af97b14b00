import type { systemRoutes } from '../../contract/gateway/system.js'
import { formatMetrics } from '../metrics/metrics.js'
import type { HandlerDeps, RouteHandlers } from '../operation.js'

/** Longer than the lifetime of any token: a revocation never expires. */
const REVOCATION_MS = 100 * 365 * 24 * 60 * 60 * 1000

export function systemHandlers({ engine, status, requestMetrics, openapi }: HandlerDeps) {
  return {
    getHealth: () => engine.health(),
    getOpenapi: () => openapi(),
    getDaemonStatus: ({ query, operator, caller }) => (operator ? status.read(query) : status.readFor(caller.tenant)),
    getMetrics: async () =>
      formatMetrics({
        status: await status.read({ reset: false }),
        models: engine.models.records(),
        measured: await engine.measured(),
        requests: requestMetrics.all(),
      }),
    revokeToken: ({ params }) => engine.tokens.revoke(params.jti, Date.now() + REVOCATION_MS),
  } satisfies RouteHandlers<typeof systemRoutes>
}
