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
  /** what the reader sees of the graph: names from elsewhere are as unknown as names that nothing mentions */
  view: GraphView
  query: string
  /** nodes that hybrid recall ranks first, best first */
  seeds: readonly number[]
  /** ids or names of entities that the caller works with */
  active: readonly string[]
  timeoutMilliseconds: number
}

export interface Expansion {
  /** nodes that the graph leads to, with their weights, best first */
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

/** Entities that one step leads on to, and nodes looked at of one entity. */
const FANOUT = 20
const NODES_PER_ENTITY = 20
/** Entities of which relations are followed. */
const MAX_SEEDS = 24
/** Entities of the names of a question that are looked at before those are left out that its reader must not know of. */
const MAX_CALLED = 1_000
/** An entity named this often in a space says little of any of its nodes. */
const COMMON = 200
/** Entities whose nodes are looked up between two looks at the clock. */
const ENTITIES_AT_ONCE = 128
/** Words of a question that are looked up as one name. */
const LONGEST_NAME = 5
/** Weights of entities: named by the caller, named by the question, mentioned in the first passage found. */
const ACTIVE = 3
const ASKED = 2
const SEEN = 1
/** What is left of a weight after a step: a stated relation leads further than a neighbourhood. */
const STEP = { mentions: 0.35, stated: 0.7 }

interface Reached {
  key: number
  weight: number
}

/**
 * Follows the graph from what was found, what the question names and what the caller works with: one step along
 * relations, then to the nodes that mention what was reached. Bounded in breadth and time.
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

/** Of entities, those that are not common, with the newest nodes that mention them, one more than are looked at. */
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

/** Entities that the question names, in whatever case. */
function* askedEntities({ space, denied }: GraphView, query: string): Read<number[]> {
  const words = canonicalKey(query.slice(0, 2000)).split(' ')
  const names = new Set<string>()
  for (let from = 0; from < words.length; from++)
    for (let size = 1; size <= LONGEST_NAME && from + size <= words.length; size++)
      names.add(words.slice(from, from + size).join(' '))
  if (denied.length === 0) return yield* entitiesNamed(space.key, [...names], MAX_SEEDS)
  // entities that the reader must not know of take no seeds from others
  const found = yield* entitiesNamed(space.key, [...names], MAX_CALLED)
  return (yield* knownEntities(found, [...names], denied)).slice(0, MAX_SEEDS)
}

function* nodesOfAll(entities: readonly number[], denied: readonly string[]): Read<Set<number>> {
  return new Set((yield* nodesOf(entities, COMMON, denied)).flat())
}
