import type { integrityRoutes } from '../../contract/gateway/integrity.js'
import type { HandlerDeps, RouteHandlers } from '../operation.js'

export function integrityHandlers({ engine: { integrity } }: HandlerDeps) {
  return {
    fsck: ({ caller, params, query }) => integrity.fsck(caller, params.id, { ...query, deep: query.deep === 'true' }),
    gcExecute: ({ caller, params, body }) => integrity.gcExecute(caller, params.id, body.candidates),
  } satisfies Partial<RouteHandlers<typeof integrityRoutes>>
}
