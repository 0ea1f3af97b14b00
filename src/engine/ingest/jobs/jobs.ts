import { KsError } from '../../../contract/errors.js'
import type { DocumentCompilationJob } from '../../../contract/gateway/jobs.js'
import type { Caller } from '../../base/caller.js'
import { type EngineContext, parsePolicies } from '../../library/index.js'
import type { Read } from '../../store/program.js'
import { markDocumentCanceled } from '../../store/rows/job-documents.js'
import { findJob, moveJob, TERMINAL_STAGES, toJob } from '../../store/rows/jobs.js'
import { findSpaceByKey } from '../../store/rows/spaces.js'
import { endCommits } from '../../store/rows/staged-commits.js'
import { removeUnpublishedVersion } from '../../store/rows/versions.js'
import { writeReply } from '../../store/write-reply.js'

export function* getJob(caller: Caller, id: string): Read<DocumentCompilationJob> {
  return yield* toJob(yield* findJob(caller, id))
}

/** @throws KsError `already-terminal` when the job has ended */
export async function cancelJob(context: EngineContext, caller: Caller, id: string): Promise<DocumentCompilationJob> {
  const { db, indexes } = context
  const { job, dropped } = await writeReply(
    db,
    caller,
    function* () {
      const row = yield* findJob(caller, id)
      if (TERMINAL_STAGES.includes(row.stage) || !(yield* moveJob(row.id, row.stage, 'canceled')))
        throw new KsError('already-terminal', `job ${row.id} has already ended as ${row.stage}`)
      const space = yield* findSpaceByKey(row.space_key)
      const days = space === undefined ? 1 : parsePolicies(space).retentionPolicy.failedCommitRetentionDays
      yield* endCommits([row.id], 'canceled', undefined, days)
      yield* markDocumentCanceled(row.doc_key)
      const lastEntry = yield* removeUnpublishedVersion(row.doc_key, row.version)
      return { job: yield* toJob(yield* findJob(caller, id)), dropped: lastEntry }
    },
    { toReply: (canceled) => canceled.job, lock: { tenant: caller.tenant, jobId: id } },
  )
  await indexes.follow(job.knowledgeSpaceId, dropped)
  context.wake() // the runner's next tick notifies those who wait for the job
  return job
}
