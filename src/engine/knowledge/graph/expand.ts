import type { Read } from '../../store/program.js'
import { isVisible } from '../../store/rows/graph/entities.js'
import {
  countMentionsUpTo,
  filterReadableEntities,
  findEntityKey,
  listEntitiesByName,
  listMentionedEntities,
  listMentioningNodes,
  listNeighbours,
} from '../../store/rows/graph/expansion.js'
import { canonicalKey } from '../derived/graph/entities.js'
import type { GraphView } from './read.js'

export interface GraphExpansionRequest {
  /** the reader's view of the graph: names outside of it are as unknown as names without any mention */
  view: GraphView
  query: string
  /** nodes ranked by hybrid retrieval, best first */
  seeds: readonly number[]
  /** ids or names of entities that the caller works with */
  active: readonly string[]
  timeoutMilliseconds: number
}

export interface GraphExpansion {
  /** nodes found through the graph, with their weights, best first */
  nodes: { key: number; weight: number }[]
  /** nodes that mention an active entity */
  activeNodes: ReadonlySet<number>
  metrics: {
    graphExpansionSeeds: number
    graphTraversedEntities: number
    graphTraversedRelations: number
    graphCandidateCount: number
    graphActiveEntities: number
    graphUnknownActiveEntities: number
    graphMs: number
    graphTimedOut: boolean
  }
}

/** Maximal number of entities per step, and of nodes per entity. */
const MAX_FANOUT = 20
const MAX_NODES_PER_ENTITY = 20
/** Maximal number of entities whose relations are followed. */
const MAX_SEEDS = 24
/** Maximal number of named entities that are loaded before those hidden from the reader are removed. */
const MAX_NAMED_ENTITIES = 1_000
/** An entity with more mentions in a space says little about any of its nodes. */
const MAX_MENTIONS = 200
/** Entities whose nodes are looked up between two checks of the time limit. */
const ENTITY_BATCH_SIZE = 128
/** Maximal number of words of a question that form one name. */
const MAX_NAME_WORDS = 5
/** Weights of entities: named by the caller, named by the question, mentioned in the first passage found. */
const ACTIVE_WEIGHT = 3
const QUERY_WEIGHT = 2
const SEED_WEIGHT = 1
/** Factor of a weight after one step: a stated relation leads further than a co-occurrence. */
const STEP_FACTORS = { mentions: 0.35, stated: 0.7 }

interface WeightedEntity {
  key: number
  weight: number
}

/**
 * Follows the graph from the retrieved nodes, the names of the question and the caller's entities: one step along
 * relations, then to the nodes that mention the entities reached. Limited in breadth and time.
 */
export function* expandByGraph(request: GraphExpansionRequest): Read<GraphExpansion> {
  const { denied } = request.view
  const started = performance.now()
  const isLate = (): boolean => performance.now() - started > request.timeoutMilliseconds
  const active = yield* findActiveEntities(request.view, request.active)
  const weights = new Map<number, number>(active.found.map((key) => [key, ACTIVE_WEIGHT]))
  const addWeight = (key: number, weight: number): void => {
    weights.set(key, Math.max(weight, weights.get(key) ?? 0))
  }
  for (const key of yield* findQueryEntities(request.view, request.query)) addWeight(key, QUERY_WEIGHT)
  for (const [rank, mentioned] of (yield* listMentionedEntities(request.seeds, MAX_FANOUT)).entries())
    for (const key of mentioned) addWeight(key, SEED_WEIGHT / (1 + rank))
  const seeds = selectHeaviest(weights, MAX_SEEDS)
  let relations = 0
  const neighbourLists = isLate() ? [] : yield* listNeighbours(keysOf(seeds), MAX_FANOUT, denied)
  for (const [index, neighbours] of neighbourLists.entries())
    for (const { other, isStated } of neighbours) {
      relations++
      addWeight(other, (seeds[index]?.weight ?? 0) * (isStated ? STEP_FACTORS.stated : STEP_FACTORS.mentions))
    }
  const nodes = new Map<number, number>()
  const reached = selectHeaviest(weights, weights.size)
  let traversed = 0
  while (traversed < reached.length && !isLate()) {
    const batch = reached.slice(traversed, traversed + ENTITY_BATCH_SIZE)
    traversed += batch.length
    for (const { weight, mentions } of yield* findDistinctive(batch, denied))
      for (const node of mentions.slice(0, MAX_NODES_PER_ENTITY))
        nodes.set(node, (nodes.get(node) ?? 0) + weight / Math.log2(2 + mentions.length))
  }
  return {
    nodes: selectHeaviest(nodes, nodes.size),
    activeNodes: yield* loadNodes(active.found, denied),
    metrics: {
      graphExpansionSeeds: seeds.length,
      graphTraversedEntities: traversed,
      graphTraversedRelations: relations,
      graphCandidateCount: nodes.size,
      graphActiveEntities: active.found.length,
      graphUnknownActiveEntities: active.unknown,
      graphMs: Math.round((performance.now() - started) * 100) / 100,
      graphTimedOut: isLate(),
    },
  }
}

function keysOf(reached: readonly WeightedEntity[]): number[] {
  return reached.map(({ key }) => key)
}

/** The entities that are not common, each with its newest mentioning nodes, one more than are used. */
function* findDistinctive(
  entities: readonly WeightedEntity[],
  denied: readonly string[],
): Read<{ weight: number; mentions: number[] }[]> {
  const mentions = yield* listMentioningNodes(keysOf(entities), MAX_NODES_PER_ENTITY + 1, denied)
  const all = entities.map((entity, index) => ({ ...entity, mentions: mentions[index] ?? [] }))
  const many = keysOf(all.filter((entity) => entity.mentions.length > MAX_NODES_PER_ENTITY))
  const counts = yield* countMentionsUpTo(many, MAX_MENTIONS + 1, denied)
  const common = new Set(many.filter((_, index) => (counts[index] ?? 0) > MAX_MENTIONS))
  return all.filter(({ key }) => !common.has(key))
}

/** Largest weights first, ties by key, so that results are repeatable. */
function selectHeaviest(weights: ReadonlyMap<number, number>, limit: number): WeightedEntity[] {
  return [...weights]
    .map(([key, weight]) => ({ key, weight }))
    .sort((a, b) => b.weight - a.weight || a.key - b.key)
    .slice(0, limit)
}

function* findActiveEntities(view: GraphView, named: readonly string[]): Read<{ found: number[]; unknown: number }> {
  const found = new Set<number>()
  let unknown = 0
  for (const name of named) {
    const key = yield* findEntityKey(view.space.key, name.toLowerCase(), canonicalKey(name))
    if (key === undefined || !(yield* isVisible(view, 'entity', key))) unknown++
    else found.add(key)
  }
  return { found: [...found], unknown }
}

/** Entities that the question names, ignoring case. */
function* findQueryEntities({ space, denied }: GraphView, query: string): Read<number[]> {
  const words = canonicalKey(query.slice(0, 2000)).split(' ')
  const names = new Set<string>()
  for (let from = 0; from < words.length; from++)
    for (let size = 1; size <= MAX_NAME_WORDS && from + size <= words.length; size++)
      names.add(words.slice(from, from + size).join(' '))
  if (denied.length === 0) return yield* listEntitiesByName(space.key, [...names], MAX_SEEDS)
  // entities hidden from the reader must not take the place of visible ones
  const found = yield* listEntitiesByName(space.key, [...names], MAX_NAMED_ENTITIES)
  return (yield* filterReadableEntities(found, [...names], denied)).slice(0, MAX_SEEDS)
}

function* loadNodes(entities: readonly number[], denied: readonly string[]): Read<Set<number>> {
  return new Set((yield* listMentioningNodes(entities, MAX_MENTIONS, denied)).flat())
}
