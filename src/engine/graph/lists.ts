import { notFound } from '../../contract/errors.js'
import type {
  GraphEntitiesQuery,
  GraphEntity,
  GraphRelation,
  GraphRelationsQuery,
} from '../../contract/gateway/graph.js'
import { Clock } from '../base/clock.js'
import { decodeCursor, encodeCursor, filterHash } from '../base/cursor.js'
import type { Page } from '../base/page.js'
import { canonicalKey } from '../derived/graph/entities.js'
import {
  type EntityRow,
  entityById,
  entityByKey,
  entityRowsAfter,
  isCalled,
  isShown,
  type RelationRow,
} from '../rows/graph/entities.js'
import { relationsAfter } from '../rows/graph/relations.js'
import type { Read } from '../storage/program.js'
import { unlessDamaged, unlessDamagedIn } from '../storage/readable.js'
import { type GraphView, toEntity, toRelation } from './read.js'

/** Rows read at a time, and maximal duration of a search with few matches before it returns a cursor. */
const SLICE = 500
const SEARCH_MILLISECONDS = 2000

/** Lists the entities that the reader sees, by canonical key. */
export async function listEntities(view: GraphView, query: GraphEntitiesQuery): Promise<Page<GraphEntity>> {
  const part = query.query === undefined ? undefined : canonicalKey(query.query)
  const filter = filterHash('graph.entities', view.space.id, query.type, part)
  const clock = new Clock(SEARCH_MILLISECONDS)
  let after = query.cursor === undefined ? '' : String(decodeCursor(query.cursor, filter).after[0] ?? '')
  const items: GraphEntity[] = []
  for (;;) {
    const rows = await view.db.read(entityRowsAfter(view, after, query.type, SLICE))
    for (const row of rows) {
      if (items.length === query.limit || clock.over)
        return { items, nextCursor: encodeCursor({ after: [after] }, filter) }
      await clock.turn()
      const entity = await view.db.read(entityIn(view, row, part))
      if (entity !== undefined) items.push(entity)
      after = row.canonical_key
    }
    if (rows.length < SLICE) return { items }
  }
}

/**
 * Lists the relations that the reader sees, oldest first; with an entity, only its relations.
 *
 * @throws KsError `not-found` for an entity that the reader does not see
 */
export async function listRelations(view: GraphView, query: GraphRelationsQuery): Promise<Page<GraphRelation>> {
  const entity = query.entityId === undefined ? undefined : await view.db.read(entityById(view, query.entityId))
  if (query.entityId !== undefined && entity === undefined) throw notFound('graph entity', query.entityId)
  const filter = filterHash('graph.relations', view.space.id, query.entityId, query.type)
  const clock = new Clock(SEARCH_MILLISECONDS)
  let after = query.cursor === undefined ? 0 : Number(decodeCursor(query.cursor, filter).after[0] ?? 0)
  const items: GraphRelation[] = []
  for (;;) {
    const rows = await view.db.read(relationsAfter(view.space.key, after, entity?.key, SLICE))
    for (const row of rows) {
      if (items.length === query.limit || clock.over)
        return { items, nextCursor: encodeCursor({ after: [after] }, filter) }
      await clock.turn()
      const isWanted = unlessDamaged(() => query.type === undefined || row.type === query.type)
      const relation = isWanted ? await view.db.read(relationIn(view, row)) : undefined
      if (relation !== undefined) items.push(relation)
      after = row.key
    }
    if (rows.length < SLICE) return { items }
  }
}

/** An entity as the reader sees it; undefined if it is hidden or its names do not match. */
function* entityIn(view: GraphView, row: EntityRow, part: string | undefined): Read<GraphEntity | undefined> {
  const isWanted = part === undefined || row.canonical_key.includes(part) || (yield* isCalled(view, row.key, part))
  if (!isWanted || !(yield* isShown(view, 'entity', row.key))) return undefined
  return yield* unlessDamagedIn(() => toEntity(view, row))
}

/** A relation as the reader sees it; undefined if it is hidden. */
function* relationIn(view: GraphView, row: RelationRow): Read<GraphRelation | undefined> {
  if (!(yield* isShown(view, 'relation', row.key))) return undefined
  const subject = yield* entityByKey(view, row.subject_key)
  const object = yield* entityByKey(view, row.object_key)
  if (subject === undefined || object === undefined) return undefined
  return yield* unlessDamagedIn(() => toRelation(view, row, { subject, object }))
}
