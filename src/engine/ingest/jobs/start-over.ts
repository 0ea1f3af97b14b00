import type { Write } from '../../store/program.js'
import { requeueJob } from '../../store/rows/job-claims.js'
import type { JobRow } from '../../store/rows/jobs.js'
import { resetResumeStep } from '../../store/rows/staged-commits.js'
import { removeUnpublishedVersion } from '../../store/rows/versions.js'

/**
 * Removes the stored data of a job so that it starts over, inside the caller's transaction and after
 * `failCommitForRetry`. As long as its passages are rows, every start of the indexes reads them, and a passage that
 * crashes the index process affects all of the space.
 *
 * @returns the index log's entry for its nodes; 0 if it has none
 */
export function* startOver(job: JobRow): Write<number> {
  if (!(yield* requeueJob(job.key))) return 0
  yield* resetResumeStep(job.id)
  return yield* removeUnpublishedVersion(job.doc_key, job.version)
}
