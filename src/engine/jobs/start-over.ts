import { requeue } from '../rows/job-claims.js'
import type { JobRow } from '../rows/jobs.js'
import { resumeFromStart } from '../rows/staged-commits.js'
import { dropUnpublished } from '../rows/versions.js'
import type { Write } from '../storage/program.js'

/**
 * Takes back what a job has stored, inside the caller's transaction and behind `failRetryably`: it begins anew. As long
 * as its passages are rows, every start of the indexes reads them, and what they do to one they do to all of the space.
 *
 * @returns the log's entry for what the index has to forget; 0 for nothing
 */
export function* startOver(job: JobRow): Write<number> {
  if (!(yield* requeue(job.key))) return 0
  yield* resumeFromStart(job.id)
  return yield* dropUnpublished(job.doc_key, job.version)
}
