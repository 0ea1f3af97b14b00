import type { BulkReindex } from '../../contract/gateway/documents.js'
import type { Caller } from '../base/caller.js'
import type { EngineContext } from '../context.js'
import { type BulkItem, insertBulkJob } from '../rows/bulk-jobs.js'
import { type DocumentRow, documentsAfter, lookupDocuments, toAsset } from '../rows/documents.js'
import { beginJob, latestJob, toTicket } from '../rows/jobs.js'
import { findSpace, type SpaceRow } from '../rows/spaces.js'
import { beginReindexCommit } from '../rows/staged-commits.js'
import { assertRoomForReindex } from '../spaces/quota.js'
import type { Read } from '../storage/program.js'
import { writeAnswer } from '../storage/write-answer.js'

/** Queues documents to be compiled again; a document that is being compiled already keeps its job. */
export async function reindexDocuments(
  context: EngineContext,
  caller: Caller,
  spaceId: string,
  which: { all: true } | { documentIds: string[] },
): Promise<BulkReindex> {
  const { db } = context
  const result = await writeAnswer(db, caller, function* () {
    const space = yield* findSpace(caller.tenant, spaceId)
    const wanted = yield* select(caller, space, which)
    yield* assertRoomForReindex(context, space, wanted.filter(({ row }) => row !== undefined).length)
    const items: BulkReindex['items'] = []
    const bulk: BulkItem[] = []
    for (const { id, row } of wanted) {
      if (row === undefined) {
        items.push({ documentId: id, status: 'not_found' })
        bulk.push({ documentId: id, outcome: 'failed' })
        continue
      }
      const job = yield* queueAgain(space, row)
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
  })
  context.wake()
  return result
}

function* select(
  caller: Caller,
  space: SpaceRow,
  which: { all: true } | { documentIds: string[] },
): Read<{ id: string; row: DocumentRow | undefined }[]> {
  if ('all' in which) return (yield* documentsAfter(caller, space.key)).map((row) => ({ id: row.id, row }))
  return yield* lookupDocuments(caller, space.key, which.documentIds)
}

/** Makes a job for the next version of a document, inside the caller's transaction; one that is open is kept. */
export function* queueAgain(space: SpaceRow, row: DocumentRow) {
  const last = yield* latestJob(row.key)
  if (last !== undefined && last.completed_at === null) return last
  const job = yield* beginJob(space, row)
  yield* beginReindexCommit(space, row, job.id, Date.now())
  return job
}
