import type { graphRoutes } from '../../contract/gateway/graph.js'
import type { HandlerDeps, Handlers } from '../operation.js'

export function graphHandlers({ engine: { graph } }: HandlerDeps) {
  return {
    traverseGraph: ({ caller, params, query }) => graph.traverse(caller, params.id, query),
    materializeTopic: ({ caller, params, body }) => graph.materializeTopic(caller, params.id, body),
    extractEntities: ({ caller, params, body }) => graph.extract(caller, params.id, body),
    materializeCommunities: ({ caller, params, body }) => graph.materializeCommunities(caller, params.id, body),
    listGraphEntities: ({ caller, params, query }) => graph.entities(caller, params.id, query),
    listGraphRelations: ({ caller, params, query }) => graph.relations(caller, params.id, query),
  } satisfies Handlers<typeof graphRoutes>
}
