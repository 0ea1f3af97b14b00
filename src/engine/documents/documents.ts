import type { CheckDocumentsBody, CheckedDocuments, DocumentAsset } from '../../contract/gateway/documents.js'
import { LIMITS } from '../../contract/limits.js'
import type { Caller, Page, PageRequest } from '../api.js'
import { findSpace } from '../spaces/store.js'
import type { Database } from '../storage/database.js'
import { displayName } from './filename.js'
import { type DocumentRow, documentsNamed, findDocument, toAsset } from './store.js'

export function listDocuments(db: Database, caller: Caller, spaceId: string, page: PageRequest): Page<DocumentAsset> {
  const space = findSpace(db, caller.tenant, spaceId)
  const limit = Math.min(page.limit, LIMITS.documentsPage.max)
  const rows = db.all<DocumentRow>(
    'SELECT * FROM documents WHERE space_key = ? AND deleted_at IS NULL AND id > ? ORDER BY id LIMIT ?',
    space.key,
    page.cursor ?? '',
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
  return toAsset(findDocument(db, space.key, documentId), space.id)
}

/** Says for each name and hash whether sending the bytes would change anything. */
export function checkDocuments(
  db: Database,
  caller: Caller,
  spaceId: string,
  body: CheckDocumentsBody,
): CheckedDocuments {
  const space = findSpace(db, caller.tenant, spaceId)
  return {
    items: body.items.map(({ filename, sha256 }) => {
      const row = documentsNamed(db, space.key, body.sourceId ?? null, displayName(filename))[0]
      if (row === undefined) return { filename, status: 'new' as const }
      if (row.sha256 !== sha256) return { filename, status: 'changed' as const, documentId: row.id }
      return {
        filename,
        status: row.parser_status === 'failed' ? ('failed' as const) : ('unchanged' as const),
        documentId: row.id,
        parserStatus: row.parser_status,
        ...(row.error === null ? {} : { error: row.error }),
      }
    }),
  }
}
