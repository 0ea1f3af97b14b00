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
import { type Read, sql } from '../storage/program.js'
import { readable, unlessDamaged } from '../storage/readable.js'
import {
  entityById,
  entityByKey,
  entityRowsAfter,
  type GraphView,
  isCalled,
  isShown,
  type RelationRow,
  toEntity,
  toRelation,
} from './read.js'

/** Rows read at a time, and how long a search for few that match may take before it answers with a cursor. */
const SLICE = 500
const SEARCH_MILLISECONDS = 2000

/** Entities that the reader sees, by canonical key. */
export async function listEntities(view: GraphView, query: GraphEntitiesQuery): Promise<Page<GraphEntity>> {
  const part = query.query === undefined ? undefined : canonicalKey(query.query)
  const filter = filterHash('graph.entities', view.space.id, query.type, part)
  const clock = new Clock(SEARCH_MILLISECONDS)
  let after = query.cursor === undefined ? '' : String(decodeCursor(query.cursor, filter).after[0] ?? '')
  const items: GraphEntity[] = []
  for (;;) {
    const rows = view.db.now(entityRowsAfter(view, after, query.type, SLICE))
    for (const row of rows) {
      if (items.length === query.limit || clock.over)
        return { items, nextCursor: encodeCursor({ after: [after] }, filter) }
      await clock.turn()
      if (
        (part === undefined || row.canonical_key.includes(part) || view.db.now(isCalled(view, row.key, part))) &&
        view.db.now(isShown(view, 'entity', row.key))
      )
        items.push(...readable([row], (one) => view.db.now(toEntity(view, one))))
      after = row.canonical_key
    }
    if (rows.length < SLICE) return { items }
  }
}

/**
 * Relations that the reader sees, oldest first; of one entity where one is named.
 *
 * @throws KsError `not-found` for an entity that the reader does not see
 */
export async function listRelations(view: GraphView, query: GraphRelationsQuery): Promise<Page<GraphRelation>> {
  const entity = query.entityId === undefined ? undefined : view.db.now(entityById(view, query.entityId))
  if (query.entityId !== undefined && entity === undefined) throw notFound('graph entity', query.entityId)
  const filter = filterHash('graph.relations', view.space.id, query.entityId, query.type)
  const clock = new Clock(SEARCH_MILLISECONDS)
  let after = query.cursor === undefined ? 0 : Number(decodeCursor(query.cursor, filter).after[0] ?? 0)
  const items: GraphRelation[] = []
  for (;;) {
    const rows = view.db.now(relationsAfter(view, after, entity?.key))
    for (const row of rows) {
      if (items.length === query.limit || clock.over)
        return { items, nextCursor: encodeCursor({ after: [after] }, filter) }
      await clock.turn()
      const wanted =
        unlessDamaged(() => query.type === undefined || row.type === query.type) &&
        view.db.now(isShown(view, 'relation', row.key))
      const subject = wanted ? view.db.now(entityByKey(view, row.subject_key)) : undefined
      const object = wanted ? view.db.now(entityByKey(view, row.object_key)) : undefined
      if (subject !== undefined && object !== undefined)
        items.push(...readable([row], (one) => view.db.now(toRelation(view, one, { subject, object }))))
      after = row.key
    }
    if (rows.length < SLICE) return { items }
  }
}

function* relationsAfter({ space }: GraphView, after: number, entity: number | undefined): Read<RelationRow[]> {
  if (entity === undefined)
    return yield* sql.all<RelationRow>(
      'SELECT * FROM graph_relations WHERE space_key = ? AND key > ? ORDER BY key LIMIT +?',
      [space.key, after, SLICE],
    )
  return yield* sql.all<RelationRow>(
    `SELECT * FROM graph_relations WHERE key IN (SELECT key FROM graph_relations WHERE subject_key = ?
       UNION SELECT key FROM graph_relations WHERE object_key = ?) AND key > ? ORDER BY key LIMIT +?`,
    [entity, entity, after, SLICE],
  )
}
