import { type Read, sql } from '../../../store/program.js'
import { sqlIsOpen } from '../../../store/rows/permissions.js'
import { LIVE } from './open.js'

export interface RevisionCount {
  revision: number
  n: number
}

/** Number of live documents of a space by the revision of their publication, oldest first. */
export function* countLiveByRevision(spaceKey: number): Read<RevisionCount[]> {
  return yield* sql.all<RevisionCount>(
    `SELECT from_revision revision, count(*) n FROM versions INDEXED BY versions_live
     WHERE space_key = ? AND until_revision IS NULL AND from_revision IS NOT NULL GROUP BY from_revision ORDER BY from_revision`,
    [spaceKey],
  )
}

/** Of these, the number of documents of restricted sources. */
export function* countRestrictedByRevision(spaceKey: number): Read<RevisionCount[]> {
  return yield* sql.all<RevisionCount>(
    `SELECT v.from_revision revision, count(*) n
     FROM (SELECT DISTINCT source_id FROM source_readers WHERE space_key = ?) restricted
     CROSS JOIN documents d INDEXED BY documents_place ON d.space_key = ? AND d.source_id = restricted.source_id
       AND d.deleted_at IS NULL
     CROSS JOIN versions v INDEXED BY versions_visible ON v.doc_key = d.key
     WHERE NOT ${sqlIsOpen('restricted.source_id')} AND ${LIVE} GROUP BY v.from_revision`,
    [spaceKey, spaceKey],
  )
}
