import { KsError } from '../../../contract/errors.js'
import type { CommunitiesQuery, Community } from '../../../contract/gateway/communities.js'
import type {
  ExtractEntitiesBody,
  MaterializeCommunitiesBody,
  MaterializeTopicBody,
} from '../../../contract/gateway/graph.js'
import type { Caller } from '../../base/caller.js'
import type { EngineContext } from '../../library/index.js'
import { bind } from '../../store/bind-operation.js'
import type { Read } from '../../store/program.js'
import { listDeniedSources } from '../../store/rows/permissions.js'
import { findSpace, type SpaceRow } from '../../store/rows/spaces.js'
import { type Derivations, describeUnread } from '../derived/derivation.js'
import { listEntities, listRelations } from '../graph/lists.js'
import type { GraphView } from '../graph/read.js'
import { createGraphReadingOperations } from '../graph/reading-operations.js'
import { GraphReadings } from '../graph/readings.js'
import { scanPassages } from '../graph/scan.js'
import { traverse } from '../graph/traverse.js'
import { listCommunities } from './communities.js'
import type { CoverageFunction } from './coverage.js'
import { MAX_FIRST_WAIT_MS, type SemanticViews } from './views.js'

/** An answer that names missing documents as degraded reasons. */
type MaybeDegraded<T> = T & { degradedReasons?: string[] }

/** Maximal wait of a list for documents that were not read yet; the rest is read in the background. */
const MAX_CATCH_UP_MS = 2500

export type GraphServices = ReturnType<typeof createGraphServices>

/** Operations on the graph of a space and its views. */
export function createGraphServices(context: EngineContext, derivations: Derivations, views: SemanticViews) {
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
  /** An operation that reads from the graph, and reports it if the graph is incomplete. */
  const reading = <Query, T extends object>(
    milliseconds: number,
    answer: (view: GraphView, query: Query) => Promise<T>,
  ) =>
    bind(async (caller: Caller, spaceId: string, query: Query): Promise<MaybeDegraded<T>> => {
      const unread = await derivations.catchUp(await db.read(findSpace(caller.tenant, spaceId)), milliseconds)
      const reason = describeUnread(unread)
      const found = await answer(await db.read(loadView(caller, spaceId)), query)
      return reason === undefined ? found : { ...found, degradedReasons: [reason] }
    })
  /** An operation on a space that makes something of its graph. */
  const making = <Body, T>(make: (space: SpaceRow, body: Body) => Promise<T>) =>
    bind(async (caller: Caller, spaceId: string, body: Body) =>
      make(await db.read(findSpace(caller.tenant, spaceId)), body),
    )
  const operations = {
    // a traversal has a separate time limit and waits for nothing
    traverse: reading(0, traverse),
    entities: reading(MAX_CATCH_UP_MS, listEntities),
    relations: reading(MAX_CATCH_UP_MS, listRelations),
    extract: making((space, { limit }: ExtractEntitiesBody) => scanPassages(context, space, limit, closing.signal)),
    materializeTopic: making((space, body: MaterializeTopicBody) => views.materializeTopic(space, body)),
    materializeCommunities: making((space, body: MaterializeCommunitiesBody) =>
      views.materializeCommunities(space, body),
    ),
    communities: bind(
      async (
        caller: Caller,
        spaceId: string,
        { slug }: CommunitiesQuery,
      ): Promise<MaybeDegraded<{ items: Community[] }>> => {
        const space = await db.read(findSpace(caller.tenant, spaceId))
        await views.ready(space, 'community', MAX_FIRST_WAIT_MS)
        const computeCoverage = await views.coverage(space.key)
        return db.read(loadCommunities(computeCoverage, caller, spaceId, slug))
      },
    ),
    readings: createGraphReadingOperations(context, readings),
  }
  const close = (): Promise<void> => {
    closing.abort(new KsError('unavailable', 'the daemon is stopping'))
    return readings.stop()
  }
  return { operations, readings, close }
}
