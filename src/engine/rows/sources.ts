import { notFound } from '../../contract/errors.js'
import type { Source } from '../../contract/gateway/sources.js'
import { isUuid } from '../../lib/ids.js'
import { type Read, sql } from '../storage/program.js'
import { askerOf, mayKnow, type Reader } from './permissions.js'
import type { SpaceRow } from './spaces.js'

/** A row of `sources`. */
export interface SourceRow {
  id: string
  tenant: string
  space_key: number
  name: string
  type: Source['type']
  uri: string
  status: Source['status']
  /** JSON */
  permission_scope: string
  /** JSON */
  metadata: string
  credentials: Uint8Array | null
  version: number
  last_sync_at: number | null
  last_sync_error: string | null
  next_sync_at: number | null
  sync_started_at: number | null
  /** JSON */
  sync_summary: string | null
  created_at: number
  updated_at: number
  deleted_at: number | null
  deletes_documents: number
}

/**
 * @throws KsError `not-found`, also for a source of another space or tenant, for one that is deleted, and for one whose
 *   scope leaves the reader out
 */
export function* findSource(reader: Reader, space: SpaceRow, id: string): Read<SourceRow> {
  const row = isUuid(id)
    ? yield* sql.get<SourceRow>(
        `SELECT * FROM sources WHERE tenant = ? AND space_key = ? AND id = ? AND deleted_at IS NULL
           AND ${mayKnow('sources.id')}`,
        [space.tenant, space.key, id, askerOf(reader)],
      )
    : undefined
  if (row === undefined) throw notFound('source', id)
  return row
}
