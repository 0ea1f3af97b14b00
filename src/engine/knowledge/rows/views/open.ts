import { sqlIsOpen } from '../../../store/rows/permissions.js'

// Views are made only of documents that the whole tenant may read: their names and groups would reveal others.
/** SQL: whether document `d` is open to the tenant. */
export const OPEN = `d.deleted_at IS NULL AND ${sqlIsOpen('d.source_id')}`
/** SQL: whether a publication shows version `v` now. */
export const LIVE = 'v.from_revision IS NOT NULL AND v.until_revision IS NULL'
