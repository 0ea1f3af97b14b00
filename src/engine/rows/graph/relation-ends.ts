import { type Read, sql } from '../../storage/program.js'

export interface RelationEnds {
  key: number
  subject_key: number
  object_key: number
  type: string
  predicate: string
}

/** Relations of an entity, stated ones first; of a hub's many, `most` in each direction. */
export function* relationEnds(entity: number, most: number): Read<RelationEnds[]> {
  return yield* sql.all<RelationEnds>(
    `SELECT key, subject_key, object_key, type, predicate FROM (
       SELECT * FROM (SELECT * FROM graph_relations WHERE subject_key = ? LIMIT +?)
       UNION ALL SELECT * FROM (SELECT * FROM graph_relations WHERE object_key = ? LIMIT +?))
     ORDER BY type = 'mentions' AND predicate = '', confidence DESC, key`,
    [entity, most, entity, most],
  )
}
