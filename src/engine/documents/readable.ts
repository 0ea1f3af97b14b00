import { notFound } from '../../contract/errors.js'
import type { Caller } from '../api.js'
import { deniedSources } from '../sources/permissions.js'
import type { Database } from '../storage/database.js'
import { type DocumentRow, findDocument } from './store.js'

/**
 * A document of a space that the caller may read: one whose source's `permissionScope` leaves the caller out looks like
 * one that never was.
 *
 * @throws KsError `not-found`
 */
export function readableDocument(db: Database, { subject }: Caller, spaceKey: number, id: string): DocumentRow {
  const row = findDocument(db, spaceKey, id)
  if (row.source_id !== null && deniedSources(db, spaceKey, subject).includes(row.source_id))
    throw notFound('document', id)
  return row
}
