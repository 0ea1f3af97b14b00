import { KsError } from '../../contract/errors.js'
import type { StagedCommitStatus } from '../../contract/gateway/integrity.js'
import { STAGED_COMMIT_STEPS } from '../../contract/values.js'
import { newId } from '../../lib/ids.js'
import { transitions } from '../base/transitions.js'
import type { Bindable } from '../storage/program.js'
import { sql, type Write } from '../storage/program.js'
import { OF_THE_GONE } from './gateways.js'

export type CommitStatus = StagedCommitStatus

const FAILURES = ['failed-retryable', 'failed-terminal', 'canceled'] as const

/**
 * Every status of a staged commit with the moves that are allowed (decisions.md section 4). A commit that failed for now
 * goes back to the step that failed, which stands in its row as `resume_status`.
 */
const { assert: assertMove } = transitions<CommitStatus>('staged commit', {
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

/** Statuses of a commit that may still be published. */
export const UNDER_WAY = `(${STAGED_COMMIT_STEPS.map((step) => `'${step}'`).join(',')})`
/** Statuses in which nobody was promised anything yet. */
export const UNACKNOWLEDGED = "('received','object-staged','object-verified')"

const DAY = 24 * 60 * 60 * 1000

/** A file whose bytes have come in. */
export interface ReceivedFile {
  commitId: string
  /** of the temporary file */
  stagedId: string
  objectKey: string
  sha256: string
  size: number
}

/** Begins the commits of an upload that a gateway receives; they are given up after a day. */
export function* beginUploadCommits(
  space: { key: number; tenant: string },
  sourceId: string | null,
  files: readonly ReceivedFile[],
  gateway: string,
  now: number,
): Write<void> {
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
      now + DAY,
      now,
      now,
    ]),
  )
}

/** Begins the commits of jobs that compile documents whose bytes are there: again, or for the first time. */
export function* beginJobCommits(
  space: { key: number; tenant: string },
  operation: 'bulk-reindex' | 'document-upload',
  made: readonly { document: { id: string; source_id: string | null }; jobId: string }[],
  now: number,
): Write<void> {
  yield* sql.runEach(
    `INSERT INTO staged_commits (id, tenant, space_key, idempotency_key, operation_type, status, document_id, source_id, job_id, created_at, updated_at)
     VALUES (?, ?, ?, ?, ?, 'metadata-prepared', ?, ?, ?, ?, ?)`,
    made.map(({ document, jobId }) => [
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

/** Moves one commit, or not at all. @returns whether it stood at `from` */
export function* moveCommit(id: string, from: CommitStatus, to: CommitStatus): Write<boolean> {
  assertMove(from, to)
  const values: Bindable[] = [to, Date.now(), id, from]
  return (
    (yield* sql.run('UPDATE staged_commits SET status = ?, updated_at = ? WHERE id = ? AND status = ?', values))
      .changes === 1
  )
}

/** What an upload made. */
export interface SettledUpload {
  commitId: string
  documentId: string
  jobId: string | null
}

/** The document of an upload that was acknowledged. */
export function* documentOfUpload({ key, tenant }: { key: number; tenant: string }, id: string) {
  const row = yield* sql.get<{ document_id: string | null }>(
    'SELECT document_id FROM staged_commits WHERE tenant = ? AND space_key = ? AND id = ?',
    [tenant, key, id],
  )
  return row?.document_id ?? undefined
}

/**
 * Ends the path of uploads, in one update each: nobody sees a step of the caller's transaction.
 *
 * @throws KsError `unavailable` where one was given up meanwhile, and its bytes may have gone
 */
export function* settleUploads(path: readonly CommitStatus[], made: readonly SettledUpload[]): Write<void> {
  const { to, passed } = alongPath(path)
  const changes = yield* sql.runEach(
    `UPDATE staged_commits SET status = ?, updated_at = ?, document_id = ?, job_id = ?
     WHERE id = ? AND status IN (${passed})`,
    made.map(({ commitId, documentId, jobId }) => [to, Date.now(), documentId, jobId, commitId]),
  )
  if (changes.some((one) => one !== 1))
    throw new KsError('unavailable', 'the upload took so long that it was given up: send it again')
}

/** Moves the commits of jobs from wherever they stand on their path to the end, in one update each. */
export function* advance(jobIds: readonly string[], path: readonly CommitStatus[]): Write<void> {
  const { to, passed } = alongPath(path)
  const now = Date.now()
  yield* sql.runEach(
    `UPDATE staged_commits SET status = ?, updated_at = ? WHERE job_id = ? AND status IN (${passed})`,
    jobIds.map((id) => [to, now, id]),
  )
}

/** The last status of a path whose moves are all allowed, and the ones before it as SQL. */
function alongPath(path: readonly CommitStatus[]): { to: CommitStatus; passed: string } {
  const [to, ...before] = path.toReversed()
  if (to === undefined) throw new KsError('internal', 'a staged commit was moved along no path')
  path.forEach((from, place) => {
    const next = path[place + 1]
    if (next !== undefined) assertMove(from, next)
  })
  return { to, passed: before.map((status) => `'${status}'`).join(',') }
}

/** Marks the commit of a job as failed for now; the job is tried again at `retryAt`. @param tries that this counts as */
export function* failRetryably(
  jobId: string,
  failure: { code: string; message: string },
  retryAt: number,
  tries: number,
): Write<void> {
  yield* sql.run(
    `UPDATE staged_commits SET resume_status = status, status = 'failed-retryable', attempts = attempts + ?, error_code = ?,
       error_message = ?, expires_at = ?, updated_at = ? WHERE job_id = ? AND status IN ${UNDER_WAY}`,
    [tries, failure.code, failure.message, retryAt + DAY, Date.now(), jobId],
  )
}

/** Lets the commit of a job that failed for now begin anew, behind its acknowledgement. */
export function* resumeFromStart(jobId: string): Write<void> {
  yield* sql.run(
    `UPDATE staged_commits SET resume_status = 'metadata-prepared', updated_at = ?
     WHERE job_id = ? AND status = 'failed-retryable' AND resume_status IN ('artifacts-built', 'nodes-built', 'projections-built')`,
    [Date.now(), jobId],
  )
}

/** Puts the commits of jobs that are tried again back to the step that failed. */
export function* resumeCommits(jobIds: readonly string[]): Write<void> {
  yield* sql.run(
    `UPDATE staged_commits SET status = resume_status, resume_status = NULL, error_code = NULL, error_message = NULL,
       expires_at = NULL, updated_at = ?
     WHERE job_id IN (SELECT value FROM json_each(?)) AND status = 'failed-retryable' AND resume_status IS NOT NULL`,
    [Date.now(), JSON.stringify(jobIds)],
  )
}

/** Marks the commits of jobs as ended without being published. */
export function* endCommits(
  jobIds: readonly string[],
  to: 'failed-terminal' | 'canceled',
  failure: { code: string; message: string } | undefined,
  retentionDays: number,
): Write<void> {
  const now = Date.now()
  const until = now + retentionDays * DAY
  yield* sql.runEach(
    `UPDATE staged_commits SET status = ?, error_code = ?, error_message = ?, expires_at = ?, updated_at = ?
     WHERE job_id = ? AND (status IN ${UNDER_WAY} OR status = 'failed-retryable')`,
    jobIds.map((id) => [to, failure?.code ?? null, failure?.message ?? null, until, now, id]),
  )
}

/** Ends the commits of an upload that failed before it was acknowledged. */
export function* failUploads(commitIds: readonly string[], errorCode: string): Write<void> {
  const now = Date.now()
  yield* sql.runEach(
    `UPDATE staged_commits SET status = 'failed-terminal', error_code = ?, updated_at = ?
     WHERE id = ? AND status IN ${UNACKNOWLEDGED}`,
    commitIds.map((id) => [errorCode, now, id]),
  )
}

/** A commit that nobody tries again and whose time is over has failed for good. @returns whether it was one */
export function* giveUpExpired(commitId: string, now: number): Write<boolean> {
  return (
    (yield* sql.run(
      `UPDATE staged_commits SET status = 'failed-terminal', updated_at = ?
       WHERE id = ? AND status = 'failed-retryable' AND expires_at < ?`,
      [now, commitId, now],
    )).changes === 1
  )
}

/** Uploads of gateways that are gone, which were never acknowledged, belong to nobody. @returns how many */
export function* abandonUnacknowledged(): Write<number> {
  const now = Date.now()
  return (yield* sql.run(
    `UPDATE staged_commits INDEXED BY staged_commits_unacknowledged SET status = 'failed-retryable', error_code = 'interrupted',
       resume_status = status, error_message = 'the daemon ended before the upload was acknowledged', expires_at = ?,
       updated_at = ? WHERE status IN ${UNACKNOWLEDGED} AND ${OF_THE_GONE}`,
    [now + DAY, now],
  )).changes
}

/** At the start: nobody tries an upload again for ever. */
export function* giveUpExpiredUploads(): Write<void> {
  const now = Date.now()
  yield* sql.run(
    "UPDATE staged_commits SET status = 'failed-terminal', updated_at = ? WHERE status = 'failed-retryable' AND expires_at < ? AND job_id IS NULL",
    [now, now],
  )
}
