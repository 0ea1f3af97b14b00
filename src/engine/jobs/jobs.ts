import { KsError } from '../../contract/errors.js'
import type { DocumentCompilationJob } from '../../contract/gateway/jobs.js'
import type { Caller } from '../base/caller.js'
import { dropUnpublished } from '../compile/store.js'
import type { EngineContext } from '../context.js'
import { endCommit } from '../documents/staged-commits.js'
import { findJob, moveJob, TERMINAL_STAGES, toJob } from '../queue/store.js'
import { policiesOf } from '../spaces/manifest.js'
import { spaceByKey } from '../spaces/store.js'
import type { Database } from '../storage/database.js'
import { writeAnswer } from '../storage/write-answer.js'

export function getJob(db: Database, caller: Caller, id: string): DocumentCompilationJob {
  return toJob(db, findJob(db, caller, id))
}

/** @throws KsError `already-terminal` when the job has ended */
export async function cancelJob(context: EngineContext, caller: Caller, id: string): Promise<DocumentCompilationJob> {
  const { db, indexes } = context
  const { job, dropped } = await writeAnswer(
    db,
    caller,
    () => {
      const row = findJob(db, caller, id)
      if (TERMINAL_STAGES.includes(row.stage) || !moveJob(db, row.id, row.stage, 'canceled'))
        throw new KsError('already-terminal', `job ${row.id} has already ended as ${row.stage}`)
      const space = spaceByKey(db, row.space_key)
      const days = space === undefined ? 1 : policiesOf(space).retentionPolicy.failedCommitRetentionDays
      endCommit(db, row.id, 'canceled', undefined, days)
      db.run(
        `UPDATE documents SET parser_status = 'failed', error_code = 'canceled', error = 'the compilation was canceled', updated_at = ?
       WHERE key = ? AND parser_status = 'pending'`,
        [Date.now(), row.doc_key],
      )
      const left = dropUnpublished(db, row.doc_key, row.version)
      return { job: toJob(db, findJob(db, caller, id)), dropped: left }
    },
    (canceled) => canceled.job,
  )
  if (dropped !== undefined) await indexes.apply(job.knowledgeSpaceId, dropped)
  context.wake() // whoever waits for the job is told at the runner's next turn
  return job
}
