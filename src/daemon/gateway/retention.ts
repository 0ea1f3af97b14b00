import type { retentionRoutes } from '../../contract/gateway/retention.js'
import type { HandlerDeps, RouteHandlers } from '../operation.js'

export function retentionHandlers({ engine: { retention } }: HandlerDeps) {
  return {
    getTenantRetentionPolicy: ({ caller }) => retention.ofTenant(caller),
    updateTenantRetentionPolicy: ({ caller, body }) => retention.setTenant(caller, body),
    getSpaceRetentionPolicy: ({ caller, params }) => retention.ofSpace(caller, params.id),
    updateSpaceRetentionPolicy: ({ caller, params, body }) => retention.setSpace(caller, params.id, body),
  } satisfies RouteHandlers<typeof retentionRoutes>
}
