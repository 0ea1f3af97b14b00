import type { BulkJob } from '../../../contract/gateway/jobs.js'
import type { Caller } from '../../base/caller.js'
import type { Read } from '../../store/program.js'
import { findBulkJob } from '../../store/rows/bulk-jobs.js'

/**
 * Counts are computed from the items, never stored; items of sources that the caller may not read are not counted.
 *
 * @throws KsError `not-found` also when no item remains
 */
export function* getBulkJob(caller: Caller, id: string): Read<BulkJob> {
  const { row, items } = yield* findBulkJob(caller, id)
  const failed = items.filter(
    (item) => item.outcome === 'failed' || item.stage === 'failed' || item.stage === 'canceled',
  )
  const completed = items.filter((item) => item.outcome === 'completed' || item.stage === 'published')
  const running = items.length - failed.length - completed.length
  const status = running > 0 ? 'running' : completed.length > 0 || items.length === 0 ? 'completed' : 'failed'
  const updated = items.reduce((latest, item) => Math.max(latest, item.updated_at ?? 0), row.created_at)
  return {
    id: row.id,
    knowledgeSpaceId: row.space,
    type: row.type,
    status,
    totalItems: items.length,
    completedItems: completed.length,
    failedItems: failed.length,
    failedItemIds: failed.map((item) => item.document_id),
    createdAt: new Date(row.created_at).toISOString(),
    updatedAt: new Date(updated).toISOString(),
  }
}
