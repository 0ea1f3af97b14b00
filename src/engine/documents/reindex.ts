import type { BulkReindex } from '../../contract/gateway/documents.js'
import type { Caller } from '../base/caller.js'
import type { EngineContext } from '../context.js'
import { type BulkItem, insertBulkJob } from '../rows/bulk-jobs.js'
import { type DocumentRow, documentsAfter, lookupDocuments, toAsset } from '../rows/documents.js'
import { beginJobs, type JobRow, latestJobs, toTicket } from '../rows/jobs.js'
import { findSpace, type SpaceRow } from '../rows/spaces.js'
import { beginJobCommits } from '../rows/staged-commits.js'
import { assertRoomForReindex } from '../spaces/quota.js'
import type { Read, Write } from '../storage/program.js'
import { writeAnswer } from '../storage/write-answer.js'

/** Queues documents for compilation; a document with an open job keeps that one. */
export async function reindexDocuments(
  context: EngineContext,
  caller: Caller,
  spaceId: string,
  which: { all: true } | { documentIds: string[] },
): Promise<BulkReindex> {
  const { db } = context
  const lock = { tenant: caller.tenant, id: spaceId }
  const again = function* (): Write<BulkReindex> {
    const space = yield* findSpace(caller.tenant, spaceId)
    const wanted = yield* select(caller, space, which)
    yield* assertRoomForReindex(context, space, wanted.filter(({ row }) => row !== undefined).length)
    const items: BulkReindex['items'] = []
    const bulk: BulkItem[] = []
    const rows = wanted.flatMap(({ row }) => row ?? [])
    const queued = yield* queueAgain(space, rows)
    const jobs = new Map(rows.map(({ key }, place) => [key, queued[place]]))
    for (const { id, row } of wanted) {
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
  const result = await writeAnswer(db, caller, again, { lock })
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

/**
 * Inserts jobs for the next version of each document, inside the caller's transaction, which has locked the row of the
 * space; an open job is kept. @returns the open job of each document
 */
export function* queueAgain(space: SpaceRow, rows: readonly DocumentRow[]): Write<JobRow[]> {
  const latest = yield* latestJobs(rows.map(({ key }) => key))
  const isOpen = (place: number) => latest[place]?.completed_at === null
  const ended = rows.filter((_, place) => !isOpen(place))
  const jobs = yield* beginJobs(space, ended)
  yield* beginJobCommits(
    space,
    'bulk-reindex',
    ended.map((document, place) => ({ document, jobId: jobs[place]?.id ?? '' })),
    Date.now(),
  )
  const made = new Map(ended.map(({ key }, place) => [key, jobs[place]]))
  return rows.flatMap(({ key }, place) => (isOpen(place) ? latest[place] : made.get(key)) ?? [])
}
