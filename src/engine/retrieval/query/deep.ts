import { createDegradation } from '../../base/degraded.js'
import {
  type AnalysedPassage,
  describeUnread,
  expandByGraph,
  type PassageCache,
  termHash,
} from '../../knowledge/index.js'
import type { SearchHit } from '../../search/index.js'
import type { Read } from '../../store/program.js'
import { listMentionedEntities, listMentioningNodes } from '../../store/rows/graph/expansion.js'
import { filterNodesOfDeniedSources, listDeniedSources } from '../../store/rows/permissions.js'
import { filterNodesOfDocuments, filterVisibleKeys, loadPassages } from '../../store/rows/queries.js'
import type { AdmittedQuery } from './admission.js'
import { type GraphStage, type QuestionTerms, retrieveFast } from './fast.js'
import { fuse, injectCandidates } from './fuse.js'
import { MAX_RERANK_CANDIDATES, type RankedCandidate } from './rank.js'
import type { QueryEmbedding, Retrieval, RetrievalResult } from './retrieval.js'

export const DEEP_STRATEGY_VERSION = 'deep-2'

/** Maximum wait for the graph to include recent publications. */
const GRAPH_CATCH_UP_TIMEOUT_MS = 2500
const GRAPH_TIMEOUT_MS = 250
/** Number of passages whose entities are entry points of the graph. */
const SEED_NODE_COUNT = 8
/** Number of graph nodes that the final rerank compares with the question, in addition to those of hybrid recall. */
const MAX_EXPANDED_NODES = 12
/** Maximum graph nodes that are looked up in the database; some may no longer be visible. */
const MAX_LOOKED_UP_NODES = 100
/** Number of passages where a second hop starts. */
const BRIDGE_SEED_COUNT = 4
/** Maximum passages of the evidence that bridges may provide, as a count and as a fraction. */
const MAX_BRIDGES = 3
const MAX_BRIDGE_FRACTION = 0.3
/** Factor for a passage that mentions one of the caller's active entities. */
const ACTIVE_ENTITY_FACTOR = 1.35

/** Hybrid recall, expanded along the graph, then one rerank of both. */
export async function retrieveDeep(retrieval: Retrieval, embedding: QueryEmbedding): Promise<RetrievalResult> {
  const { context, derivations, admitted } = retrieval
  const pending = await derivations.catchUp(admitted.space, GRAPH_CATCH_UP_TIMEOUT_MS)
  const found = await retrieveFast(retrieval, embedding, (hits, terms) =>
    context.db.read(expandHits(retrieval, terms, hits, pending)),
  )
  const warning = describeUnread(pending)
  return warning === undefined
    ? found
    : { ...found, degraded: [...found.degraded, createDegradation('graph', warning)] }
}

function* expandHits(
  { context: { db }, cache, admitted, query, activeEntityIds }: Retrieval,
  { terms, idf }: QuestionTerms,
  hits: SearchHit[],
  pending: number,
): Read<GraphStage> {
  const { space, subject, snapshot } = admitted
  const started = performance.now()
  const late = (): boolean => performance.now() - started > GRAPH_TIMEOUT_MS
  const fused = fuse(hits)
  const denied = yield* listDeniedSources(space.key, { subject })
  const expansion = yield* expandByGraph({
    view: { db, space, revision: snapshot.headRevision, denied },
    query,
    seeds: fused.slice(0, SEED_NODE_COUNT).map(({ key }) => key),
    active: activeEntityIds,
    timeoutMilliseconds: GRAPH_TIMEOUT_MS,
  })
  const bridges = yield* findBridges({
    terms,
    idf,
    cache,
    late,
    denied,
    seeds: fused.slice(0, BRIDGE_SEED_COUNT).map(({ key }) => key),
    *load(keys) {
      return yield* loadPassages(space.key, [...(yield* findVisibleKeys(admitted, denied, keys))])
    },
  })
  const ahead = new Set(fused.slice(0, MAX_RERANK_CANDIDATES - MAX_EXPANDED_NODES).map(({ key }) => key))
  const reached = expansion.nodes.filter(({ key }) => !ahead.has(key)).slice(0, MAX_LOOKED_UP_NODES)
  const keys = reached.map(({ key }) => key)
  const allowed = yield* findVisibleKeys(admitted, denied, keys)
  const joined = new Set([
    ...bridges.slice(0, MAX_EXPANDED_NODES).map(({ key }) => key),
    ...keys.filter((key) => allowed.has(key)),
  ])
  const added = [...joined].filter((key) => !ahead.has(key)).slice(0, MAX_EXPANDED_NODES)
  const activeNodes = expansion.activeNodes
  return {
    hits: injectCandidates(hits, new Set(added), fused[MAX_RERANK_CANDIDATES - MAX_EXPANDED_NODES - 1]),
    // A rerank model has already compared and ordered the bridges.
    reorder: (ranked, byModel) =>
      boostActive(byModel ? ranked : promoteBridges(ranked, bridges, admitted.profile.topK), activeNodes),
    reached: new Map([
      ...added.map((key) => [key, 'graph'] as const),
      ...bridges.slice(0, MAX_BRIDGES).map(({ key }) => [key, 'second-hop'] as const),
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
function promoteBridges(ranked: RankedCandidate[], bridges: readonly Bridge[], topK: number): RankedCandidate[] {
  const count = Math.min(MAX_BRIDGES, Math.floor(topK * MAX_BRIDGE_FRACTION))
  const head = ranked.slice(0, topK - count)
  const headKeys = new Set(head.map(({ key }) => key))
  const rank = new Map(bridges.slice(0, count).map(({ key }, index) => [key, index]))
  const rest = ranked.slice(head.length)
  const lifted = rest.filter(({ key }) => rank.has(key) && !headKeys.has(key))
  lifted.sort((a, b) => (rank.get(a.key) ?? 0) - (rank.get(b.key) ?? 0))
  const floor = rest[0]?.final ?? 0
  return [...head, ...lifted.map((one) => ({ ...one, final: floor })), ...rest.filter(({ key }) => !rank.has(key))]
}

function* findVisibleKeys(
  { space, snapshot, docs, subject }: AdmittedQuery,
  denied: readonly string[],
  keys: number[],
): Read<Set<number>> {
  const visible = yield* filterVisibleKeys(space.key, snapshot, keys)
  for (const key of yield* filterNodesOfDeniedSources(denied, { subject }, [...visible])) visible.delete(key)
  return docs === undefined ? visible : yield* filterNodesOfDocuments(visible, docs)
}

function boostActive(ranked: RankedCandidate[], active: ReadonlySet<number>): RankedCandidate[] {
  if (active.size === 0) return ranked
  return ranked
    .map((one) => (active.has(one.key) ? { ...one, final: Math.min(1, one.final * ACTIVE_ENTITY_FACTOR) } : one))
    .sort((a, b) => b.final - a.final)
}

/** A passage that shares a name with a found passage and covers more of the question. */
export interface Bridge {
  key: number
  /** 0 to 1: how much of the question it adds, how rare the shared name is, and how high the other passage ranks */
  score: number
}

export interface BridgeRequest {
  /** the passages that recall ranks first, best first */
  seeds: readonly number[]
  /** analysed question */
  terms: readonly string[]
  idf: (term: string) => number
  cache: PassageCache
  /** loads the texts of nodes that the reader may see */
  load: (keys: number[]) => Read<ReadonlyMap<number, { title: string; body: string }>>
  late: () => boolean
  /** ids of sources that the reader may not read */
  denied: readonly string[]
}

/**
 * Maximum names followed from one passage, and maximum passages that mention one name: frequent names connect nothing.
 */
const MAX_NAMES_PER_PASSAGE = 24
const MAX_MENTIONS_PER_NAME = 24
/** Maximum passages whose texts are compared. */
const MAX_COMPARED_PASSAGES = 160
/** Loss of score with the rank of the seed. */
const RANK_PENALTY = 0.5
/** A passage that adds no term of the question may still be relevant. */
const MIN_ADDED_FRACTION = 0.1

interface NameLink {
  seed: number
  strength: number
}

/**
 * Second hop of a question that no single passage answers: from the found passages, over the names they mention, to
 * other passages that mention them. A bridge's score rises with the fraction of the question's terms that the first
 * passage lacks.
 */
export function* findBridges(request: BridgeRequest): Read<Bridge[]> {
  const { seeds, terms, idf, cache } = request
  const links = yield* findNameLinks(request)
  const nearest = [...links]
    .sort((a, b) => maxLinkStrength(b[1]) - maxLinkStrength(a[1]) || a[0] - b[0])
    .slice(0, MAX_COMPARED_PASSAGES)
  const weights = new Map([...new Set(terms)].map((term) => [termHash(term), Math.max(0, idf(term))]))
  const total = [...weights.values()].reduce((sum, weight) => sum + weight, 0)
  const keys = [...new Set([...seeds, ...nearest.map(([key]) => key)])]
  const termsByKey = new Map<number, Set<number>>()
  for (const [key, passage] of yield* request.load(keys)) {
    termsByKey.set(key, findQuestionTerms(cache.get({ key, ...passage }), weights))
  }
  const bridges = nearest.flatMap(([key, keyLinks]): Bridge[] => {
    const ownTerms = termsByKey.get(key)
    if (ownTerms === undefined || total === 0) return []
    const score = Math.max(
      ...keyLinks.map(({ seed, strength }) => {
        const seedTerms = termsByKey.get(seeds[seed] ?? 0)
        const added = [...ownTerms].reduce(
          (sum, hash) => sum + (seedTerms?.has(hash) ? 0 : (weights.get(hash) ?? 0)),
          0,
        )
        return (strength * (MIN_ADDED_FRACTION + added / total)) / (1 + RANK_PENALTY * seed)
      }),
    )
    return score > 0 ? [{ key, score }] : []
  })
  return bridges.sort((a, b) => b.score - a.score || a.key - b.key)
}

function maxLinkStrength(links: readonly NameLink[]): number {
  return Math.max(...links.map(({ seed, strength }) => strength / (1 + RANK_PENALTY * seed)))
}

function* findNameLinks({ seeds, late, denied }: BridgeRequest): Read<Map<number, NameLink[]>> {
  const links = new Map<number, NameLink[]>()
  if (late()) return links
  const mentioned = yield* listMentionedEntities(seeds, MAX_NAMES_PER_PASSAGE)
  const entities = [...new Set(mentioned.flat())]
  const nodes = yield* listMentioningNodes(entities, MAX_MENTIONS_PER_NAME + 1, denied)
  const mentionsOf = new Map(entities.map((entity, index) => [entity, nodes[index] ?? []]))
  for (const [seed, entityKeys] of mentioned.entries()) {
    if (seed > 0 && late()) break
    for (const entity of entityKeys) {
      const mentions = mentionsOf.get(entity) ?? []
      if (mentions.length > MAX_MENTIONS_PER_NAME) continue
      const strength = 1 / Math.log2(1 + mentions.length)
      for (const other of mentions) {
        if (seeds[seed] === other) continue
        const known = links.get(other) ?? []
        known.push({ seed, strength })
        links.set(other, known)
      }
    }
  }
  return links
}

function findQuestionTerms({ words, title, ends }: AnalysedPassage, weights: ReadonlyMap<number, number>): Set<number> {
  const found = new Set<number>()
  for (let position = title; position < ends; position++) {
    const hash = words[position] ?? 0
    if (weights.has(hash)) found.add(hash)
  }
  return found
}
