import { type Read, sql, type Write } from '../program.js'
import type { DocumentRow } from './documents.js'

/*
 * Contained documents. `parent_id` of a document is the id of the document whose file contains its file; NULL for a
 * document that was uploaded directly.
 */

/** Identifies a parent document. */
type ParentKey = Pick<DocumentRow, 'tenant' | 'space_key' | 'id'>

/** Live documents directly contained in each of some documents. */
export function* listContained(parents: readonly ParentKey[]): Read<DocumentRow[][]> {
  return yield* sql.allEach<DocumentRow>(
    'SELECT * FROM documents WHERE tenant = ? AND parent_id = ? AND space_key = ? AND deleted_at IS NULL ORDER BY key',
    parents.map(({ tenant, id, space_key }) => [tenant, id, space_key]),
  )
}

/**
 * Marks contained documents that a newer version of their parent's file contains too: they get a new parent when that
 * one is published.
 */
export function* setNextParent(documents: readonly { key: number }[], nextParentId: string): Write<void> {
  yield* sql.runEach(
    'UPDATE documents SET next_parent_id = ? WHERE key = ? AND deleted_at IS NULL',
    documents.map(({ key }) => [nextParentId, key]),
  )
}

/** Moves documents to their next parent. */
export function* promoteNextParent(documents: readonly { key: number }[]): Write<void> {
  yield* sql.runEach(
    'UPDATE documents SET parent_id = next_parent_id, next_parent_id = NULL WHERE key = ? AND next_parent_id IS NOT NULL',
    documents.map(({ key }) => [key]),
  )
}

/** Of some ids, those of live documents. */
export function* filterLiveDocuments(
  owner: Pick<ParentKey, 'tenant' | 'space_key'>,
  ids: readonly string[],
): Read<Set<string>> {
  const rows = yield* sql.getEach<{ id: string }>(
    'SELECT id FROM documents WHERE tenant = ? AND id = ? AND space_key = ? AND deleted_at IS NULL',
    [...new Set(ids)].map((id) => [owner.tenant, id, owner.space_key]),
  )
  return new Set(rows.flatMap((row) => row?.id ?? []))
}

/** maximum number of ancestors that are read: more can only come from damaged rows */
const MAX_ANCESTOR_COUNT = 20

/** The ancestors of a document, the innermost first. */
export function* listAncestors(document: DocumentRow): Read<DocumentRow[]> {
  const ancestors: DocumentRow[] = []
  let current = document
  while (current.parent_id !== null && ancestors.length < MAX_ANCESTOR_COUNT) {
    const parent = yield* sql.get<DocumentRow>(
      'SELECT * FROM documents WHERE tenant = ? AND id = ? AND space_key = ?',
      [current.tenant, current.parent_id, current.space_key],
    )
    if (parent === undefined) break
    ancestors.push(parent)
    current = parent
  }
  return ancestors
}

/** Number and total bytes of the descendants of a document. */
export function* countDescendants({ tenant, id, space_key }: ParentKey): Read<{ files: number; bytes: number }> {
  const row = yield* sql.get<{ files: number; bytes: number | null }>(
    `WITH RECURSIVE within (id, size_bytes) AS (
       SELECT d.id, d.size_bytes FROM documents d
       WHERE d.tenant = ? AND d.parent_id = ? AND d.space_key = ? AND d.deleted_at IS NULL
       UNION SELECT d.id, d.size_bytes FROM within JOIN documents d ON d.tenant = ? AND d.parent_id = within.id
       WHERE d.space_key = ? AND d.deleted_at IS NULL)
     SELECT count(*) files, sum(size_bytes) bytes FROM within`,
    [tenant, id, space_key, tenant, space_key],
  )
  return { files: row?.files ?? 0, bytes: Number(row?.bytes ?? 0) }
}
