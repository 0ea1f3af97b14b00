import { KsError, notFoundError } from '../../../contract/errors.js'
import type { Source } from '../../../contract/gateway/sources.js'
import { LIMITS } from '../../../contract/limits.js'
import { isUuid } from '../../../lib/ids.js'
import { sqlHoldsTime } from '../formats.js'
import { type Read, sql, type Write } from '../program.js'
import { type Reader, sqlCanRead, toReaderParameter } from './permissions.js'
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
 * @throws KsError `not-found`, also for a source of another space or tenant, a deleted one, and one that the reader may
 * not read
 */
export function* findSource(reader: Reader, space: SpaceRow, id: string): Read<SourceRow> {
  const row = isUuid(id)
    ? yield* sql.get<SourceRow>(
        `SELECT * FROM sources WHERE tenant = ? AND space_key = ? AND id = ? AND deleted_at IS NULL
           AND ${sqlCanRead('sources.id')}`,
        [space.tenant, space.key, id, toReaderParameter(reader)],
      )
    : undefined
  if (row === undefined) throw notFoundError('source', id)
  return row
}

export type NewSource = Pick<
  SourceRow,
  'id' | 'name' | 'type' | 'uri' | 'status' | 'permission_scope' | 'metadata' | 'credentials' | 'next_sync_at'
>

/** Adds a source, inside the caller's transaction. @throws KsError `capacity-exceeded` */
export function* insertSource(reader: Reader, space: SpaceRow, source: NewSource, now: number): Write<SourceRow> {
  const count = yield* sql.count(
    'SELECT count(*) n FROM sources WHERE tenant = ? AND space_key = ? AND deleted_at IS NULL',
    [space.tenant, space.key],
  )
  if (count >= LIMITS.sourcesPerSpace)
    throw new KsError('capacity-exceeded', `a knowledge space holds at most ${LIMITS.sourcesPerSpace} sources`)
  yield* sql.run(
    `INSERT INTO sources (id, tenant, space_key, name, type, uri, status, permission_scope, metadata, credentials,
       version, next_sync_at, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, ?, ?, ?)`,
    [
      source.id,
      space.tenant,
      space.key,
      source.name,
      source.type,
      source.uri,
      source.status,
      source.permission_scope,
      source.metadata,
      source.credentials,
      source.next_sync_at,
      now,
      now,
    ],
  )
  // the creator gets the new source even if its scope excludes the creator
  return yield* findSource({ ...reader, isDaemon: true }, space, source.id)
}

/** Sources that the reader may read, after an id, oldest first. */
export function* listSourcesAfter(reader: Reader, space: SpaceRow, after: string, limit: number): Read<SourceRow[]> {
  return yield* sql.all<SourceRow>(
    `SELECT * FROM sources WHERE tenant = ? AND space_key = ? AND id > ? AND deleted_at IS NULL
       AND ${sqlCanRead('sources.id')} ORDER BY id LIMIT ?`,
    [space.tenant, space.key, after, toReaderParameter(reader), limit],
  )
}

/** The columns of a source that a client may change. */
export type SourceChanges = Pick<SourceRow, 'name' | 'status' | 'metadata' | 'credentials' | 'next_sync_at'>

/** Updates a source if it was not updated since it was read. */
export function* updateSource(row: SourceRow, changes: SourceChanges, now: number): Write<void> {
  yield* sql.run(
    `UPDATE sources SET name = ?, status = ?, metadata = ?, credentials = ?, next_sync_at = ?, version = version + 1,
         updated_at = ? WHERE tenant = ? AND id = ? AND version = ?`,
    [
      changes.name,
      changes.status,
      changes.metadata,
      changes.credentials,
      changes.next_sync_at,
      now,
      row.tenant,
      row.id,
      row.version,
    ],
  )
}

/** Hides a source from every read; its row stays until its documents are deleted or moved. */
export function* hideSource(
  { tenant, id }: Pick<SourceRow, 'tenant' | 'id'>,
  documents: 'cascade' | 'keep',
  now: number,
): Write<void> {
  yield* sql.run(
    `UPDATE sources SET deleted_at = ?, deletes_documents = ?, credentials = NULL, sync_started_at = NULL,
         claimed_by = NULL, next_sync_at = NULL, version = version + 1, updated_at = ? WHERE tenant = ? AND id = ?`,
    [now, documents === 'cascade' ? 1 : 0, now, tenant, id],
  )
}

export type HiddenSource = Pick<SourceRow, 'id' | 'tenant' | 'space_key' | 'deletes_documents'> & { space_id: string }

/** Deleted sources whose documents may still exist. */
export function* listHiddenSources(): Read<HiddenSource[]> {
  return yield* sql.all<HiddenSource>(
    `SELECT sources.id, sources.tenant, space_key, spaces.id space_id, deletes_documents FROM sources
     JOIN spaces ON spaces.key = space_key WHERE ${sqlHoldsTime('sources.deleted_at')} AND spaces.deleted_at IS NULL`,
  )
}

export function* removeHiddenSource({ tenant, id }: Pick<SourceRow, 'tenant' | 'id'>): Write<void> {
  yield* sql.run('DELETE FROM sources WHERE tenant = ? AND id = ? AND deleted_at IS NOT NULL', [tenant, id])
}
