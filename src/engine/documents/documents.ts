import type { CheckDocumentsBody, CheckedDocuments, DocumentAsset } from '../../contract/gateway/documents.js'
import { LIMITS } from '../../contract/limits.js'
import type { Caller, Page, PageRequest } from '../api.js'
import type { EngineContext } from '../context.js'
import { deniedSources } from '../sources/permissions.js'
import { findSpace } from '../spaces/store.js'
import type { Database } from '../storage/database.js'
import { displayName } from './filename.js'
import { readableDocument } from './readable.js'
import { type DocumentRow, documentsNamed, toAsset } from './store.js'

/** files whose sizes are asked for together */
const DESCRIBED_AT_ONCE = 32

export function listDocuments(db: Database, caller: Caller, spaceId: string, page: PageRequest): Page<DocumentAsset> {
  const space = findSpace(db, caller.tenant, spaceId)
  const limit = Math.min(page.limit, LIMITS.documentsPage.max)
  const rows = db.all<DocumentRow>(
    `SELECT * FROM documents WHERE space_key = ? AND deleted_at IS NULL AND id > ?
       AND (source_id IS NULL OR source_id NOT IN (SELECT value FROM json_each(?))) ORDER BY id LIMIT ?`,
    space.key,
    page.cursor ?? '',
    JSON.stringify(deniedSources(db, space.key, caller.subject)),
    limit + 1,
  )
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  return {
    items: shown.map((row) => toAsset(row, space.id)),
    ...(rows.length > limit && last !== undefined ? { nextCursor: last.id } : {}),
  }
}

export function getDocument(db: Database, caller: Caller, spaceId: string, documentId: string): DocumentAsset {
  const space = findSpace(db, caller.tenant, spaceId)
  return toAsset(readableDocument(db, caller, space.key, documentId), space.id)
}

/**
 * Says for each name and hash whether sending the bytes would change anything. A document whose bytes are missing or of
 * another size is `changed`, since sending them again heals it; damage that keeps the size is found by `fsck`.
 */
export async function checkDocuments(
  { db, objects }: EngineContext,
  caller: Caller,
  spaceId: string,
  body: CheckDocumentsBody,
): Promise<CheckedDocuments> {
  const space = findSpace(db, caller.tenant, spaceId)
  const items: CheckedDocuments['items'] = []
  for (let from = 0; from < body.items.length; from += DESCRIBED_AT_ONCE)
    items.push(
      ...(await Promise.all(
        body.items.slice(from, from + DESCRIBED_AT_ONCE).map(async ({ filename, sha256 }) => {
          const row = documentsNamed(db, space.key, body.sourceId ?? null, displayName(filename))[0]
          if (row === undefined) return { filename, status: 'new' as const }
          const held = row.sha256 === sha256 && (await objects.describe(row.object_key))?.size === row.size_bytes
          if (!held) return { filename, status: 'changed' as const, documentId: row.id }
          return {
            filename,
            status: row.parser_status === 'failed' ? ('failed' as const) : ('unchanged' as const),
            documentId: row.id,
            parserStatus: row.parser_status,
            ...(row.error === null ? {} : { error: row.error }),
          }
        }),
      )),
    )
  return { items }
}
