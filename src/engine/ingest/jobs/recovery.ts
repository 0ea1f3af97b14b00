import type { Write } from '../../store/program.js'
import { failCrashLoopingJob, releaseOrphanedJobs } from '../../store/rows/job-claims.js'
import { endCommits } from '../../store/rows/staged-commits.js'
import { removeUnpublishedVersion } from '../../store/rows/versions.js'

/** jobs that were running at this many crashes fail */
const MAX_UNCLEAN_ENDS = 5
const CRASH_LOOP = { code: 'crash-loop', message: 'the daemon crashed repeatedly while it read this document' }
const CRASH_LOOP_DAYS = 7 // failedCommitRetentionDays of a new space

/** Releases jobs of lost gateways; jobs that were running at too many crashes fail. @returns number of released jobs */
export function* recoverJobs(): Write<number> {
  const released = yield* releaseOrphanedJobs()
  for (const job of released) {
    if (job.unclean_ends < MAX_UNCLEAN_ENDS) continue
    yield* removeUnpublishedVersion(job.doc_key, job.version)
    yield* endCommits([job.id], 'failed-terminal', CRASH_LOOP, CRASH_LOOP_DAYS)
    yield* failCrashLoopingJob(job, CRASH_LOOP)
  }
  return released.length
}
