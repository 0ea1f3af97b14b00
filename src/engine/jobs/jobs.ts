import { KsError } from '../../contract/errors.js'
import type { DocumentCompilationJob } from '../../contract/gateway/jobs.js'
import type { Caller } from '../base/caller.js'
import type { EngineContext } from '../context.js'
import { markCanceled } from '../rows/job-documents.js'
import { findJob, moveJob, TERMINAL_STAGES, toJob } from '../rows/jobs.js'
import { spaceByKey } from '../rows/spaces.js'
import { endCommits } from '../rows/staged-commits.js'
import { dropUnpublished } from '../rows/versions.js'
import { policiesOf } from '../spaces/manifest.js'
import type { Read } from '../storage/program.js'
import { writeAnswer } from '../storage/write-answer.js'

export function* getJob(caller: Caller, id: string): Read<DocumentCompilationJob> {
  return yield* toJob(yield* findJob(caller, id))
}

/** @throws KsError `already-terminal` when the job has ended */
export async function cancelJob(context: EngineContext, caller: Caller, id: string): Promise<DocumentCompilationJob> {
  const { db, indexes } = context
  const { job, dropped } = await writeAnswer(
    db,
    caller,
    function* () {
      const row = yield* findJob(caller, id)
      if (TERMINAL_STAGES.includes(row.stage) || !(yield* moveJob(row.id, row.stage, 'canceled')))
        throw new KsError('already-terminal', `job ${row.id} has already ended as ${row.stage}`)
      const space = yield* spaceByKey(row.space_key)
      const days = space === undefined ? 1 : policiesOf(space).retentionPolicy.failedCommitRetentionDays
      yield* endCommits([row.id], 'canceled', undefined, days)
      yield* markCanceled(row.doc_key)
      const left = yield* dropUnpublished(row.doc_key, row.version)
      return { job: yield* toJob(yield* findJob(caller, id)), dropped: left }
    },
    { answer: (canceled) => canceled.job, lock: { tenant: caller.tenant, jobId: id } },
  )
  await indexes.follow(job.knowledgeSpaceId, dropped)
  context.wake() // the runner's next tick notifies those who wait for the job
  return job
}
