import { KsError } from '../../contract/errors.js'
import type {
  EntityExtraction,
  ExtractEntitiesBody,
  GraphEntitiesQuery,
  GraphEntity,
  GraphRelation,
  GraphRelationsQuery,
  GraphTraversal,
  MaterializeCommunitiesBody,
  MaterializedCommunities,
  MaterializedTopic,
  MaterializeTopicBody,
  TraverseQuery,
} from '../../contract/gateway/graph.js'
import type { Caller, Page } from '../api.js'
import type { EngineContext } from '../context.js'
import type { Derivations } from '../query/derivation.js'
import { deniedSources } from '../sources/permissions.js'
import { findSpace } from '../spaces/store.js'
import type { SemanticViews } from '../views/views.js'
import { listEntities, listRelations } from './lists.js'
import type { GraphView } from './read.js'
import { scanPassages } from './scan.js'
import { traverse } from './traverse.js'

/** The graph of a space, and what is made of it. */
export interface GraphOperations {
  /** @throws KsError `not-found` for the space, or for an entity that the caller does not see */
  traverse(caller: Caller, spaceId: string, query: TraverseQuery): Promise<GraphTraversal>
  entities(caller: Caller, spaceId: string, query: GraphEntitiesQuery): Promise<Page<GraphEntity>>
  relations(caller: Caller, spaceId: string, query: GraphRelationsQuery): Promise<Page<GraphRelation>>
  extract(caller: Caller, spaceId: string, body: ExtractEntitiesBody): Promise<EntityExtraction>
  materializeTopic(caller: Caller, spaceId: string, body: MaterializeTopicBody): Promise<MaterializedTopic>
  materializeCommunities(
    caller: Caller,
    spaceId: string,
    body: MaterializeCommunitiesBody,
  ): Promise<MaterializedCommunities>
}

/** How long a list waits for documents that were not read yet; what is left is read behind. */
const CATCH_UP_MILLISECONDS = 2500

export function createGraph(
  context: EngineContext,
  derivations: Derivations,
  views: SemanticViews,
): { operations: GraphOperations; close(): void } {
  const { db } = context
  const closing = new AbortController()
  const viewOf = (caller: Caller, spaceId: string): GraphView => {
    const space = findSpace(db, caller.tenant, spaceId)
    return { db, space, revision: space.head_revision, denied: deniedSources(db, space.key, caller.subject) }
  }
  const caughtUp = async (caller: Caller, spaceId: string): Promise<GraphView> => {
    await derivations.catchUp(findSpace(db, caller.tenant, spaceId), CATCH_UP_MILLISECONDS)
    return viewOf(caller, spaceId)
  }
  const operations: GraphOperations = {
    traverse: async (caller, spaceId, query) => traverse(viewOf(caller, spaceId), query),
    entities: async (caller, spaceId, query) => listEntities(await caughtUp(caller, spaceId), query),
    relations: async (caller, spaceId, query) => listRelations(await caughtUp(caller, spaceId), query),
    extract: async (caller, spaceId, { limit }) =>
      scanPassages(context, findSpace(db, caller.tenant, spaceId), limit, closing.signal),
    materializeTopic: async (caller, spaceId, body) =>
      views.materializeTopic(findSpace(db, caller.tenant, spaceId), body),
    materializeCommunities: async (caller, spaceId, body) =>
      views.materializeCommunities(findSpace(db, caller.tenant, spaceId), body),
  }
  return { operations, close: () => closing.abort(new KsError('unavailable', 'the daemon is stopping')) }
}
