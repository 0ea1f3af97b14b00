import type { Source } from '../../../contract/gateway/sources.js'
import { omitUndefined } from '../../../lib/omit-undefined.js'
import type { Read } from '../../store/program.js'
import { parseJsonCell } from '../../store/readable.js'
import type { SourceRow } from '../../store/rows/sources.js'
import type { SpaceRow } from '../../store/rows/spaces.js'
import { listCrawledPages, listImportedItems } from '../rows/source-documents.js'

export function* toSource(space: SpaceRow, row: SourceRow): Read<Source> {
  const permissionScope: string[] = parseJsonCell(row.permission_scope)
  const metadata: Record<string, unknown> = parseJsonCell(row.metadata)
  const summary: unknown = row.sync_summary === null ? undefined : parseJsonCell(row.sync_summary)
  const crawled = row.type === 'web' ? yield* listCrawledPages(row) : new Map()
  const state = toSyncState(row)
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
      ...omitUndefined({ syncState: state, sync: summary }),
      ...(crawled.size === 0 ? {} : { crawled: Object.fromEntries(crawled) }),
      ...(row.type === 'connector' || row.type === 'object-storage' ? yield* importedMaps(row) : {}),
    },
    version: row.version,
    createdAt: new Date(row.created_at).toISOString(),
    updatedAt: new Date(row.updated_at).toISOString(),
  }
}

function toSyncState(row: SourceRow): Record<string, string> | undefined {
  const { last_sync_at: last, last_sync_error: error, next_sync_at: next, sync_started_at: started } = row
  if (last === null && next === null && started === null) return undefined
  return {
    ...(last === null
      ? {}
      : { lastSyncAt: new Date(last).toISOString(), lastSyncStatus: error === null ? 'ok' : 'error' }),
    ...omitUndefined({ lastSyncError: error ?? undefined }),
    ...(next === null ? {} : { nextSyncAt: new Date(next).toISOString() }),
    ...(started === null ? {} : { syncStartedAt: new Date(started).toISOString() }),
  }
}

/** `metadata.imported` and `metadata.importedFiles` of a source, if it has any. */
function* importedMaps(source: SourceRow): Read<Record<string, unknown>> {
  const pages: Record<string, unknown> = {}
  const files: Record<string, unknown> = {}
  for (const { documentAssetId, metadata } of (yield* listImportedItems(source)).values()) {
    const { pageId, lastEditedTime, fileId, name, bucket, mimeType } = metadata
    if (typeof pageId === 'string') pages[pageId] = { documentAssetId, ...omitUndefined({ lastEditedTime }) }
    else if (typeof fileId === 'string') files[fileId] = { name, ...omitUndefined({ bucket, mimeType }) }
  }
  return {
    ...(Object.keys(pages).length === 0 ? {} : { imported: pages }),
    ...(Object.keys(files).length === 0 ? {} : { importedFiles: files }),
  }
}
