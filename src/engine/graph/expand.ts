import { canonicalKey } from '../derived/graph/entities.js'
import { isShown } from '../rows/graph/entities.js'
import {
  entitiesNamed,
  entityCalled,
  knownEntities,
  mentionedBy,
  mentionsUpTo,
  neighboursOf,
  nodesOf,
} from '../rows/graph/expansion.js'
import type { Read } from '../storage/program.js'
import type { GraphView } from './read.js'

export interface ExpansionRequest {
  /** the reader's view of the graph: names outside of it are as unknown as names without any mention */
  view: GraphView
  query: string
  /** nodes ranked by hybrid retrieval, best first */
  seeds: readonly number[]
  /** ids or names of entities that the caller works with */
  active: readonly string[]
  timeoutMilliseconds: number
}

export interface Expansion {
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
const FANOUT = 20
const NODES_PER_ENTITY = 20
/** Maximal number of entities whose relations are followed. */
const MAX_SEEDS = 24
/** Maximal number of named entities that are loaded before those hidden from the reader are removed. */
const MAX_CALLED = 1_000
/** An entity with more mentions in a space says little about any of its nodes. */
const COMMON = 200
/** Entities whose nodes are looked up between two checks of the time limit. */
const ENTITIES_AT_ONCE = 128
/** Maximal number of words of a question that form one name. */
const LONGEST_NAME = 5
/** Weights of entities: named by the caller, named by the question, mentioned in the first passage found. */
const ACTIVE = 3
const ASKED = 2
const SEEN = 1
/** Factor of a weight after one step: a stated relation leads further than a co-occurrence. */
const STEP = { mentions: 0.35, stated: 0.7 }

interface Reached {
  key: number
  weight: number
}

/**
 * Follows the graph from the retrieved nodes, the names of the question and the caller's entities: one step along
 * relations, then to the nodes that mention the entities reached. Limited in breadth and time.
 */
export function* expandFromGraph(request: ExpansionRequest): Read<Expansion> {
  const { denied } = request.view
  const started = performance.now()
  const late = (): boolean => performance.now() - started > request.timeoutMilliseconds
  const active = yield* activeEntities(request.view, request.active)
  const weights = new Map<number, number>(active.found.map((key) => [key, ACTIVE]))
  const raise = (key: number, weight: number): void => {
    weights.set(key, Math.max(weight, weights.get(key) ?? 0))
  }
  for (const key of yield* askedEntities(request.view, request.query)) raise(key, ASKED)
  for (const [rank, mentioned] of (yield* mentionedBy(request.seeds, FANOUT)).entries())
    for (const key of mentioned) raise(key, SEEN / (1 + rank))
  const seeds = heaviest(weights, MAX_SEEDS)
  let relations = 0
  const stepped = late() ? [] : yield* neighboursOf(keysOf(seeds), FANOUT, denied)
  for (const [place, neighbours] of stepped.entries())
    for (const { other, isStated } of neighbours) {
      relations++
      raise(other, (seeds[place]?.weight ?? 0) * (isStated ? STEP.stated : STEP.mentions))
    }
  const nodes = new Map<number, number>()
  const reached = heaviest(weights, weights.size)
  let traversed = 0
  while (traversed < reached.length && !late()) {
    const some = reached.slice(traversed, traversed + ENTITIES_AT_ONCE)
    traversed += some.length
    for (const { weight, mentions } of yield* telling(some, denied))
      for (const node of mentions.slice(0, NODES_PER_ENTITY))
        nodes.set(node, (nodes.get(node) ?? 0) + weight / Math.log2(2 + mentions.length))
  }
  return {
    nodes: heaviest(nodes, nodes.size),
    activeNodes: yield* nodesOfAll(active.found, denied),
    metrics: {
      graphExpansionSeeds: seeds.length,
      graphTraversedEntities: traversed,
      graphTraversedRelations: relations,
      graphCandidateCount: nodes.size,
      graphActiveEntities: active.found.length,
      graphUnknownActiveEntities: active.unknown,
      graphMs: Math.round((performance.now() - started) * 100) / 100,
      graphTimedOut: late(),
    },
  }
}

function keysOf(reached: readonly Reached[]): number[] {
  return reached.map(({ key }) => key)
}

/** The entities that are not common, each with its newest mentioning nodes, one more than are used. */
function* telling(
  entities: readonly Reached[],
  denied: readonly string[],
): Read<{ weight: number; mentions: number[] }[]> {
  const mentions = yield* nodesOf(keysOf(entities), NODES_PER_ENTITY + 1, denied)
  const all = entities.map((entity, place) => ({ ...entity, mentions: mentions[place] ?? [] }))
  const many = keysOf(all.filter((one) => one.mentions.length > NODES_PER_ENTITY))
  const counts = yield* mentionsUpTo(many, COMMON + 1, denied)
  const common = new Set(many.filter((_, place) => (counts[place] ?? 0) > COMMON))
  return all.filter(({ key }) => !common.has(key))
}

/** Largest weights first, ties by key, so that results are repeatable. */
function heaviest(weights: ReadonlyMap<number, number>, limit: number): Reached[] {
  return [...weights]
    .map(([key, weight]) => ({ key, weight }))
    .sort((a, b) => b.weight - a.weight || a.key - b.key)
    .slice(0, limit)
}

function* activeEntities(view: GraphView, named: readonly string[]): Read<{ found: number[]; unknown: number }> {
  const found = new Set<number>()
  let unknown = 0
  for (const name of named) {
    const key = yield* entityCalled(view.space.key, name.toLowerCase(), canonicalKey(name))
    if (key === undefined || !(yield* isShown(view, 'entity', key))) unknown++
    else found.add(key)
  }
  return { found: [...found], unknown }
}

/** Entities that the question names, ignoring case. */
function* askedEntities({ space, denied }: GraphView, query: string): Read<number[]> {
  const words = canonicalKey(query.slice(0, 2000)).split(' ')
  const names = new Set<string>()
  for (let from = 0; from < words.length; from++)
    for (let size = 1; size <= LONGEST_NAME && from + size <= words.length; size++)
      names.add(words.slice(from, from + size).join(' '))
  if (denied.length === 0) return yield* entitiesNamed(space.key, [...names], MAX_SEEDS)
  // entities hidden from the reader must not take the place of visible ones
  const found = yield* entitiesNamed(space.key, [...names], MAX_CALLED)
  return (yield* knownEntities(found, [...names], denied)).slice(0, MAX_SEEDS)
}

function* nodesOfAll(entities: readonly number[], denied: readonly string[]): Read<Set<number>> {
  return new Set((yield* nodesOf(entities, COMMON, denied)).flat())
}
