import { dropUnpublished } from '../compile/store.js'
import type { EngineContext } from '../context.js'
import type { JobRow } from '../rows/jobs.js'
import { endCommit } from '../rows/staged-commits.js'
import { sql } from '../storage/program.js'

/** jobs that were running at this many deaths of the process are given up */
const MAX_UNCLEAN_ENDS = 5
const CRASH_LOOP = { code: 'crash-loop', message: 'the daemon died again and again while it compiled this document' }
const CRASH_LOOP_DAYS = 7 // failedCommitRetentionDays of a new space

/** Work that a dead process had claimed is free again; what was running at many deaths is given up. */
export function recoverClaims(context: EngineContext): void {
  const { db } = context
  db.recover(function* () {
    yield* sql.run(
      'UPDATE jobs SET claimed_by = NULL, unclean_ends = unclean_ends + 1 WHERE claimed_by IS NOT NULL AND completed_at IS NULL',
    )
    const now = Date.now()
    for (const job of yield* sql.all<JobRow>('SELECT * FROM jobs WHERE completed_at IS NULL AND unclean_ends >= ?', [
      MAX_UNCLEAN_ENDS,
    ])) {
      yield* dropUnpublished(job.doc_key, job.version)
      yield* endCommit(job.id, 'failed-terminal', CRASH_LOOP, CRASH_LOOP_DAYS)
    }
    yield* sql.run(
      `UPDATE documents SET parser_status = 'failed', error_code = ?, error = ?, updated_at = ?
       WHERE parser_status = 'pending' AND key IN (SELECT doc_key FROM jobs WHERE completed_at IS NULL AND unclean_ends >= ?)`,
      [CRASH_LOOP.code, CRASH_LOOP.message, now, MAX_UNCLEAN_ENDS],
    )
    yield* sql.run(
      `UPDATE jobs SET stage = 'failed', error = ?, updated_at = ?, completed_at = ?
       WHERE completed_at IS NULL AND unclean_ends >= ?`,
      [CRASH_LOOP.message, now, now, MAX_UNCLEAN_ENDS],
    )
  })
}
