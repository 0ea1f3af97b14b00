import { type Read, sql, type Write } from '../../../store/program.js'

/** Key of a row of a tenant. */
interface TenantRowKey {
  tenant: string
  id: string
}

/** Bulk jobs from before a time whose items all ended before it. */
export function* listBulkJobsEndedBefore(spaceKey: number, before: number, limit: number): Read<TenantRowKey[]> {
  return yield* sql.all<TenantRowKey>(
    `SELECT tenant, id FROM bulk_jobs WHERE space_key = ? AND created_at < ?
       AND NOT EXISTS (SELECT 1 FROM bulk_items i JOIN jobs ON jobs.tenant = i.tenant AND jobs.id = i.job_id
                       WHERE i.tenant = bulk_jobs.tenant AND i.bulk_id = bulk_jobs.id AND (completed_at IS NULL OR completed_at >= ?))
     ORDER BY created_at LIMIT ?`,
    [spaceKey, before, before, limit],
  )
}

export function* removeBulkJob({ tenant, id }: TenantRowKey): Write<void> {
  yield* sql.run('DELETE FROM bulk_items WHERE tenant = ? AND bulk_id = ?', [tenant, id])
  yield* sql.run('DELETE FROM bulk_jobs WHERE tenant = ? AND id = ?', [tenant, id])
}

export interface EndedJob {
  key: number
  tenant: string
  id: string
  completed_at: number
  /** 1 if no document, bulk job or commit needs it */
  ends: number
}

/** A page of jobs that ended before a time, in order of their end. */
export function* listJobsEndedBefore(
  spaceKey: number,
  before: number,
  after: Pick<EndedJob, 'completed_at' | 'key'>,
  limit: number,
): Read<EndedJob[]> {
  return yield* sql.all<EndedJob>(
    `SELECT key, tenant, id, completed_at,
         NOT EXISTS (SELECT 1 FROM documents WHERE documents.key = jobs.doc_key AND deleted_at IS NULL
                     AND NOT EXISTS (SELECT 1 FROM jobs newer WHERE newer.doc_key = jobs.doc_key
                                     AND (newer.version, newer.key) > (jobs.version, jobs.key)))
         AND NOT EXISTS (SELECT 1 FROM bulk_items i WHERE i.tenant = jobs.tenant AND i.job_id = jobs.id)
         AND NOT EXISTS (SELECT 1 FROM staged_commits c WHERE c.tenant = jobs.tenant AND c.job_id = jobs.id
                         AND status NOT IN ('published', 'gc-complete')) ends
       FROM jobs INDEXED BY jobs_ended
       WHERE space_key = ? AND (completed_at, key) > (?, ?) AND completed_at < ? ORDER BY completed_at, key LIMIT ?`,
    [spaceKey, after.completed_at, after.key, before, limit],
  )
}

/** Removes a job with its commit. */
export function* removeJob({ key, tenant, id }: Pick<EndedJob, 'key' | 'tenant' | 'id'>): Write<void> {
  yield* sql.run('DELETE FROM staged_commits WHERE tenant = ? AND job_id = ?', [tenant, id])
  yield* sql.run('DELETE FROM jobs WHERE tenant = ? AND key = ?', [tenant, key])
}

/** Commits without a job that were collected before a time. */
export function* listCommitsCollectedBefore(spaceKey: number, before: number, limit: number): Read<TenantRowKey[]> {
  return yield* sql.all<TenantRowKey>(
    `SELECT tenant, id FROM staged_commits WHERE space_key = ? AND status = 'gc-complete' AND job_id IS NULL AND updated_at < ?
     LIMIT ?`,
    [spaceKey, before, limit],
  )
}

export function* removeCommit({ tenant, id }: TenantRowKey): Write<void> {
  yield* sql.run('DELETE FROM staged_commits WHERE tenant = ? AND id = ?', [tenant, id])
}

export interface ExpiredCommit extends TenantRowKey {
  status: 'failed-retryable' | 'failed-terminal' | 'canceled' | 'gc-pending'
  raw_object_key: string | null
  published_object_key: string | null
}

/**
 * Failed and canceled commits past their retention. @param retentionMs of commits without an expiry, in milliseconds
 */
export function* listExpiredCommits(
  spaceKey: number,
  retentionMs: number,
  now: number,
  limit: number,
): Read<ExpiredCommit[]> {
  return yield* sql.all<ExpiredCommit>(
    `SELECT tenant, id, status, raw_object_key, published_object_key FROM staged_commits
     WHERE space_key = ? AND (status = 'gc-pending'
       OR status IN ('failed-terminal', 'canceled') AND coalesce(expires_at, updated_at + ?) < ?
       OR status = 'failed-retryable' AND expires_at < ?
          AND NOT EXISTS (SELECT 1 FROM jobs WHERE jobs.tenant = staged_commits.tenant AND jobs.id = staged_commits.job_id
                          AND completed_at IS NULL))
     LIMIT ?`,
    [spaceKey, retentionMs, now, now, limit],
  )
}
