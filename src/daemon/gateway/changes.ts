import type { changesRoutes } from '../../contract/gateway/changes.js'
import type { HandlerDeps, Handlers } from '../operation.js'

export function changesHandlers({ engine }: HandlerDeps) {
  return {
    streamChanges: ({ caller, query, signal }) => ({
      headers: {},
      frames: engine.changes.follow(caller, query.seconds, signal),
    }),
  } satisfies Handlers<typeof changesRoutes>
}
