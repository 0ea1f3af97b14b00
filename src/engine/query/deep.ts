import { degradation } from '../base/degraded.js'
import type { EngineContext } from '../context.js'
import { type Derivations, graphBehind } from '../derived/derivation.js'
import type { PassageCache } from '../derived/passage.js'
import { expandFromGraph } from '../graph/expand.js'
import { deniedSources, nodesOfDenied } from '../rows/permissions.js'
import { loadPassages, nodesOfDocuments, visibleKeys } from '../rows/queries.js'
import type { SearchHit } from '../search/ports.js'
import type { Read } from '../storage/program.js'
import type { Admitted } from './admission.js'
import { type Bridge, findBridges } from './bridges.js'
import { type AskedTerms, type GraphStage, type QueryEmbedding, type Retrieved, retrieveFast } from './fast.js'
import { fuse } from './fuse.js'
import { raise } from './raise.js'
import { type Ranked, RERANK_LIMIT } from './rank.js'

export const DEEP_STRATEGY_VERSION = 'deep-2'

/** Maximum wait for the graph to include recent publications. */
const CATCH_UP_MILLISECONDS = 2500
const GRAPH_TIMEOUT_MILLISECONDS = 250
/** Number of passages whose entities are entry points of the graph. */
const SEED_NODES = 8
/** Number of graph nodes that the final rerank compares with the question, in addition to those of hybrid recall. */
const EXPANDED_NODES = 12
/** Maximum graph nodes that are looked up in the database; some may no longer be visible. */
const LOOKED_UP = 100
/** Number of passages where a second hop starts. */
const BRIDGE_SEEDS = 4
/** Maximum passages of the evidence that bridges may provide, as a count and as a fraction. */
const BRIDGE_PLACES = 3
const BRIDGE_SHARE = 0.3
/** Factor for a passage that mentions one of the caller's active entities. */
const ACTIVE_GAIN = 1.35

/** Hybrid recall, expanded along the graph, then one rerank of both. */
export async function retrieveDeep(
  context: EngineContext,
  shared: { cache: PassageCache; derivations: Derivations },
  admitted: Admitted,
  request: { query: string; activeEntityIds: readonly string[]; embedding: QueryEmbedding },
  signal: AbortSignal,
): Promise<Retrieved> {
  const pending = await shared.derivations.catchUp(admitted.space, CATCH_UP_MILLISECONDS)
  const expand = (hits: SearchHit[], asked: AskedTerms): Promise<GraphStage> =>
    context.db.read(expandHits(context, shared.cache, admitted, { ...request, ...asked }, hits, pending))
  const { query, embedding } = request
  const found = await retrieveFast(context, shared.cache, admitted, query, embedding, signal, undefined, expand)
  const behind = graphBehind(pending)
  return behind === undefined ? found : { ...found, degraded: [...found.degraded, degradation('graph', behind)] }
}

function* expandHits(
  { db }: EngineContext,
  cache: PassageCache,
  admitted: Admitted,
  request: { query: string; activeEntityIds: readonly string[] } & AskedTerms,
  hits: SearchHit[],
  pending: number,
): Read<GraphStage> {
  const { space, subject, snapshot } = admitted
  const started = performance.now()
  const late = (): boolean => performance.now() - started > GRAPH_TIMEOUT_MILLISECONDS
  const fused = fuse(hits)
  const denied = yield* deniedSources(space.key, { subject })
  const expansion = yield* expandFromGraph({
    view: { db, space, revision: snapshot.headRevision, denied },
    query: request.query,
    seeds: fused.slice(0, SEED_NODES).map(({ key }) => key),
    active: request.activeEntityIds,
    timeoutMilliseconds: GRAPH_TIMEOUT_MILLISECONDS,
  })
  const bridges = yield* findBridges({
    terms: request.terms,
    idf: request.idf,
    cache,
    late,
    denied,
    seeds: fused.slice(0, BRIDGE_SEEDS).map(({ key }) => key),
    *load(keys) {
      return yield* loadPassages(space.key, [...(yield* shownOf(admitted, denied, keys))])
    },
  })
  const ahead = new Set(fused.slice(0, RERANK_LIMIT - EXPANDED_NODES).map(({ key }) => key))
  const reached = expansion.nodes.filter(({ key }) => !ahead.has(key)).slice(0, LOOKED_UP)
  const keys = reached.map(({ key }) => key)
  const allowed = yield* shownOf(admitted, denied, keys)
  const joined = new Set([
    ...bridges.slice(0, EXPANDED_NODES).map(({ key }) => key),
    ...keys.filter((key) => allowed.has(key)),
  ])
  const added = [...joined].filter((key) => !ahead.has(key)).slice(0, EXPANDED_NODES)
  const activeNodes = expansion.activeNodes
  return {
    hits: raise(hits, new Set(added), fused[RERANK_LIMIT - EXPANDED_NODES - 1]),
    // A rerank model has already compared and ordered the bridges.
    reorder: (ranked, byModel) => favour(byModel ? ranked : lift(ranked, bridges, admitted.profile.topK), activeNodes),
    reached: new Map([
      ...added.map((key) => [key, 'graph'] as const),
      ...bridges.slice(0, BRIDGE_PLACES).map(({ key }) => [key, 'second-hop'] as const),
    ]),
    metrics: {
      ...expansion.metrics,
      graphAddedCandidates: added.length,
      graphBridgeCount: bridges.length,
      graphProjectionFilteredCount: reached.length - allowed.size,
      graphPendingDocuments: pending,
    },
  }
}

/**
 * Moves the best lower-ranked bridges to the end of the first `topK`. A bridge is compared with the question like every
 * candidate, but a passage that answers only the second half of a question scores low against the complete question.
 */
function lift(ranked: Ranked[], bridges: readonly Bridge[], topK: number): Ranked[] {
  const places = Math.min(BRIDGE_PLACES, Math.floor(topK * BRIDGE_SHARE))
  const head = ranked.slice(0, topK - places)
  const above = new Set(head.map(({ key }) => key))
  const rank = new Map(bridges.slice(0, places).map(({ key }, place) => [key, place]))
  const rest = ranked.slice(head.length)
  const lifted = rest.filter(({ key }) => rank.has(key) && !above.has(key))
  lifted.sort((a, b) => (rank.get(a.key) ?? 0) - (rank.get(b.key) ?? 0))
  const floor = rest[0]?.final ?? 0
  return [...head, ...lifted.map((one) => ({ ...one, final: floor })), ...rest.filter(({ key }) => !rank.has(key))]
}

function* shownOf(
  { space, snapshot, docs, subject }: Admitted,
  denied: readonly string[],
  keys: number[],
): Read<Set<number>> {
  const visible = yield* visibleKeys(space.key, snapshot, keys)
  for (const key of yield* nodesOfDenied(denied, { subject }, [...visible])) visible.delete(key)
  return docs === undefined ? visible : yield* nodesOfDocuments(visible, docs)
}

function favour(ranked: Ranked[], active: ReadonlySet<number>): Ranked[] {
  if (active.size === 0) return ranked
  return ranked
    .map((one) => (active.has(one.key) ? { ...one, final: Math.min(1, one.final * ACTIVE_GAIN) } : one))
    .sort((a, b) => b.final - a.final)
}
