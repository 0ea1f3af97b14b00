import type { changesRoutes } from '../../contract/gateway/changes.js'
import type { HandlerDeps, Handlers } from '../operation.js'

export function changesHandlers({ engine }: HandlerDeps) {
  return {
    streamChanges: ({ caller, signal }) => ({
      headers: {},
      frames: engine.changes.follow(caller, signal),
      // whoever followed looks at what it follows and comes again
      interrupted: () => undefined,
    }),
  } satisfies Handlers<typeof changesRoutes>
}
