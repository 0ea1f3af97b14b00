import { KsError } from '../../../contract/errors.js'
import type { StagedCommitStatus } from '../../../contract/gateway/integrity.js'
import { STAGED_COMMIT_STEPS } from '../../../contract/values.js'
import { newId } from '../../../lib/ids.js'
import { defineTransitions } from '../../base/transitions.js'
import { type Bindable, readClock, sql, type Write } from '../program.js'
import { OF_LOST_GATEWAYS } from './gateways.js'

export type CommitStatus = StagedCommitStatus

const FAILURES = ['failed-retryable', 'failed-terminal', 'canceled'] as const

/**
 * The statuses of a staged commit with the allowed moves. A retryable commit resumes at the
 * step that failed, which its row contains as `resume_status`.
 */
const { assert: assertMove } = defineTransitions<CommitStatus>('staged commit', {
  received: ['object-staged', ...FAILURES],
  'object-staged': ['object-verified', ...FAILURES],
  'object-verified': ['metadata-prepared', ...FAILURES],
  'metadata-prepared': ['artifacts-built', ...FAILURES],
  'artifacts-built': ['nodes-built', ...FAILURES],
  'nodes-built': ['projections-built', ...FAILURES],
  'projections-built': ['published', ...FAILURES],
  published: [],
  'failed-retryable': [...STAGED_COMMIT_STEPS, 'failed-terminal', 'canceled'],
  'failed-terminal': ['gc-pending'],
  canceled: ['gc-pending'],
  'gc-pending': ['gc-complete'],
  'gc-complete': [],
})

/** SQL: statuses of a commit that may still be published. */
export const PENDING_STATUSES = `(${STAGED_COMMIT_STEPS.map((step) => `'${step}'`).join(',')})`
/** SQL: statuses before the upload is acknowledged to the client. */
export const UNACKNOWLEDGED_STATUSES = "('received','object-staged','object-verified')"

const DAY_MS = 24 * 60 * 60 * 1000

/** A file whose bytes are received. */
export interface ReceivedFile {
  commitId: string
  /** id of the temporary file */
  stagedId: string
  objectKey: string
  sha256: string
  size: number
}

/** Inserts the commits of an upload that a gateway receives; they expire after a day. */
export function* insertUploadCommits(
  space: { key: number; tenant: string },
  { sourceId, files }: { sourceId: string | null; files: readonly ReceivedFile[] },
  gateway: string,
): Write<void> {
  const now = yield* readClock()
  yield* sql.runEach(
    `INSERT INTO staged_commits (id, tenant, space_key, idempotency_key, operation_type, status, raw_object_key,
           published_object_key, checksum, size_bytes, source_id, claimed_by, expires_at, created_at, updated_at)
         VALUES (?, ?, ?, ?, 'document-upload', 'received', ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    files.map((file) => [
      file.commitId,
      space.tenant,
      space.key,
      file.commitId,
      `tmp/${file.stagedId}`,
      file.objectKey,
      file.sha256,
      file.size,
      sourceId,
      gateway,
      now + DAY_MS,
      now,
      now,
    ]),
  )
}

/** Inserts the commits of jobs that compile documents with stored bytes, again or for the first time. */
export function* insertJobCommits(
  space: { key: number; tenant: string },
  operation: 'bulk-reindex' | 'document-upload',
  jobs: readonly { document: { id: string; source_id: string | null }; jobId: string }[],
): Write<void> {
  const now = yield* readClock()
  yield* sql.runEach(
    `INSERT INTO staged_commits (id, tenant, space_key, idempotency_key, operation_type, status, document_id, source_id, job_id, created_at, updated_at)
     VALUES (?, ?, ?, ?, ?, 'metadata-prepared', ?, ?, ?, ?, ?)`,
    jobs.map(({ document, jobId }) => [
      newId(),
      space.tenant,
      space.key,
      jobId,
      operation,
      document.id,
      document.source_id,
      jobId,
      now,
      now,
    ]),
  )
}

/** Moves one commit, or not at all. @returns whether its status was `from` */
export function* moveCommit(id: string, from: CommitStatus, to: CommitStatus): Write<boolean> {
  assertMove(from, to)
  const values: Bindable[] = [to, yield* readClock(), id, from]
  return (
    (yield* sql.run('UPDATE staged_commits SET status = ?, updated_at = ? WHERE id = ? AND status = ?', values))
      .changes === 1
  )
}

/** The document and job that an upload created. */
export interface UploadResult {
  commitId: string
  documentId: string
  jobId: string | null
}

/** The document of an acknowledged upload. */
export function* findUploadedDocument({ key, tenant }: { key: number; tenant: string }, id: string) {
  const row = yield* sql.get<{ document_id: string | null }>(
    'SELECT document_id FROM staged_commits WHERE tenant = ? AND space_key = ? AND id = ?',
    [tenant, key, id],
  )
  return row?.document_id ?? undefined
}

/**
 * Moves the commits of uploads to the end of a path, in one update each: no reader sees a step of the caller's
 * transaction.
 *
 * @throws KsError `unavailable` if one was abandoned meanwhile, and its bytes may be removed
 */
export function* completeUploads(path: readonly CommitStatus[], uploads: readonly UploadResult[]): Write<void> {
  const { to, passed } = resolvePath(path)
  const now = yield* readClock()
  const changes = yield* sql.runEach(
    `UPDATE staged_commits SET status = ?, updated_at = ?, document_id = ?, job_id = ?
     WHERE id = ? AND status IN (${passed})`,
    uploads.map(({ commitId, documentId, jobId }) => [to, now, documentId, jobId, commitId]),
  )
  if (changes.some((changeCount) => changeCount !== 1))
    throw new KsError('unavailable', 'the upload took too long and was discarded: send it again')
}

/** Moves the commits of jobs from any step of a path to its end, in one update each. */
export function* advanceCommits(jobIds: readonly string[], path: readonly CommitStatus[]): Write<void> {
  const { to, passed } = resolvePath(path)
  const now = yield* readClock()
  yield* sql.runEach(
    `UPDATE staged_commits SET status = ?, updated_at = ? WHERE job_id = ? AND status IN (${passed})`,
    jobIds.map((id) => [to, now, id]),
  )
}

/** The last status of a path whose moves are all allowed, and the earlier ones as SQL. */
function resolvePath(path: readonly CommitStatus[]): { to: CommitStatus; passed: string } {
  const [to, ...previous] = path.toReversed()
  if (to === undefined) throw new KsError('internal', 'a staged commit was moved along no path')
  path.forEach((from, index) => {
    const next = path[index + 1]
    if (next !== undefined) assertMove(from, next)
  })
  return { to, passed: previous.map((status) => `'${status}'`).join(',') }
}

/**
 * Marks the commit of a job as failed and retryable; the job is retried at `retryAt`. @param attemptCount number of
 * attempts that this counts as
 */
export function* failCommitForRetry(
  jobId: string,
  failure: { code: string; message: string },
  retryAt: number,
  attemptCount: number,
): Write<void> {
  yield* sql.run(
    `UPDATE staged_commits SET resume_status = status, status = 'failed-retryable', attempts = attempts + ?, error_code = ?,
       error_message = ?, expires_at = ?, updated_at = ? WHERE job_id = ? AND status IN ${PENDING_STATUSES}`,
    [attemptCount, failure.code, failure.message, retryAt + DAY_MS, yield* readClock(), jobId],
  )
}

/** Resets the resume step of a failed retryable commit to the first step after its acknowledgement. */
export function* resetResumeStep(jobId: string): Write<void> {
  yield* sql.run(
    `UPDATE staged_commits SET resume_status = 'metadata-prepared', updated_at = ?
     WHERE job_id = ? AND status = 'failed-retryable' AND resume_status IN ('artifacts-built', 'nodes-built', 'projections-built')`,
    [yield* readClock(), jobId],
  )
}

/** Moves the commits of retried jobs back to the step that failed. */
export function* resumeCommits(jobIds: readonly string[]): Write<void> {
  yield* sql.run(
    `UPDATE staged_commits SET status = resume_status, resume_status = NULL, error_code = NULL, error_message = NULL,
       expires_at = NULL, updated_at = ?
     WHERE job_id IN (SELECT value FROM json_each(?)) AND status = 'failed-retryable' AND resume_status IS NOT NULL`,
    [yield* readClock(), JSON.stringify(jobIds)],
  )
}

/** Marks the commits of jobs as ended without publication. */
export function* endCommits(
  jobIds: readonly string[],
  to: 'failed-terminal' | 'canceled',
  failure: { code: string; message: string } | undefined,
  retentionDays: number,
): Write<void> {
  const now = yield* readClock()
  const expiresAt = now + retentionDays * DAY_MS
  yield* sql.runEach(
    `UPDATE staged_commits SET status = ?, error_code = ?, error_message = ?, expires_at = ?, updated_at = ?
     WHERE job_id = ? AND (status IN ${PENDING_STATUSES} OR status = 'failed-retryable')`,
    jobIds.map((id) => [to, failure?.code ?? null, failure?.message ?? null, expiresAt, now, id]),
  )
}

/** Ends the commits of an upload that failed before it was acknowledged. */
export function* failUploads(commitIds: readonly string[], errorCode: string): Write<void> {
  const now = yield* readClock()
  yield* sql.runEach(
    `UPDATE staged_commits SET status = 'failed-terminal', error_code = ?, updated_at = ?
     WHERE id = ? AND status IN ${UNACKNOWLEDGED_STATUSES}`,
    commitIds.map((id) => [errorCode, now, id]),
  )
}

/** Marks a retryable commit as failed for good once it has expired. @returns whether it was one */
export function* failExpiredCommit(commitId: string, now: number): Write<boolean> {
  return (
    (yield* sql.run(
      `UPDATE staged_commits SET status = 'failed-terminal', updated_at = ?
       WHERE id = ? AND status = 'failed-retryable' AND expires_at < ?`,
      [now, commitId, now],
    )).changes === 1
  )
}

/** Marks unacknowledged uploads of lost gateways as failed and retryable. @returns their number */
export function* failOrphanedUploads(): Write<number> {
  const now = yield* readClock()
  return (yield* sql.run(
    `UPDATE staged_commits INDEXED BY staged_commits_unacknowledged SET status = 'failed-retryable', error_code = 'interrupted',
       resume_status = status, error_message = 'the daemon ended before the upload was acknowledged', expires_at = ?,
       updated_at = ? WHERE status IN ${UNACKNOWLEDGED_STATUSES} AND ${OF_LOST_GATEWAYS}`,
    [now + DAY_MS, now],
  )).changes
}

/** Marks expired uploads as failed for good, at the start: an upload is not retryable forever. */
export function* failExpiredUploads(): Write<void> {
  const now = yield* readClock()
  yield* sql.run(
    "UPDATE staged_commits SET status = 'failed-terminal', updated_at = ? WHERE status = 'failed-retryable' AND expires_at < ? AND job_id IS NULL",
    [now, now],
  )
}
