import type { Work } from '../compile/work.js'
import { type Failure, pauseBefore, waitBefore } from '../queue/retry-policy.js'
import { giveBack, noteFailure } from '../rows/job-claims.js'
import { failRetryably } from '../rows/staged-commits.js'
import type { Write } from '../storage/program.js'
import { startOver } from './start-over.js'

/** Why a batch is retried. */
export interface Why {
  failure: Failure
  passes: boolean
  /** whether its jobs start over */
  fromStart: boolean
}

/**
 * Releases claims that are still valid. @returns the index log's last entry for nodes of jobs that start over; 0 if
 * there are none
 */
export function* release(work: readonly Work[], now: number, why?: Why): Write<number> {
  let dropped = 0
  for (const { job } of work) {
    const retryAt =
      why === undefined ? 0 : Date.now() + (why.passes ? waitBefore(job.waits) : pauseBefore(job.attempts))
    if (!(yield* giveBack(job, retryAt)) || why === undefined) continue
    const { passes, failure } = why
    yield* noteFailure(job.key, failure.message, passes, now)
    yield* failRetryably(job.id, failure, retryAt, passes ? 0 : 1)
    if (why.fromStart) dropped = Math.max(dropped, yield* startOver(job))
  }
  return dropped
}
