import { notFound } from '../../contract/errors.js'
import type { GraphTraversal, TraverseQuery } from '../../contract/gateway/graph.js'
import { Clock } from '../base/clock.js'
import { isDamaged } from '../storage/guarded-rows.js'
import { type Read, sql } from '../storage/program.js'
import {
  type EntityRow,
  entityById,
  entityByKey,
  type GraphView,
  isShown,
  type RelationRow,
  toEntity,
  toRelation,
} from './read.js'

/** Relations looked at of one entity: a hub has tens of thousands, and reading them all would take the time of the rest. */
const HUB = 2000

interface Reached {
  row: EntityRow
  depth: number
}

interface Followed {
  row: RelationRow
  ends: { subject: EntityRow; object: EntityRow }
  depth: number
}

interface Walk {
  entities: Map<number, Reached>
  relations: Map<number, Followed>
  /** relations whose other end was looked at */
  explored: number
  truncated: boolean
}

/**
 * Follows relations from an entity in both directions, level by level: of each entity the `fanout` surest relations
 * that the reader sees. Whatever a bound or the time leaves out makes the answer `truncated`.
 *
 * @throws KsError `not-found` for an entity that the reader does not see
 */
export async function traverse(view: GraphView, query: TraverseQuery): Promise<GraphTraversal> {
  const started = performance.now()
  const clock = new Clock(query.timeoutMs)
  const seed = view.db.now(entityById(view, query.entityId))
  if (seed === undefined) throw notFound('graph entity', query.entityId)
  const walk: Walk = {
    entities: new Map([[seed.key, { row: seed, depth: 0 }]]),
    relations: new Map(),
    explored: 0,
    truncated: false,
  }
  const timedOut = await explore(view, query, walk, clock)
  const entities = []
  for (const { row, depth } of walk.entities.values()) {
    entities.push(view.db.now(toEntity(view, row, depth)))
    await clock.turn()
  }
  const relations = []
  for (const { row, ends, depth } of walk.relations.values()) {
    relations.push(view.db.now(toRelation(view, row, ends, depth)))
    await clock.turn()
  }
  return {
    entities,
    relations,
    truncated: walk.truncated || timedOut,
    metrics: {
      depthReached: Math.max(...[...walk.entities.values()].map(({ depth }) => depth)),
      elapsedMs: Math.round((performance.now() - started) * 100) / 100,
      exploredRelations: walk.explored,
      fanout: query.fanout,
      maxDepth: query.depth,
      maxNodes: query.maxNodes,
      timedOut,
    },
  }
}

/** @returns whether the time was over before everything was looked at */
async function explore(view: GraphView, query: TraverseQuery, walk: Walk, clock: Clock): Promise<boolean> {
  let level = [...walk.entities.values()]
  for (let depth = 1; depth <= query.depth; depth++) {
    const next: Reached[] = []
    for (const { row } of level) {
      if (clock.over) return true
      const found = view.db.now(relationsOf(row.key))
      if (found.cut) walk.truncated = true
      let followed = 0
      for (const relation of found.rows) {
        if (clock.over) return true
        await clock.turn()
        if (!view.db.now(isShown(view, 'relation', relation.key))) continue
        if (followed++ === query.fanout) {
          walk.truncated = true
          break
        }
        walk.explored++
        const reached = view.db.now(follow(view, query, walk, { relation, from: row, depth }))
        if (reached !== undefined) next.push(reached)
      }
    }
    level = next
  }
  return false
}

/** Takes a relation, and the entity at its other end, into the answer. @returns the entity where it is new */
function* follow(
  view: GraphView,
  query: TraverseQuery,
  walk: Walk,
  { relation, from, depth }: { relation: RelationRow; from: EntityRow; depth: number },
): Read<Reached | undefined> {
  const otherKey = relation.subject_key === from.key ? relation.object_key : relation.subject_key
  const known = walk.entities.get(otherKey)
  const other = known?.row ?? (yield* entityByKey(view, otherKey))
  if (other === undefined || (known === undefined && !(yield* isShown(view, 'entity', otherKey)))) return undefined
  if (known === undefined && walk.entities.size >= query.maxNodes) {
    walk.truncated = true
    return undefined
  }
  const ends = relation.subject_key === from.key ? { subject: from, object: other } : { subject: other, object: from }
  if (!walk.relations.has(relation.key)) walk.relations.set(relation.key, { row: relation, ends, depth })
  if (known !== undefined) return undefined
  const reached = { row: other, depth }
  walk.entities.set(otherKey, reached)
  return reached
}

/** Relations of an entity, the surest first; a stated one is surer than a mention. */
function* relationsOf(entity: number): Read<{ rows: RelationRow[]; cut: boolean }> {
  const rows = yield* sql.all<RelationRow>(
    `SELECT * FROM (SELECT * FROM graph_relations WHERE subject_key = ? LIMIT +?)
     UNION ALL SELECT * FROM (SELECT * FROM graph_relations WHERE object_key = ? LIMIT +?)`,
    [entity, HUB, entity, HUB],
  )
  const intact = rows.filter((row) => !isDamaged(row))
  intact.sort((a, b) => b.confidence - a.confidence || a.key - b.key)
  return { rows: intact, cut: rows.length >= HUB }
}
