import { canonicalKey } from '../derived/graph/entities.js'
import { type Read, sql } from '../storage/program.js'
import { type GraphView, isShown } from './read.js'

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
/** An entity named this often in a space says little of any of its nodes. */
const COMMON = 200
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
  const { db, space } = request.view
  const started = performance.now()
  const late = (): boolean => performance.now() - started > request.timeoutMilliseconds
  const active = yield* activeEntities(request.view, request.active)
  const weights = new Map<number, number>(active.found.map((key) => [key, ACTIVE]))
  const raise = (key: number, weight: number): void => {
    weights.set(key, Math.max(weight, weights.get(key) ?? 0))
  }
  for (const key of yield* askedEntities(space.key, request.query)) raise(key, ASKED)
  for (const [rank, node] of request.seeds.entries())
    for (const key of yield* mentionedBy(node)) raise(key, SEEN / (1 + rank))
  const seeds = heaviest(weights, MAX_SEEDS)
  let relations = 0
  for (const seed of seeds) {
    if (late()) break
    for (const { other, isStated } of yield* relationsOf(seed.key)) {
      relations++
      raise(other, seed.weight * (isStated ? STEP.stated : STEP.mentions))
    }
  }
  const nodes = new Map<number, number>()
  const reached = heaviest(weights, weights.size)
  let traversed = 0
  for (const { key, weight } of reached) {
    if (late()) break
    traversed++
    const mentions = yield* nodesOf(key)
    if (mentions.length > NODES_PER_ENTITY && (yield* commonness(key)) > COMMON) continue
    for (const node of mentions.slice(0, NODES_PER_ENTITY))
      nodes.set(node, (nodes.get(node) ?? 0) + weight / Math.log2(2 + mentions.length))
  }
  return {
    nodes: heaviest(nodes, nodes.size),
    activeNodes: new Set(active.found.flatMap((key) => db.now(nodesOf(key, COMMON)))),
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
    const row = yield* sql.get<{ key: number }>(
      'SELECT key FROM graph_entities WHERE space_key = ? AND (id = ? OR canonical_key = ?) LIMIT 1',
      [view.space.key, name.toLowerCase(), canonicalKey(name)],
    )
    if (row === undefined || !(yield* isShown(view, 'entity', row.key))) unknown++
    else found.add(row.key)
  }
  return { found: [...found], unknown }
}

/** Entities that the question names, in whatever case. */
function* askedEntities(spaceKey: number, query: string): Read<number[]> {
  const words = canonicalKey(query.slice(0, 2000)).split(' ')
  const names = new Set<string>()
  for (let from = 0; from < words.length; from++)
    for (let size = 1; size <= LONGEST_NAME && from + size <= words.length; size++)
      names.add(words.slice(from, from + size).join(' '))
  const wanted = JSON.stringify([...names])
  const named = yield* sql.all<{ key: number }>(
    `SELECT e.key FROM json_each(?) wanted CROSS JOIN graph_entities e
     ON e.space_key = ? AND e.canonical_key = wanted.value LIMIT +?`,
    [wanted, spaceKey, MAX_SEEDS],
  )
  const aliased = yield* sql.all<{ key: number }>(
    `SELECT DISTINCT e.key FROM json_each(?) wanted CROSS JOIN graph_names n INDEXED BY graph_names_alias
     ON n.alias_key = wanted.value CROSS JOIN graph_entities e ON e.key = n.entity_key AND e.space_key = ? LIMIT +?`,
    [wanted, spaceKey, MAX_SEEDS],
  )
  return [...new Set([...named, ...aliased].map(({ key }) => key))]
}

function* mentionedBy(node: number): Read<number[]> {
  return (yield* sql.all<{ key: number }>('SELECT entity_key key FROM graph_mentions WHERE node_key = ? LIMIT +?', [
    node,
    FANOUT,
  ])).map(({ key }) => key)
}

function* relationsOf(entity: number): Read<{ other: number; isStated: boolean }[]> {
  const rows = yield* sql.all<{ other: number; type: string; predicate: string }>(
    `SELECT other, type, predicate FROM (
       SELECT object_key other, type, predicate, confidence, key FROM graph_relations WHERE subject_key = ?
       UNION ALL SELECT subject_key, type, predicate, confidence, key FROM graph_relations WHERE object_key = ?)
     ORDER BY confidence DESC, key LIMIT +?`,
    [entity, entity, FANOUT],
  )
  return rows.map(({ other, type, predicate }) => ({ other, isStated: type !== 'mentions' || predicate !== '' }))
}

function* nodesOf(entity: number, limit = NODES_PER_ENTITY + 1): Read<number[]> {
  return (yield* sql.all<{ key: number }>(
    'SELECT node_key key FROM graph_mentions WHERE entity_key = ? ORDER BY node_key DESC LIMIT +?',
    [entity, limit],
  )).map(({ key }) => key)
}

function* commonness(entity: number): Read<number> {
  return (
    (yield* sql.get<{ n: number }>(
      'SELECT count(*) n FROM (SELECT 1 FROM graph_mentions WHERE entity_key = ? LIMIT +?)',
      [entity, COMMON + 1],
    ))?.n ?? 0
  )
}
