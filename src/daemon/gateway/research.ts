import type { researchRoutes } from '../../contract/gateway/research.js'
import type { HandlerDeps, RouteHandlers } from '../operation.js'

export function researchHandlers({ engine: { research } }: HandlerDeps) {
  return {
    streamResearchEvents: async ({ caller, params, query, lastEventId, signal }) => ({
      headers: {},
      // A client that reconnects repeats its address with the old cursor; the header has the last event that it
      // received.
      frames: await research.events(caller, params.id, { ...query, cursor: lastEventId ?? query.cursor }, signal),
    }),
  } satisfies Partial<RouteHandlers<typeof researchRoutes>>
}
