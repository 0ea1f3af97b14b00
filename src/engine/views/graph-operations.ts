import { KsError } from '../../contract/errors.js'
import type { CommunitiesQuery, Community } from '../../contract/gateway/communities.js'
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
import type { Caller } from '../base/caller.js'
import type { Page } from '../base/page.js'
import type { EngineContext } from '../context.js'
import { type Derivations, describeUnread } from '../derived/derivation.js'
import { listEntities, listRelations } from '../graph/lists.js'
import type { GraphView } from '../graph/read.js'
import { createGraphReadingOperations, type GraphReadingOperations } from '../graph/reading-operations.js'
import { GraphReadings } from '../graph/readings.js'
import { scanPassages } from '../graph/scan.js'
import { traverse } from '../graph/traverse.js'
import { listDeniedSources } from '../rows/permissions.js'
import { findSpace } from '../rows/spaces.js'
import type { Read } from '../storage/program.js'
import { listCommunities } from './communities.js'
import type { CoverageFunction } from './coverage.js'
import { MAX_FIRST_WAIT_MS, type SemanticViews } from './views.js'

/** An answer that names missing documents as degraded reasons. */
type MaybeDegraded<T> = T & { degradedReasons?: string[] }

/** Operations on the graph of a space and its views. */
export interface GraphOperations {
  /** @throws KsError `not-found` for the space, or for an entity that the caller does not see */
  traverse(caller: Caller, spaceId: string, query: TraverseQuery): Promise<GraphTraversal>
  entities(caller: Caller, spaceId: string, query: GraphEntitiesQuery): Promise<MaybeDegraded<Page<GraphEntity>>>
  relations(caller: Caller, spaceId: string, query: GraphRelationsQuery): Promise<MaybeDegraded<Page<GraphRelation>>>
  extract(caller: Caller, spaceId: string, body: ExtractEntitiesBody): Promise<EntityExtraction>
  materializeTopic(caller: Caller, spaceId: string, body: MaterializeTopicBody): Promise<MaterializedTopic>
  materializeCommunities(
    caller: Caller,
    spaceId: string,
    body: MaterializeCommunitiesBody,
  ): Promise<MaterializedCommunities>
  /** @throws KsError `not-found` for a slug that no community has */
  communities(caller: Caller, spaceId: string, query: CommunitiesQuery): Promise<MaybeDegraded<{ items: Community[] }>>
  readings: GraphReadingOperations
}

/** Maximal wait of a list for documents that were not read yet; the rest is read in the background. */
const MAX_CATCH_UP_MS = 2500

export function createGraphServices(
  context: EngineContext,
  derivations: Derivations,
  views: SemanticViews,
): { operations: GraphOperations; readings: GraphReadings; close(): Promise<void> } {
  const { db } = context
  const closing = new AbortController()
  const readings = new GraphReadings(context, derivations)
  readings.start()
  function* loadView(caller: Caller, spaceId: string): Read<GraphView> {
    const space = yield* findSpace(caller.tenant, spaceId)
    return { db, space, revision: space.head_revision, denied: yield* listDeniedSources(space.key, caller) }
  }
  function* loadCommunities(
    computeCoverage: CoverageFunction,
    caller: Caller,
    spaceId: string,
    slug: string | undefined,
  ) {
    return yield* listCommunities(computeCoverage, yield* loadView(caller, spaceId), slug)
  }
  /** Reads from the graph, and reports it if the graph is incomplete. */
  const read = async <T extends object>(
    caller: Caller,
    spaceId: string,
    milliseconds: number,
    answer: (view: GraphView) => Promise<T>,
  ): Promise<MaybeDegraded<T>> => {
    const unread = await derivations.catchUp(await db.read(findSpace(caller.tenant, spaceId)), milliseconds)
    const reason = describeUnread(unread)
    const found = await answer(await db.read(loadView(caller, spaceId)))
    return reason === undefined ? found : { ...found, degradedReasons: [reason] }
  }
  const operations: GraphOperations = {
    // a traversal has a separate time limit and waits for nothing
    traverse: (caller, spaceId, query) => read(caller, spaceId, 0, (view) => traverse(view, query)),
    entities: (caller, spaceId, query) => read(caller, spaceId, MAX_CATCH_UP_MS, (view) => listEntities(view, query)),
    relations: (caller, spaceId, query) => read(caller, spaceId, MAX_CATCH_UP_MS, (view) => listRelations(view, query)),
    extract: async (caller, spaceId, { limit }) =>
      scanPassages(context, await db.read(findSpace(caller.tenant, spaceId)), limit, closing.signal),
    materializeTopic: async (caller, spaceId, body) =>
      views.materializeTopic(await db.read(findSpace(caller.tenant, spaceId)), body),
    materializeCommunities: async (caller, spaceId, body) =>
      views.materializeCommunities(await db.read(findSpace(caller.tenant, spaceId)), body),
    communities: async (caller, spaceId, { slug }) => {
      const space = await db.read(findSpace(caller.tenant, spaceId))
      await views.ready(space, 'community', MAX_FIRST_WAIT_MS)
      const computeCoverage = await views.coverage(space.key)
      return db.read(loadCommunities(computeCoverage, caller, spaceId, slug))
    },
    readings: createGraphReadingOperations(context, readings),
  }
  const close = (): Promise<void> => {
    closing.abort(new KsError('unavailable', 'the daemon is stopping'))
    return readings.close()
  }
  return { operations, readings, close }
}
