import { notFoundError } from '../../../contract/errors.js'
import type { GraphTraversal, TraverseQuery } from '../../../contract/gateway/graph.js'
import { ReadClock } from '../../base/clock.js'
import type { Read } from '../../store/program.js'
import {
  type EntityRow,
  findEntityById,
  findEntityByRowKey,
  isVisible,
  type RelationRow,
} from '../../store/rows/graph/entities.js'
import { listRelationsByConfidence } from '../../store/rows/graph/relations.js'
import { type GraphView, toGraphEntity, toGraphRelation } from './read.js'

/**
 * Maximal number of relations read per entity: a hub has tens of thousands, and reading them all would take the time of
 * the rest.
 */
const MAX_ENTITY_RELATIONS = 2000

interface ReachedEntity {
  row: EntityRow
  depth: number
}

interface FollowedRelation {
  row: RelationRow
  ends: { subject: EntityRow; object: EntityRow }
  depth: number
}

interface TraversalState {
  entities: Map<number, ReachedEntity>
  relations: Map<number, FollowedRelation>
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
  const clock = new ReadClock(query.timeoutMs)
  const seed = await view.db.read(findEntityById(view, query.entityId))
  if (seed === undefined) throw notFoundError('graph entity', query.entityId)
  const walk: TraversalState = {
    entities: new Map([[seed.key, { row: seed, depth: 0 }]]),
    relations: new Map(),
    explored: 0,
    truncated: false,
  }
  const timedOut = await explore(view, query, walk, clock)
  const entities = []
  for (const { row, depth } of walk.entities.values()) {
    entities.push(await view.db.read(toGraphEntity(view, row, depth)))
    await clock.yieldIfDue()
  }
  const relations = []
  for (const { row, ends, depth } of walk.relations.values()) {
    relations.push(await view.db.read(toGraphRelation(view, row, ends, depth)))
    await clock.yieldIfDue()
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
async function explore(
  view: GraphView,
  query: TraverseQuery,
  walk: TraversalState,
  clock: ReadClock,
): Promise<boolean> {
  let level = [...walk.entities.values()]
  for (let depth = 1; depth <= query.depth; depth++) {
    const next: ReachedEntity[] = []
    for (const { row } of level) {
      if (clock.isOver) return true
      const found = await view.db.read(listRelationsByConfidence(row.key, MAX_ENTITY_RELATIONS))
      if (found.cut) walk.truncated = true
      let followed = 0
      for (const relation of found.rows) {
        if (clock.isOver) return true
        await clock.yieldIfDue()
        const otherKey = relation.subject_key === row.key ? relation.object_key : relation.subject_key
        const seen = await view.db.read(findOtherEnd(view, relation, otherKey, walk.entities.get(otherKey)?.row))
        if (seen === undefined) continue
        if (followed++ === query.fanout) {
          walk.truncated = true
          break
        }
        walk.explored++
        const reached = addRelation(query, walk, { relation, from: row, other: seen.other, depth })
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
function* findOtherEnd(
  view: GraphView,
  relation: RelationRow,
  otherKey: number,
  known: EntityRow | undefined,
): Read<{ other: EntityRow | undefined } | undefined> {
  if (!(yield* isVisible(view, 'relation', relation.key))) return undefined
  if (known !== undefined) return { other: known }
  const other = yield* findEntityByRowKey(view, otherKey)
  return { other: other !== undefined && (yield* isVisible(view, 'entity', otherKey)) ? other : undefined }
}

/** Adds a relation, and the entity at its other end, to the answer. @returns the entity if it is new */
function addRelation(
  query: TraverseQuery,
  walk: TraversalState,
  found: { relation: RelationRow; from: EntityRow; other: EntityRow | undefined; depth: number },
): ReachedEntity | undefined {
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
