import { type Read, sql, type Write } from '../../storage/program.js'

/** Bulk jobs from before a time whose items all ended before it. */
export function* bulkJobsEndedBefore(spaceKey: number, before: number, most: number): Read<{ id: string }[]> {
  return yield* sql.all<{ id: string }>(
    `SELECT id FROM bulk_jobs WHERE space_key = ? AND created_at < ?
       AND NOT EXISTS (SELECT 1 FROM bulk_items JOIN jobs ON jobs.id = bulk_items.job_id
                       WHERE bulk_id = bulk_jobs.id AND (completed_at IS NULL OR completed_at >= ?))
     ORDER BY created_at LIMIT ?`,
    [spaceKey, before, before, most],
  )
}

export function* removeBulkJob(id: string): Write<void> {
  yield* sql.run('DELETE FROM bulk_items WHERE bulk_id = ?', [id])
  yield* sql.run('DELETE FROM bulk_jobs WHERE id = ?', [id])
}

export interface EndedJob {
  key: number
  id: string
  completed_at: number
  /** 1 where no document, bulk job or commit needs it */
  ends: number
}

/** A page of jobs that ended before a time, by when. */
export function* jobsEndedBefore(
  spaceKey: number,
  before: number,
  after: Pick<EndedJob, 'completed_at' | 'key'>,
  most: number,
): Read<EndedJob[]> {
  return yield* sql.all<EndedJob>(
    `SELECT key, id, completed_at,
         NOT EXISTS (SELECT 1 FROM documents WHERE documents.key = jobs.doc_key AND deleted_at IS NULL
                     AND NOT EXISTS (SELECT 1 FROM jobs newer WHERE newer.doc_key = jobs.doc_key
                                     AND (newer.version, newer.key) > (jobs.version, jobs.key)))
         AND NOT EXISTS (SELECT 1 FROM bulk_items WHERE bulk_items.job_id = jobs.id)
         AND NOT EXISTS (SELECT 1 FROM staged_commits WHERE staged_commits.job_id = jobs.id
                         AND status NOT IN ('published', 'gc-complete')) ends
       FROM jobs INDEXED BY jobs_ended
       WHERE space_key = ? AND (completed_at, key) > (?, ?) AND completed_at < ? ORDER BY completed_at, key LIMIT ?`,
    [spaceKey, after.completed_at, after.key, before, most],
  )
}

/** Removes a job with what its commit went through. */
export function* removeJob({ key, id }: Pick<EndedJob, 'key' | 'id'>): Write<void> {
  yield* sql.run('DELETE FROM staged_commits WHERE job_id = ?', [id])
  yield* sql.run('DELETE FROM jobs WHERE key = ?', [key])
}

/** Commits without a job that were collected before a time. */
export function* commitsCollectedBefore(spaceKey: number, before: number, most: number): Read<{ id: string }[]> {
  return yield* sql.all<{ id: string }>(
    `SELECT id FROM staged_commits WHERE space_key = ? AND status = 'gc-complete' AND job_id IS NULL AND updated_at < ?
     LIMIT ?`,
    [spaceKey, before, most],
  )
}

export function* removeCommit(id: string): Write<void> {
  yield* sql.run('DELETE FROM staged_commits WHERE id = ?', [id])
}

export interface ExpiredCommit {
  id: string
  status: 'failed-retryable' | 'failed-terminal' | 'canceled' | 'gc-pending'
  raw_object_key: string | null
  published_object_key: string | null
}

/** Commits that failed or were canceled, and were kept long enough. @param kept milliseconds, of those that name no end */
export function* expiredCommits(spaceKey: number, kept: number, now: number, most: number): Read<ExpiredCommit[]> {
  return yield* sql.all<ExpiredCommit>(
    `SELECT id, status, raw_object_key, published_object_key FROM staged_commits
     WHERE space_key = ? AND (status = 'gc-pending'
       OR status IN ('failed-terminal', 'canceled') AND coalesce(expires_at, updated_at + ?) < ?
       OR status = 'failed-retryable' AND expires_at < ?
          AND NOT EXISTS (SELECT 1 FROM jobs WHERE jobs.id = staged_commits.job_id AND completed_at IS NULL))
     LIMIT ?`,
    [spaceKey, kept, now, now, most],
  )
}
