import type { conflictsRoutes } from '../../contract/gateway/conflicts.js'
import type { HandlerDeps, RouteHandlers } from '../operation.js'

export function conflictsHandlers({ engine: { quality } }: HandlerDeps) {
  return {
    listSpaceConflicts: ({ caller, params, query }) => quality.conflicts(caller, params.id, query),
  } satisfies RouteHandlers<typeof conflictsRoutes>
}
