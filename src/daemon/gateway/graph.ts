import type { graphRoutes } from '../../contract/gateway/graph.js'
import type { HandlerDeps, RouteHandlers } from '../operation.js'

export function graphHandlers({ engine: { graph } }: HandlerDeps) {
  return {
    traverseGraph: ({ caller, params, query }) => graph.traverse(caller, params.id, query),
    materializeTopic: ({ caller, params, body }) => graph.materializeTopic(caller, params.id, body),
    extractEntities: ({ caller, params, body }) => graph.extract(caller, params.id, body),
    materializeCommunities: ({ caller, params, body }) => graph.materializeCommunities(caller, params.id, body),
    listGraphEntities: ({ caller, params, query }) => graph.entities(caller, params.id, query),
    listGraphRelations: ({ caller, params, query }) => graph.relations(caller, params.id, query),
    listCommunities: ({ caller, params, query }) => graph.communities(caller, params.id, query),
    startGraphReading: ({ caller, params, body }) => graph.readings.start(caller, params.id, body),
    listGraphReadings: ({ caller, params }) => graph.readings.list(caller, params.id),
    getGraphReading: ({ caller, params }) => graph.readings.get(caller, params.id, params.readingId),
    cancelGraphReading: ({ caller, params }) => graph.readings.cancel(caller, params.id, params.readingId),
  } satisfies RouteHandlers<typeof graphRoutes>
}
