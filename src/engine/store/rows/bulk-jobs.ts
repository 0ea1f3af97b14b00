import { notFoundError } from '../../../contract/errors.js'
import type { BulkJob } from '../../../contract/gateway/jobs.js'
import { newId } from '../../../lib/ids.js'
import { type Read, readClock, sql, type Write } from '../program.js'
import { type Reader, sqlCanRead, toReaderParameter } from './permissions.js'

/** A document of a bulk job. */
export interface BulkItem {
  documentId: string
  jobId?: string
  outcome?: 'completed' | 'failed'
}

/** A row of `bulk_jobs`, with its space. */
interface BulkJobRow {
  id: string
  /** id of the space */
  space: string
  type: BulkJob['type']
  created_at: number
}

/** A row of `bulk_items`, with the state of its job. */
interface BulkItemRow {
  document_id: string
  outcome: string | null
  stage: string | null
  updated_at: number | null
}

/** Records a bulk job inside the caller's transaction. @returns its id */
export function* insertBulkJob(
  space: { key: number; tenant: string },
  type: BulkJob['type'],
  items: readonly BulkItem[],
): Write<string> {
  const id = newId()
  yield* sql.run('INSERT INTO bulk_jobs (id, tenant, space_key, type, created_at) VALUES (?, ?, ?, ?, ?)', [
    id,
    space.tenant,
    space.key,
    type,
    yield* readClock(),
  ])
  yield* sql.runEach(
    // a document that was not found has no source, whatever its id
    `INSERT INTO bulk_items (tenant, bulk_id, place, document_id, job_id, outcome, source_id)
       VALUES (?, ?, ?, ?, ?, ?,
         (SELECT source_id FROM documents WHERE tenant = ? AND id = ? AND ? IS NOT 'failed'))`,
    items.map((item, index) => [
      space.tenant,
      id,
      index,
      item.documentId,
      item.jobId ?? null,
      item.outcome ?? null,
      space.tenant,
      item.documentId,
      item.outcome ?? null,
    ]),
  )
  return id
}

/**
 * A bulk job of the tenant with the items whose sources the reader may read.
 *
 * @throws KsError `not-found` also when no such item remains
 */
export function* findBulkJob(reader: Reader, id: string): Read<{ row: BulkJobRow; items: BulkItemRow[] }> {
  const row = yield* sql.get<BulkJobRow>(
    `SELECT bulk_jobs.id, spaces.id space, bulk_jobs.type, bulk_jobs.created_at
     FROM bulk_jobs JOIN spaces ON spaces.key = bulk_jobs.space_key
     WHERE bulk_jobs.id = ? AND bulk_jobs.tenant = ? AND spaces.deleted_at IS NULL`,
    [id, reader.tenant],
  )
  if (row === undefined) throw notFoundError('bulk job', id)
  const items = yield* sql.all<BulkItemRow>(
    `SELECT document_id, outcome, jobs.stage, jobs.updated_at FROM bulk_items
     LEFT JOIN jobs ON jobs.tenant = bulk_items.tenant AND jobs.id = bulk_items.job_id
     WHERE bulk_items.tenant = ? AND bulk_id = ? AND ${sqlCanRead('bulk_items.source_id')} ORDER BY place`,
    [reader.tenant, id, toReaderParameter(reader)],
  )
  if (
    items.length === 0 &&
    (yield* sql.exists('SELECT 1 one FROM bulk_items WHERE tenant = ? AND bulk_id = ? LIMIT 1', [reader.tenant, id]))
  )
    throw notFoundError('bulk job', id)
  return { row, items }
}
