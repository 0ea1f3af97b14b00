import { KsError } from '../../contract/errors.js'
import type { DocumentCompilationJob, RetriedJobs } from '../../contract/gateway/jobs.js'
import { defined } from '../../lib/defined.js'
import type { Caller } from '../base/caller.js'
import type { EngineContext } from '../context.js'
import { queueAgain } from '../documents/reindex.js'
import { insertBulkJob } from '../rows/bulk-jobs.js'
import { goOn, jobsPutOff } from '../rows/job-claims.js'
import { documentOf, documentsInVain } from '../rows/job-documents.js'
import { endedInVain, findJob, latestJob, toJob } from '../rows/jobs.js'
import { findSpace, spaceByKey } from '../rows/spaces.js'
import { assertRoomForReindex } from '../spaces/quota.js'
import type { Write } from '../storage/program.js'
import { writeAnswer } from '../storage/write-answer.js'

/**
 * Retries a job: one that failed or was canceled gets a new job, a deferred one becomes due now.
 *
 * @returns the job that runs now
 * @throws KsError `not-found`; `already-terminal` when the job was published
 */
export async function retryJob(context: EngineContext, caller: Caller, id: string): Promise<DocumentCompilationJob> {
  const { db } = context
  const { space_key: lock } = await db.read(findJob(caller, id))
  const again = function* (): Write<DocumentCompilationJob> {
    const row = yield* findJob(caller, id)
    const space = yield* spaceByKey(row.space_key)
    const document = yield* documentOf(row)
    if (space === undefined || document === undefined || document.deleted_at !== null)
      throw new KsError('already-terminal', `the document of job ${row.id} was deleted`)
    const latest = (yield* latestJob(row.doc_key)) ?? row
    if (latest.completed_at === null) {
      yield* goOn([latest.key])
      return yield* toJob(latest)
    }
    if (!endedInVain(latest)) throw new KsError('already-terminal', `job ${row.id} has ended as ${row.stage}`)
    const [made] = yield* queueAgain(space, [document])
    return yield* toJob(made ?? latest)
  }
  const job = await writeAnswer(db, caller, again, { lock })
  context.wake()
  return job
}

/**
 * Starts a new job for every document of a space whose last job failed or was canceled, and retries its provider now.
 */
export async function retryFailed(context: EngineContext, caller: Caller, spaceId: string): Promise<RetriedJobs> {
  const { db } = context
  const retried = await writeAnswer(
    db,
    caller,
    function* () {
      const space = yield* findSpace(caller.tenant, spaceId)
      const putOff = yield* jobsPutOff(caller, space.key)
      yield* goOn(putOff.map(({ key }) => key))
      const rows = yield* documentsInVain(caller, space.key)
      yield* assertRoomForReindex(context, space, rows.length)
      const made = yield* queueAgain(space, rows)
      const bulkJobId = yield* insertBulkJob(
        space,
        'document_reindex',
        rows.map(({ id }, place) => ({ documentId: id, ...defined({ jobId: made[place]?.id }) })),
      )
      const jobs: DocumentCompilationJob[] = []
      for (const row of made) jobs.push(yield* toJob(row))
      return { bulkJobId, total: jobs.length, jobs, spaceKey: space.key }
    },
    { answer: told, lock: { tenant: caller.tenant, id: spaceId } },
  )
  await context.vectors.askAgain(retried.spaceKey)
  context.wake()
  return told(retried)
}

function told({ spaceKey: _, ...answer }: RetriedJobs & { spaceKey: number }): RetriedJobs {
  return answer
}
