import { KsError } from '../../contract/errors.js'
import type { Database } from '../storage/database.js'

/** Every status of a staged commit, and the moves of decisions.md section 4. */
const MOVES = {
  received: ['object-staged'],
  'object-staged': ['object-verified'],
  'object-verified': ['metadata-prepared'],
  'metadata-prepared': ['artifacts-built'],
  'artifacts-built': ['nodes-built'],
  'nodes-built': ['projections-built'],
  'projections-built': ['published'],
  published: [],
  'failed-retryable': ['failed-terminal'],
  'failed-terminal': ['gc-pending'],
  canceled: ['gc-pending'],
  'gc-pending': ['gc-complete'],
  'gc-complete': [],
} as const

export type CommitStatus = keyof typeof MOVES

const DAY = 24 * 60 * 60 * 1000

/** Moves commits of jobs along their path, one conditional update a step. */
export function advance(db: Database, jobIds: string[], path: CommitStatus[]): void {
  for (let step = 1; step < path.length; step++) {
    const from = path[step - 1]
    const to = path[step]
    if (from === undefined || to === undefined) return
    const allowed: readonly CommitStatus[] = MOVES[from]
    if (!allowed.includes(to)) throw new KsError('internal', `a staged commit does not move from ${from} to ${to}`)
    const now = Date.now()
    for (const jobId of jobIds)
      db.run(
        'UPDATE staged_commits SET status = ?, updated_at = ? WHERE job_id = ? AND status = ?',
        to,
        now,
        jobId,
        from,
      )
  }
}

/** Marks the commit of a job as ended without being published. */
export function endCommit(
  db: Database,
  jobId: string,
  to: 'failed-terminal' | 'canceled',
  failure: { code: string; message: string } | undefined,
  retentionDays: number,
): void {
  const now = Date.now()
  db.run(
    `UPDATE staged_commits SET status = ?, error_code = ?, error_message = ?, expires_at = ?, updated_at = ?
     WHERE job_id = ? AND status IN ('received','object-staged','object-verified','metadata-prepared','artifacts-built','nodes-built','projections-built','failed-retryable')`,
    to,
    failure?.code ?? null,
    failure?.message ?? null,
    now + retentionDays * DAY,
    now,
    jobId,
  )
}

/** Ends the commit of an upload that failed before it was acknowledged. */
export function failUpload(db: Database, commitId: string, errorCode: string): void {
  db.run(
    `UPDATE staged_commits SET status = 'failed-terminal', error_code = ?, updated_at = ?
     WHERE id = ? AND status IN ('received', 'object-staged', 'object-verified')`,
    ...[errorCode, Date.now(), commitId],
  )
}

/** After a restart: uploads that were never acknowledged belong to nobody, and nobody tries again for ever. */
export function abandonUnacknowledged(db: Database): number {
  const now = Date.now()
  db.run(
    "UPDATE staged_commits SET status = 'failed-terminal', updated_at = ? WHERE status = 'failed-retryable' AND expires_at < ?",
    ...[now, now],
  )
  return db.run(
    `UPDATE staged_commits SET status = 'failed-retryable', error_code = 'interrupted', resume_status = status,
       error_message = 'the daemon ended before the upload was acknowledged', expires_at = ?, updated_at = ?
     WHERE status IN ('received', 'object-staged', 'object-verified')`,
    now + DAY,
    now,
  ).changes
}
