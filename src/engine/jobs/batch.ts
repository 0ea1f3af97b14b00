import type { Work } from '../compile/work.js'
import { MAX_RETRY_MILLISECONDS } from '../queue/retry-policy.js'
import type { DocumentRow } from '../rows/documents.js'
import type { JobRow } from '../rows/jobs.js'
import { type Read, sql } from '../storage/program.js'

/** as `stillWaits`: now, and now with the longest pause */
export const DUE = '(run_after <= ? OR run_after > ?)'

export const BATCH_JOBS = 32 // two batches are the maxActiveJobCount of a new space
const BATCH_BYTES = 8 * 1024 * 1024
/** files over this are compiled alone: one slow file then holds nobody else up */
const ALONE_BYTES = 1024 * 1024
/** jobs that were running this often when the process died, or failed this often in company, are suspects */
const ALONE_AFTER_FAILURES = 2

/** Whether a job may be what ends processes: then nothing else is compiled beside it, so that nobody else is blamed. */
export function isSuspect(job: JobRow): boolean {
  return Math.max(job.unclean_ends, job.attempts) >= ALONE_AFTER_FAILURES
}

/** Jobs of a space that are due at `now`, the longest due first: at most `most`, and what is large or was in trouble alone. */
export function* selectBatch(spaceKey: number, now: number, most: number): Read<Work[]> {
  const jobs = yield* sql.all<JobRow>(
    `SELECT * FROM jobs WHERE space_key = ? AND completed_at IS NULL AND claimed_by IS NULL AND ${DUE}
     ORDER BY run_after, key LIMIT ?`,
    [spaceKey, now, now + MAX_RETRY_MILLISECONDS, most],
  )
  const work: Work[] = []
  let bytes = 0
  for (const job of jobs) {
    const document = yield* sql.get<DocumentRow>('SELECT * FROM documents WHERE key = ?', [job.doc_key])
    if (document === undefined) continue
    const alone = document.size_bytes > ALONE_BYTES || isSuspect(job)
    if (work.length > 0 && (alone || bytes + document.size_bytes > BATCH_BYTES)) break
    work.push({ job, document })
    bytes += document.size_bytes
    if (alone) break
  }
  return work
}
