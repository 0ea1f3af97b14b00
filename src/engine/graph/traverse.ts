import { notFound } from '../../contract/errors.js'
import type { GraphTraversal, TraverseQuery } from '../../contract/gateway/graph.js'
import { Clock } from '../base/clock.js'
import { type EntityRow, entityById, entityByKey, isShown, type RelationRow } from '../rows/graph/entities.js'
import { surestRelations } from '../rows/graph/relations.js'
import type { Read } from '../storage/program.js'
import { type GraphView, toEntity, toRelation } from './read.js'

/**
 * Maximal number of relations read per entity: a hub has tens of thousands, and reading them all would take the time of
 * the rest.
 */
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
  /** number of relations whose other end was read */
  explored: number
  truncated: boolean
}

/**
 * Follows relations from an entity in both directions, level by level: for each entity the `fanout` most confident
 * relations that the reader sees. The answer is `truncated` if a limit or the time left anything out.
 *
 * @throws KsError `not-found` for an entity that the reader does not see
 */
export async function traverse(view: GraphView, query: TraverseQuery): Promise<GraphTraversal> {
  const started = performance.now()
  const clock = new Clock(query.timeoutMs)
  const seed = await view.db.read(entityById(view, query.entityId))
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
    entities.push(await view.db.read(toEntity(view, row, depth)))
    await clock.turn()
  }
  const relations = []
  for (const { row, ends, depth } of walk.relations.values()) {
    relations.push(await view.db.read(toRelation(view, row, ends, depth)))
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

/** @returns whether the time was over before everything was read */
async function explore(view: GraphView, query: TraverseQuery, walk: Walk, clock: Clock): Promise<boolean> {
  let level = [...walk.entities.values()]
  for (let depth = 1; depth <= query.depth; depth++) {
    const next: Reached[] = []
    for (const { row } of level) {
      if (clock.over) return true
      const found = await view.db.read(surestRelations(row.key, HUB))
      if (found.cut) walk.truncated = true
      let followed = 0
      for (const relation of found.rows) {
        if (clock.over) return true
        await clock.turn()
        const otherKey = relation.subject_key === row.key ? relation.object_key : relation.subject_key
        const seen = await view.db.read(otherEnd(view, relation, otherKey, walk.entities.get(otherKey)?.row))
        if (seen === undefined) continue
        if (followed++ === query.fanout) {
          walk.truncated = true
          break
        }
        walk.explored++
        const reached = follow(query, walk, { relation, from: row, other: seen.other, depth })
        if (reached !== undefined) next.push(reached)
      }
    }
    level = next
  }
  return false
}

/**
 * The entity at the other end of a relation, if the reader sees it.
 *
 * @param known the entity, if it was reached before
 * @returns undefined if the reader does not see the relation
 */
function* otherEnd(
  view: GraphView,
  relation: RelationRow,
  otherKey: number,
  known: EntityRow | undefined,
): Read<{ other: EntityRow | undefined } | undefined> {
  if (!(yield* isShown(view, 'relation', relation.key))) return undefined
  if (known !== undefined) return { other: known }
  const other = yield* entityByKey(view, otherKey)
  return { other: other !== undefined && (yield* isShown(view, 'entity', otherKey)) ? other : undefined }
}

/** Adds a relation, and the entity at its other end, to the answer. @returns the entity if it is new */
function follow(
  query: TraverseQuery,
  walk: Walk,
  found: { relation: RelationRow; from: EntityRow; other: EntityRow | undefined; depth: number },
): Reached | undefined {
  const { relation, from, other, depth } = found
  if (other === undefined) return undefined
  const known = walk.entities.get(other.key)
  if (known === undefined && walk.entities.size >= query.maxNodes) {
    walk.truncated = true
    return undefined
  }
  const ends = relation.subject_key === from.key ? { subject: from, object: other } : { subject: other, object: from }
  if (!walk.relations.has(relation.key)) walk.relations.set(relation.key, { row: relation, ends, depth })
  if (known !== undefined) return undefined
  const reached = { row: other, depth }
  walk.entities.set(other.key, reached)
  return reached
}
