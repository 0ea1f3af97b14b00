import { KsError } from '../../contract/errors.js'
import type { Source } from '../../contract/gateway/sources.js'
import { LIMITS } from '../../contract/limits.js'
import { defined } from '../../lib/defined.js'
import { askerOf, mayKnow, type Reader } from '../rows/permissions.js'
import { findSource, type SourceRow } from '../rows/sources.js'
import type { SpaceRow } from '../rows/spaces.js'
import { type Read, sql, type Write } from '../storage/program.js'
import { fromCell, jsonAt } from '../storage/readable.js'
import { importedMaps } from './imported-store.js'

export type NewSource = Pick<
  SourceRow,
  'id' | 'name' | 'type' | 'uri' | 'status' | 'permission_scope' | 'metadata' | 'credentials' | 'next_sync_at'
>

/** Adds a source, inside the caller's transaction. @throws KsError `capacity-exceeded` */
export function* insertSource(reader: Reader, space: SpaceRow, source: NewSource, now: number): Write<SourceRow> {
  const held = yield* sql.get<{ n: number }>(
    'SELECT count(*) n FROM sources WHERE tenant = ? AND space_key = ? AND deleted_at IS NULL',
    [space.tenant, space.key],
  )
  if ((held?.n ?? 0) >= LIMITS.sourcesPerSpace)
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
  // whoever makes a source is told what was made, also where its scope leaves them out
  return yield* findSource({ ...reader, isDaemon: true }, space, source.id)
}

/** Sources after an id that are there for a reader, oldest first. */
export function* sourcesAfter(reader: Reader, space: SpaceRow, after: string, limit: number): Read<SourceRow[]> {
  return yield* sql.all<SourceRow>(
    `SELECT * FROM sources WHERE tenant = ? AND space_key = ? AND id > ? AND deleted_at IS NULL
       AND ${mayKnow('sources.id')} ORDER BY id LIMIT ?`,
    [space.tenant, space.key, after, askerOf(reader), limit],
  )
}

/** A page of the web and the document it became. */
export interface CrawledPage {
  documentAssetId: string
  sha256: string
}

/** The pages of a source that have a document, by address. Of a page that is being replaced, the newer one counts. */
export function* crawledPages(row: Pick<SourceRow, 'id' | 'space_key'>): Read<Map<string, CrawledPage>> {
  const rows = yield* sql.all<{ url: string; id: string; sha256: string }>(
    `SELECT ${jsonAt('metadata', '$.sourceUrl')} url, id, sha256 FROM documents
     WHERE space_key = ? AND source_id = ? AND deleted_at IS NULL AND parser_status <> 'failed'
       AND ${jsonAt('metadata', '$.sourceUrl')} IS NOT NULL ORDER BY key`,
    [row.space_key, row.id],
  )
  return new Map(rows.map(({ url, id, sha256 }) => [url, { documentAssetId: id, sha256 }]))
}

/** The addresses of those pages, first those that were not seen for the longest time. */
export function* pagesLongestUnseen(row: Pick<SourceRow, 'id' | 'space_key'>): Read<string[]> {
  return (yield* sql.all<{ url: string }>(
    `SELECT ${jsonAt('metadata', '$.sourceUrl')} url FROM documents
       WHERE space_key = ? AND source_id = ? AND deleted_at IS NULL AND parser_status <> 'failed'
         AND ${jsonAt('metadata', '$.sourceUrl')} IS NOT NULL
       GROUP BY url ORDER BY max(coalesce(${jsonAt('metadata', '$.lastSeenAt')}, '')), min(key)`,
    [row.space_key, row.id],
  )).map(({ url }) => url)
}

/** Documents that could not be read, of a crawl that was cut off. */
export function* failedPages(row: SourceRow): Read<string[]> {
  return (yield* sql.all<{ id: string }>(
    `SELECT id FROM documents WHERE space_key = ? AND source_id = ? AND deleted_at IS NULL
         AND parser_status = 'failed' AND ${jsonAt('metadata', '$.sourceUrl')} IS NOT NULL`,
    [row.space_key, row.id],
  )).map(({ id }) => id)
}

export function* toSource(space: SpaceRow, row: SourceRow): Read<Source> {
  const permissionScope: string[] = fromCell(row.permission_scope)
  const metadata: Record<string, unknown> = fromCell(row.metadata)
  const summary: unknown = row.sync_summary === null ? undefined : fromCell(row.sync_summary)
  const crawled = row.type === 'web' ? yield* crawledPages(row) : new Map()
  const state = syncState(row)
  return {
    id: row.id,
    knowledgeSpaceId: space.id,
    name: row.name,
    type: row.type,
    uri: row.uri,
    status: row.status,
    permissionScope,
    metadata: {
      ...metadata,
      tenantId: row.tenant,
      ...defined({ syncState: state, sync: summary }),
      ...(crawled.size === 0 ? {} : { crawled: Object.fromEntries(crawled) }),
      ...(row.type === 'connector' || row.type === 'object-storage' ? yield* importedMaps(row) : {}),
    },
    version: row.version,
    createdAt: new Date(row.created_at).toISOString(),
    updatedAt: new Date(row.updated_at).toISOString(),
  }
}

function syncState(row: SourceRow): Record<string, string> | undefined {
  const { last_sync_at: last, last_sync_error: error, next_sync_at: next, sync_started_at: started } = row
  if (last === null && next === null && started === null) return undefined
  return {
    ...(last === null
      ? {}
      : { lastSyncAt: new Date(last).toISOString(), lastSyncStatus: error === null ? 'ok' : 'error' }),
    ...defined({ lastSyncError: error ?? undefined }),
    ...(next === null ? {} : { nextSyncAt: new Date(next).toISOString() }),
    ...(started === null ? {} : { syncStartedAt: new Date(started).toISOString() }),
  }
}
