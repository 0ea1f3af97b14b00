import { notFound } from '../../contract/errors.js'
import type { BulkJob } from '../../contract/gateway/jobs.js'
import { newId } from '../../lib/ids.js'
import type { Caller } from '../base/caller.js'
import { askerOf, mayKnow } from '../rows/permissions.js'
import type { Database } from '../storage/database.js'
import { type Read, sql, type Write } from '../storage/program.js'

export interface BulkItem {
  documentId: string
  jobId?: string
  outcome?: 'completed' | 'failed'
}

/** Records a bulk job inside the caller's transaction. @returns its id */
export function* insertBulkJob(
  db: Database,
  space: { key: number; tenant: string },
  type: BulkJob['type'],
  items: BulkItem[],
): Write<string> {
  const id = newId()
  yield* sql.run('INSERT INTO bulk_jobs (id, tenant, space_key, type, created_at) VALUES (?, ?, ?, ?, ?)', [
    id,
    space.tenant,
    space.key,
    type,
    Date.now(),
  ])
  items.forEach((item, place) => {
    db.now(
      sql.run(
        // a document that was not found says nothing of a source, whatever its id
        `INSERT INTO bulk_items (bulk_id, place, document_id, job_id, outcome, source_id)
       VALUES (?, ?, ?, ?, ?, (SELECT source_id FROM documents WHERE id = ? AND ? IS NOT 'failed'))`,
        [id, place, item.documentId, item.jobId ?? null, item.outcome ?? null, item.documentId, item.outcome ?? null],
      ),
    )
  })
  return id
}

/**
 * Counts are computed from the items, never stored; those of sources that leave the caller out are not counted.
 *
 * @throws KsError `not-found` also when no item is left
 */
export function* getBulkJob(caller: Caller, id: string): Read<BulkJob> {
  const row = yield* sql.get<{ id: string; space: string; type: BulkJob['type']; created_at: number }>(
    `SELECT bulk_jobs.id, spaces.id space, bulk_jobs.type, bulk_jobs.created_at
     FROM bulk_jobs JOIN spaces ON spaces.key = bulk_jobs.space_key
     WHERE bulk_jobs.id = ? AND bulk_jobs.tenant = ? AND spaces.deleted_at IS NULL`,
    [id, caller.tenant],
  )
  if (row === undefined) throw notFound('bulk job', id)
  const items = yield* sql.all<{
    document_id: string
    outcome: string | null
    stage: string | null
    updated_at: number | null
  }>(
    `SELECT document_id, outcome, jobs.stage, jobs.updated_at FROM bulk_items LEFT JOIN jobs ON jobs.id = bulk_items.job_id
     WHERE bulk_id = ? AND ${mayKnow('bulk_items.source_id')} ORDER BY place`,
    [id, askerOf(caller)],
  )
  if (
    items.length === 0 &&
    (yield* sql.get('SELECT 1 one FROM bulk_items WHERE bulk_id = ? LIMIT 1', [id])) !== undefined
  )
    throw notFound('bulk job', id)
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
