import { readClock } from '../../base/statements.js'
import { getRetryDelay, getWaitDelay, type JobFailure } from '../../library/index.js'
import type { Write } from '../../store/program.js'
import { recordJobFailure, releaseJob } from '../../store/rows/job-claims.js'
import { failCommitForRetry } from '../../store/rows/staged-commits.js'
import type { CompileWork } from '../compile/work.js'
import { startOver } from './start-over.js'

/** Why a batch is retried. */
export interface ReleaseReason {
  failure: JobFailure
  isTemporary: boolean
  /** whether its jobs start over */
  startsOver: boolean
}

/**
 * Releases claims that are still valid. @returns the index log's last entry for nodes of jobs that start over; 0 if
 * there are none
 */
export function* releaseJobs(work: readonly CompileWork[], now: number, reason?: ReleaseReason): Write<number> {
  let lastEntry = 0
  for (const { job } of work) {
    const retryAt =
      reason === undefined
        ? 0
        : (yield* readClock()) + (reason.isTemporary ? getWaitDelay(job.waits) : getRetryDelay(job.attempts))
    if (!(yield* releaseJob(job, retryAt)) || reason === undefined) continue
    const { isTemporary, failure } = reason
    yield* recordJobFailure(job.key, failure.message, isTemporary, now)
    yield* failCommitForRetry(job.id, failure, retryAt, isTemporary ? 0 : 1)
    if (reason.startsOver) lastEntry = Math.max(lastEntry, yield* startOver(job))
  }
  return lastEntry
}
