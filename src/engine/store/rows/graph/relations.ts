import { isDamaged } from '../../guarded-rows.js'
import { type Read, sql } from '../../program.js'
import type { RelationRow } from './entities.js'

export interface RelationEnds {
  key: number
  subject_key: number
  object_key: number
  type: string
  predicate: string
}

/** Relations of an entity, stated ones first; at most `maxPerDirection` in each direction. */
export function* listRelationEnds(entity: number, maxPerDirection: number): Read<RelationEnds[]> {
  return yield* sql.all<RelationEnds>(
    `SELECT key, subject_key, object_key, type, predicate FROM (
       SELECT * FROM (SELECT * FROM graph_relations WHERE subject_key = ? LIMIT +?)
       UNION ALL SELECT * FROM (SELECT * FROM graph_relations WHERE object_key = ? LIMIT +?))
     ORDER BY type = 'mentions' AND predicate = '', confidence DESC, key`,
    [entity, maxPerDirection, entity, maxPerDirection],
  )
}

/** Relations of a space after one, oldest first; of one entity if it is given. */
export function* listRelationsAfter(
  spaceKey: number,
  after: number,
  entity: number | undefined,
  limit: number,
): Read<RelationRow[]> {
  if (entity === undefined)
    return yield* sql.all<RelationRow>(
      'SELECT * FROM graph_relations WHERE space_key = ? AND key > ? ORDER BY key LIMIT +?',
      [spaceKey, after, limit],
    )
  return yield* sql.all<RelationRow>(
    `SELECT * FROM graph_relations WHERE key IN (SELECT key FROM graph_relations WHERE subject_key = ?
       UNION SELECT key FROM graph_relations WHERE object_key = ?) AND key > ? ORDER BY key LIMIT +?`,
    [entity, entity, after, limit],
  )
}

/**
 * Relations of an entity, highest confidence first; a stated one has more confidence than a mention.
 *
 * @param maxPerDirection relations that are read in each direction; `cut` reports that there may be more
 */
export function* listRelationsByConfidence(
  entity: number,
  maxPerDirection: number,
): Read<{ rows: RelationRow[]; cut: boolean }> {
  const rows = yield* sql.all<RelationRow>(
    `SELECT * FROM (SELECT * FROM graph_relations WHERE subject_key = ? LIMIT +?)
     UNION ALL SELECT * FROM (SELECT * FROM graph_relations WHERE object_key = ? LIMIT +?)`,
    [entity, maxPerDirection, entity, maxPerDirection],
  )
  const intact = rows.filter((row) => !isDamaged(row))
  intact.sort((a, b) => b.confidence - a.confidence || a.key - b.key)
  return { rows: intact, cut: rows.length >= maxPerDirection }
}
