import type { changesRoutes } from '../../contract/gateway/changes.js'
import type { HandlerDeps, RouteHandlers } from '../operation.js'

export function changesHandlers({ engine }: HandlerDeps) {
  return {
    streamChanges: ({ caller, query, signal }) => ({
      headers: {},
      frames: engine.changes.follow(caller, query.seconds, signal),
    }),
  } satisfies RouteHandlers<typeof changesRoutes>
}
