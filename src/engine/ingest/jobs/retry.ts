import { KsError } from '../../../contract/errors.js'
import type { DocumentCompilationJob, RetriedJobs } from '../../../contract/gateway/jobs.js'
import { omitUndefined } from '../../../lib/omit-undefined.js'
import type { Caller } from '../../base/caller.js'
import { assertReindexQuota, type EngineContext, queueCompilations } from '../../library/index.js'
import type { Write } from '../../store/program.js'
import { insertBulkJob } from '../../store/rows/bulk-jobs.js'
import { listDeferredJobs, makeJobsDue } from '../../store/rows/job-claims.js'
import { findJobDocument, listUncompiledDocuments } from '../../store/rows/job-documents.js'
import { findJob, findLatestJob, hasEndedUnpublished, toJob } from '../../store/rows/jobs.js'
import { findSpace, findSpaceByKey } from '../../store/rows/spaces.js'
import { writeReply } from '../../store/write-reply.js'

/**
 * Retries a job: one that failed or was canceled gets a new job, a deferred one becomes due now.
 *
 * @returns the job that runs now
 * @throws KsError `not-found`; `already-terminal` when the job was published
 */
export async function retryJob(context: EngineContext, caller: Caller, id: string): Promise<DocumentCompilationJob> {
  const { db } = context
  const { space_key: lock } = await db.read(findJob(caller, id))
  const retry = function* (): Write<DocumentCompilationJob> {
    const row = yield* findJob(caller, id)
    const space = yield* findSpaceByKey(row.space_key)
    const document = yield* findJobDocument(row)
    if (space === undefined || document === undefined || document.deleted_at !== null)
      throw new KsError('already-terminal', `the document of job ${row.id} was deleted`)
    const latest = (yield* findLatestJob(row.doc_key)) ?? row
    if (latest.completed_at === null) {
      yield* makeJobsDue([latest.key])
      return yield* toJob(latest)
    }
    if (!hasEndedUnpublished(latest)) throw new KsError('already-terminal', `job ${row.id} has ended as ${row.stage}`)
    const [newJob] = yield* queueCompilations(space, [document])
    return yield* toJob(newJob ?? latest)
  }
  const job = await writeReply(db, caller, retry, { lock })
  context.wake()
  return job
}

/**
 * Starts a new job for every document of a space whose last job failed or was canceled, and retries its provider now.
 */
export async function retryFailed(context: EngineContext, caller: Caller, spaceId: string): Promise<RetriedJobs> {
  const { db } = context
  const retried = await writeReply(
    db,
    caller,
    function* () {
      const space = yield* findSpace(caller.tenant, spaceId)
      const deferred = yield* listDeferredJobs(caller, space.key)
      yield* makeJobsDue(deferred.map(({ key }) => key))
      const rows = yield* listUncompiledDocuments(caller, space.key)
      yield* assertReindexQuota(context, space, rows.length)
      const newJobs = yield* queueCompilations(space, rows)
      const bulkJobId = yield* insertBulkJob(
        space,
        'document_reindex',
        rows.map(({ id }, index) => ({ documentId: id, ...omitUndefined({ jobId: newJobs[index]?.id }) })),
      )
      const jobs: DocumentCompilationJob[] = []
      for (const row of newJobs) jobs.push(yield* toJob(row))
      return { bulkJobId, total: jobs.length, jobs, spaceKey: space.key }
    },
    { toReply: toRetriedJobs, lock: { tenant: caller.tenant, id: spaceId } },
  )
  await context.vectors.retryNow(retried.spaceKey)
  context.wake()
  return toRetriedJobs(retried)
}

function toRetriedJobs({ spaceKey: _, ...answer }: RetriedJobs & { spaceKey: number }): RetriedJobs {
  return answer
}
