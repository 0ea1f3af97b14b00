import type { researchRoutes } from '../../contract/gateway/research.js'
import type { HandlerDeps, RouteHandlers } from '../operation.js'

export function researchHandlers({ engine: { research } }: HandlerDeps) {
  return {
    planResearchTask: ({ caller, body }) => research.plan(caller, body),
    createResearchTask: ({ caller, body }) => research.create(caller, body),
    listResearchTasks: ({ caller, query }) => research.list(caller, query),
    getResearchTask: ({ caller, params }) => research.get(caller, params.id),
    listResearchPartials: ({ caller, params, query }) => research.partials(caller, params.id, query),
    streamResearchEvents: async ({ caller, params, query, lastEventId, signal }) => ({
      headers: {},
      // A client that reconnects repeats its address with the old cursor; the header has the last event that it
      // received.
      frames: await research.events(caller, params.id, { ...query, cursor: lastEventId ?? query.cursor }, signal),
    }),
    getResearchReport: ({ caller, params }) => research.report(caller, params.id),
    cancelResearchTask: ({ caller, params }) => research.cancel(caller, params.id),
  } satisfies RouteHandlers<typeof researchRoutes>
}
