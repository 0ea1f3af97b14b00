import type { BulkReindex } from '../../../contract/gateway/documents.js'
import type { Caller } from '../../base/caller.js'
import type { Read, Write } from '../../store/program.js'
import { type BulkItem, insertBulkJob } from '../../store/rows/bulk-jobs.js'
import { type DocumentRow, listDocumentsAfter, lookupDocuments, toAsset } from '../../store/rows/documents.js'
import { insertJobs, type JobRow, listLatestJobs, toTicket } from '../../store/rows/jobs.js'
import { findSpace, type SpaceRow } from '../../store/rows/spaces.js'
import { insertJobCommits } from '../../store/rows/staged-commits.js'
import { writeReply } from '../../store/write-reply.js'
import type { EngineContext } from '../context.js'
import { assertReindexQuota } from '../spaces/quota.js'

/** Exactly one of the two is given. */
interface ReindexSelection {
  all?: boolean | undefined
  documentIds?: string[] | undefined
}

/** Queues documents for compilation; a document with an open job keeps that one. */
export async function reindexDocuments(
  context: EngineContext,
  caller: Caller,
  spaceId: string,
  selection: ReindexSelection,
): Promise<BulkReindex> {
  const { db } = context
  const lock = { tenant: caller.tenant, id: spaceId }
  const queue = function* (): Write<BulkReindex> {
    const space = yield* findSpace(caller.tenant, spaceId)
    const selected = yield* selectDocuments(caller, space, selection)
    yield* assertReindexQuota(context, space, selected.filter(({ row }) => row !== undefined).length)
    const items: BulkReindex['items'] = []
    const bulk: BulkItem[] = []
    const rows = selected.flatMap(({ row }) => row ?? [])
    const queued = yield* queueCompilations(space, rows)
    const jobs = new Map(rows.map(({ key }, index) => [key, queued[index]]))
    for (const { id, row } of selected) {
      const job = row && jobs.get(row.key)
      if (row === undefined || job === undefined) {
        items.push({ documentId: id, status: 'not_found' })
        bulk.push({ documentId: id, outcome: 'failed' })
        continue
      }
      bulk.push({ documentId: row.id, jobId: job.id })
      items.push({
        asset: toAsset(row, space.id),
        compilationJob: toTicket(job),
        status: 'queued',
        statusUrl: `/jobs/${job.id}`,
      })
    }
    const bulkJobId = yield* insertBulkJob(space, 'document_reindex', bulk)
    return { bulkJobId, total: items.length, items }
  }
  const result = await writeReply(db, caller, queue, { lock })
  context.wake()
  return result
}

function* selectDocuments(
  caller: Caller,
  space: SpaceRow,
  { documentIds }: ReindexSelection,
): Read<{ id: string; row: DocumentRow | undefined }[]> {
  if (documentIds === undefined)
    return (yield* listDocumentsAfter(caller, space.key)).map((row) => ({ id: row.id, row }))
  return yield* lookupDocuments(caller, space.key, documentIds)
}

/**
 * Inserts jobs for the next version of each document, inside the caller's transaction, which has locked the row of the
 * space; an open job is kept. @returns the open job of each document
 */
export function* queueCompilations(space: SpaceRow, rows: readonly DocumentRow[]): Write<JobRow[]> {
  const latest = yield* listLatestJobs(rows.map(({ key }) => key))
  const isOpen = (index: number) => latest[index]?.completed_at === null
  const ended = rows.filter((_, index) => !isOpen(index))
  const jobs = yield* insertJobs(space, ended)
  yield* insertJobCommits(
    space,
    'bulk-reindex',
    ended.map((document, index) => ({ document, jobId: jobs[index]?.id ?? '' })),
  )
  const newJobs = new Map(ended.map(({ key }, index) => [key, jobs[index]]))
  return rows.flatMap(({ key }, index) => (isOpen(index) ? latest[index] : newJobs.get(key)) ?? [])
}
