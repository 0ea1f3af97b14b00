import { notFoundError } from '../../../contract/errors.js'
import type {
  GraphEntitiesQuery,
  GraphEntity,
  GraphRelation,
  GraphRelationsQuery,
} from '../../../contract/gateway/graph.js'
import { ReadClock } from '../../base/clock.js'
import { decodeCursor, encodeCursor, hashFilter } from '../../base/cursor.js'
import type { Page } from '../../base/page.js'
import type { Read } from '../../store/program.js'
import { unlessDamaged, unlessDamagedIn } from '../../store/readable.js'
import {
  type EntityRow,
  findEntityById,
  findEntityByRowKey,
  hasOtherName,
  isVisible,
  listEntityRowsAfter,
  type RelationRow,
} from '../../store/rows/graph/entities.js'
import { listRelationsAfter } from '../../store/rows/graph/relations.js'
import { canonicalKey } from '../derived/graph/entities.js'
import { type GraphView, toGraphEntity, toGraphRelation } from './read.js'

/** Rows read at a time, and maximal duration of a search with few matches before it returns a cursor. */
const MAX_SLICE_ROWS = 500
const MAX_SEARCH_MS = 2000

/** Lists the entities that the reader sees, by canonical key. */
export async function listEntities(view: GraphView, query: GraphEntitiesQuery): Promise<Page<GraphEntity>> {
  const namePart = query.query === undefined ? undefined : canonicalKey(query.query)
  const filter = hashFilter('graph.entities', view.space.id, query.type, namePart)
  const clock = new ReadClock(MAX_SEARCH_MS)
  let after = query.cursor === undefined ? '' : String(decodeCursor(query.cursor, filter).after[0] ?? '')
  const items: GraphEntity[] = []
  for (;;) {
    const rows = await view.db.read(listEntityRowsAfter(view, after, query.type, MAX_SLICE_ROWS))
    for (const row of rows) {
      if (items.length === query.limit || clock.isOver)
        return { items, nextCursor: encodeCursor({ after: [after] }, filter) }
      await clock.yieldIfDue()
      const entity = await view.db.read(toVisibleEntity(view, row, namePart))
      if (entity !== undefined) items.push(entity)
      after = row.canonical_key
    }
    if (rows.length < MAX_SLICE_ROWS) return { items }
  }
}

/**
 * Lists the relations that the reader sees, oldest first; with an entity, only its relations.
 *
 * @throws KsError `not-found` for an entity that the reader does not see
 */
export async function listRelations(view: GraphView, query: GraphRelationsQuery): Promise<Page<GraphRelation>> {
  const entity = query.entityId === undefined ? undefined : await view.db.read(findEntityById(view, query.entityId))
  if (query.entityId !== undefined && entity === undefined) throw notFoundError('graph entity', query.entityId)
  const filter = hashFilter('graph.relations', view.space.id, query.entityId, query.type)
  const clock = new ReadClock(MAX_SEARCH_MS)
  let after = query.cursor === undefined ? 0 : Number(decodeCursor(query.cursor, filter).after[0] ?? 0)
  const items: GraphRelation[] = []
  for (;;) {
    const rows = await view.db.read(listRelationsAfter(view.space.key, after, entity?.key, MAX_SLICE_ROWS))
    for (const row of rows) {
      if (items.length === query.limit || clock.isOver)
        return { items, nextCursor: encodeCursor({ after: [after] }, filter) }
      await clock.yieldIfDue()
      const isMatch = unlessDamaged(() => query.type === undefined || row.type === query.type)
      const relation = isMatch ? await view.db.read(toVisibleRelation(view, row)) : undefined
      if (relation !== undefined) items.push(relation)
      after = row.key
    }
    if (rows.length < MAX_SLICE_ROWS) return { items }
  }
}

/** An entity as the reader sees it; undefined if it is hidden or its names do not match. */
function* toVisibleEntity(
  view: GraphView,
  row: EntityRow,
  namePart: string | undefined,
): Read<GraphEntity | undefined> {
  const isMatch =
    namePart === undefined || row.canonical_key.includes(namePart) || (yield* hasOtherName(view, row.key, namePart))
  if (!isMatch || !(yield* isVisible(view, 'entity', row.key))) return undefined
  return yield* unlessDamagedIn(() => toGraphEntity(view, row))
}

/** A relation as the reader sees it; undefined if it is hidden. */
function* toVisibleRelation(view: GraphView, row: RelationRow): Read<GraphRelation | undefined> {
  if (!(yield* isVisible(view, 'relation', row.key))) return undefined
  const subject = yield* findEntityByRowKey(view, row.subject_key)
  const object = yield* findEntityByRowKey(view, row.object_key)
  if (subject === undefined || object === undefined) return undefined
  return yield* unlessDamagedIn(() => toGraphRelation(view, row, { subject, object }))
}
