import { type Read, sql, type Write } from '../storage/program.js'
import type { DocumentRow } from './documents.js'

/*
 * Documents that lie in others. A document's `parent_id` names the one whose file holds its file; that of a document that
 * came by itself is NULL.
 */

/** What a parent is looked up by. */
type Owner = Pick<DocumentRow, 'tenant' | 'space_key' | 'id'>

/** Live documents that lie in each of some. */
export function* containedIn(parents: readonly Owner[]): Read<DocumentRow[][]> {
  return yield* sql.allEach<DocumentRow>(
    'SELECT * FROM documents WHERE tenant = ? AND parent_id = ? AND space_key = ? AND deleted_at IS NULL ORDER BY key',
    parents.map(({ tenant, id, space_key }) => [tenant, id, space_key]),
  )
}

/** Says that a newer file of their parent's name holds documents too, and gets them with the parent's place. */
export function* bequeath(documents: readonly { key: number }[], heir: string): Write<void> {
  yield* sql.runEach(
    'UPDATE documents SET next_parent_id = ? WHERE key = ? AND deleted_at IS NULL',
    documents.map(({ key }) => [heir, key]),
  )
}

/** Puts documents under those that were to get them. */
export function* inherit(documents: readonly { key: number }[]): Write<void> {
  yield* sql.runEach(
    'UPDATE documents SET parent_id = next_parent_id, next_parent_id = NULL WHERE key = ? AND next_parent_id IS NOT NULL',
    documents.map(({ key }) => [key]),
  )
}

/** Of documents, the ids of those that are there. */
export function* liveDocuments(of: Pick<Owner, 'tenant' | 'space_key'>, ids: readonly string[]): Read<Set<string>> {
  const rows = yield* sql.getEach<{ id: string }>(
    'SELECT id FROM documents WHERE tenant = ? AND id = ? AND space_key = ? AND deleted_at IS NULL',
    [...new Set(ids)].map((id) => [of.tenant, id, of.space_key]),
  )
  return new Set(rows.flatMap((row) => row?.id ?? []))
}

/** Files around one are looked up so far: none has as many, unless its rows are not ours. */
const MOST_AROUND = 20

/** The documents around one, the innermost first. */
export function* around(document: DocumentRow): Read<DocumentRow[]> {
  const found: DocumentRow[] = []
  let at = document
  while (at.parent_id !== null && found.length < MOST_AROUND) {
    const parent = yield* sql.get<DocumentRow>(
      'SELECT * FROM documents WHERE tenant = ? AND id = ? AND space_key = ?',
      [at.tenant, at.parent_id, at.space_key],
    )
    if (parent === undefined) break
    found.push(parent)
    at = parent
  }
  return found
}

/** How many documents lie in one, those within others among them, and how many bytes they have. */
export function* countWithin({ tenant, id, space_key }: Owner): Read<{ files: number; bytes: number }> {
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
