import { notFoundError } from '../../../contract/errors.js'
import type { DocumentCompilationJob, JobStage } from '../../../contract/gateway/jobs.js'
import { newId } from '../../../lib/ids.js'
import { omitUndefined } from '../../../lib/omit-undefined.js'
import type { Caller } from '../../base/caller.js'
import { type Read, readClock, sql, type Write } from '../program.js'
import type { DocumentRow } from './documents.js'
import { type Reader, sqlCanRead, toReaderParameter } from './permissions.js'

/** A row of `jobs`. */
export interface JobRow {
  key: number
  id: string
  queue_id: string
  tenant: string
  space_key: number
  doc_key: number
  version: number
  stage: JobStage
  error: string | null
  attempts: number
  unclean_ends: number
  /** number of deferrals for temporary problems, and the time of the first one */
  waits: number
  waiting_since: number | null
  run_after: number
  claimed_by: string | null
  /** time of the last claim */
  claimed_at: number | null
  /** rises with each claim: the holder of an earlier one must not write any more */
  fence: number
  created_at: number
  updated_at: number
  completed_at: number | null
  source_id: string | null
}

export const TERMINAL_STAGES: readonly JobStage[] = ['published', 'failed', 'canceled']

export function* findLatestJob(docKey: number): Read<JobRow | undefined> {
  return (yield* listLatestJobs([docKey]))[0]
}

/** The latest job of each of some documents. */
export function* listLatestJobs(docKeys: readonly number[]): Read<(JobRow | undefined)[]> {
  return yield* sql.getEach<JobRow>(
    'SELECT * FROM jobs WHERE doc_key = ? ORDER BY version DESC, key DESC LIMIT 1',
    docKeys.map((key) => [key]),
  )
}

/** A job that has not ended. */
export function* findOpenJob(key: number): Read<JobRow | undefined> {
  return yield* sql.get<JobRow>('SELECT * FROM jobs WHERE key = ? AND completed_at IS NULL', [key])
}

/** A gateway's claim on a job. */
export type JobClaim = Pick<JobRow, 'key' | 'claimed_by' | 'fence'>

/**
 * The stage of the job of each claim, if the claim is valid; undefined after a later claim: its holder must not write
 * any more.
 */
export function* findClaimedStages(claims: readonly JobClaim[]): Read<(JobStage | undefined)[]> {
  const rows = yield* sql.getEach<{ stage: JobStage }>(
    'SELECT stage FROM jobs WHERE key = ? AND claimed_by = ? AND fence = ? AND completed_at IS NULL',
    claims.map(({ key, claimed_by, fence }) => [key, claimed_by, fence]),
  )
  return rows.map((row) => row?.stage)
}

/** Whether a claim is valid. */
export function* isClaimValid(claim: JobClaim): Read<boolean> {
  return (yield* findClaimedStages([claim]))[0] !== undefined
}

/** Whether a claim is valid and its job is not compiled yet. */
export function* isClaimedAndQueued(claim: JobClaim): Read<boolean> {
  return (yield* findClaimedStages([claim]))[0] === 'queued'
}

/** Number of jobs that have not ended. */
export function* countOpenJobs(): Read<number> {
  return yield* sql.count('SELECT count(*) n FROM jobs WHERE completed_at IS NULL')
}

/**
 * Of some jobs, those that have ended, do not exist, or wait for a problem that may last for days.
 *
 * @param isStopped whether no job is claimed: then a job without a claim counts as waiting
 */
export function* filterSettledJobs(ids: readonly string[], isStopped: boolean): Read<string[]> {
  const rows = yield* sql.getEach<{ completed_at: number | null; isWaiting: number }>(
    'SELECT completed_at, waits > 0 OR (? AND claimed_by IS NULL) isWaiting FROM jobs WHERE id = ?',
    ids.map((id) => [isStopped ? 1 : 0, id]),
  )
  return ids.filter((_, index) => {
    const row = rows[index]
    return row === undefined || row.completed_at !== null || row.isWaiting !== 0
  })
}

/** Whether any job is claimed. */
export function* hasClaimedJobs(): Read<boolean> {
  return yield* sql.exists('SELECT 1 one FROM jobs INDEXED BY jobs_claimed WHERE claimed_by IS NOT NULL LIMIT 1')
}

/** Whether a job ended without a publication: the same bytes are compiled again on upload or request. */
export function hasEndedUnpublished(job: JobRow | undefined): boolean {
  return job?.stage === 'failed' || job?.stage === 'canceled'
}

/**
 * Inserts the jobs that compile the next version of each document, inside the caller's transaction, which has locked
 * the row of the space: the new version is the largest one plus 1. Failed documents become pending again; a published
 * version stays visible.
 */
export function* insertJobs(
  space: { key: number; tenant: string },
  documents: readonly DocumentRow[],
): Write<JobRow[]> {
  const now = yield* readClock()
  const inserted = yield* sql.returningEach<JobRow>(
    `INSERT INTO jobs (id, queue_id, tenant, space_key, doc_key, version, stage, created_at, updated_at, source_id)
     VALUES (?, ?, ?, ?, ?, 1 + coalesce((SELECT max(version) FROM versions WHERE doc_key = ?), 0), 'queued', ?, ?, ?)
     RETURNING *`,
    documents.map(({ key, source_id }) => [newId(), newId(), space.tenant, space.key, key, key, now, now, source_id]),
  )
  // without documents that were just inserted; others may have been read before this transaction
  const retried = documents.filter(({ error, parser_status }) => error !== null || parser_status !== 'pending')
  yield* sql.runEach(
    `UPDATE documents SET parser_status = CASE parser_status WHEN 'failed' THEN 'pending' ELSE parser_status END,
       error_code = NULL, error = NULL, updated_at = ?
     WHERE key = ? AND (error IS NOT NULL OR parser_status = 'failed')`,
    retried.map(({ key }) => [now, key]),
  )
  return inserted.flat()
}

/** @throws KsError `not-found` for an unknown job, one of another tenant, and one that the caller may not read */
export function* findJob(caller: Caller, id: string): Read<JobRow> {
  const row = yield* sql.get<JobRow>(
    `SELECT jobs.* FROM jobs JOIN spaces ON spaces.key = jobs.space_key
     WHERE jobs.id = ? AND jobs.tenant = ? AND spaces.deleted_at IS NULL AND ${sqlCanRead('jobs.source_id')}`,
    [id, caller.tenant, toReaderParameter(caller)],
  )
  if (row === undefined) throw notFoundError('job', id)
  return row
}

export function toTicket(row: JobRow): { id: string; stage: JobStage } {
  return { id: row.id, stage: row.stage }
}

export function* toJob(row: JobRow): Read<DocumentCompilationJob> {
  // the job outlives its document: a client that polls it still learns how it ended
  const names = yield* sql.get<{ space: string; there: string | null; gone: string | null }>(
    `SELECT spaces.id space, (SELECT id FROM documents WHERE key = ?) there,
       (SELECT document_id FROM staged_commits WHERE job_id = ?) gone
     FROM spaces WHERE spaces.key = ?`,
    [row.doc_key, row.id, row.space_key],
  )
  const document = names?.there ?? names?.gone ?? null
  if (names === undefined || document === null) throw notFoundError('job', row.id)
  return toCompilationJob(row, names.space, document)
}

/** A job as the API returns it. @param space, document their ids */
export function toCompilationJob(row: JobRow, space: string, document: string): DocumentCompilationJob {
  return {
    id: row.id,
    knowledgeSpaceId: space,
    tenantId: row.tenant,
    documentAssetId: document,
    queueJobId: row.queue_id,
    stage: row.stage,
    version: row.version,
    ...omitUndefined({ error: row.error ?? undefined }),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    ...omitUndefined({ completedAt: row.completed_at ?? undefined }),
  }
}

/** A job in a list, with its document. */
export interface ListedJobRow extends JobRow {
  document_id: string
  filename: string
}

const STATE_CONDITIONS = {
  open: 'AND jobs.completed_at IS NULL',
  reading: "AND jobs.claimed_by IS NOT NULL AND jobs.stage = 'queued'",
  failed: `AND jobs.stage IN ('failed', 'canceled') AND NOT EXISTS (
    SELECT 1 FROM jobs newer WHERE newer.doc_key = jobs.doc_key AND (newer.version, newer.key) > (jobs.version, jobs.key))`,
}

const STATE_INDEXES = { open: 'jobs_open', reading: 'jobs_claimed', failed: 'jobs_listed' }

/**
 * Jobs of a space, of documents that the reader may read, newest first.
 *
 * @param state `open`: not ended; `failed`: the newest job of its document, ended without a publication; `reading`:
 * claimed, and not stored yet
 * @param before key; older jobs are returned
 */
export function* listJobsBefore(
  reader: Reader,
  spaceKey: number,
  state: keyof typeof STATE_CONDITIONS | undefined,
  { before, limit }: { before: number; limit: number },
): Read<ListedJobRow[]> {
  return yield* sql.all<ListedJobRow>(
    `SELECT jobs.*, documents.id document_id, documents.filename
     FROM jobs INDEXED BY ${STATE_INDEXES[state ?? 'failed']}
     CROSS JOIN documents ON documents.key = jobs.doc_key AND documents.deleted_at IS NULL
     WHERE jobs.space_key = ? AND jobs.key < ? ${state === undefined ? '' : STATE_CONDITIONS[state]} AND ${sqlCanRead('documents.source_id')}
     ORDER BY jobs.key DESC LIMIT ?`,
    [spaceKey, before, toReaderParameter(reader), limit],
  )
}

/**
 * Moves a job from one stage to the next, or not at all. A job that has ended has no claim.
 *
 * @param claim of the gateway that works on it; absent for a move by another caller, such as a cancellation
 * @returns whether this call moved it; false if another caller ended it meanwhile, or took it over
 */
export function* moveJob(
  id: string,
  from: JobStage,
  to: JobStage,
  { error, claim }: { error?: string; claim?: JobClaim } = {},
): Write<boolean> {
  const now = yield* readClock()
  const terminal = TERMINAL_STAGES.includes(to)
  const claimCondition = claim === undefined ? '' : ' AND claimed_by = ? AND fence = ?'
  return (
    (yield* sql.run(
      `UPDATE jobs SET stage = ?, error = ?, updated_at = ?, completed_at = ?, claimed_by = CASE WHEN ? THEN NULL ELSE claimed_by END
       WHERE id = ? AND stage = ?${claimCondition}`,
      [
        to,
        error ?? null,
        now,
        terminal ? now : null,
        terminal ? 1 : 0,
        id,
        from,
        ...(claim === undefined ? [] : [claim.claimed_by, claim.fence]),
      ],
    )).changes === 1
  )
}

/** Moves jobs whose nodes were stored by the holders of their claims. */
export function* markJobsStored(jobs: readonly JobRow[]): Write<void> {
  const now = yield* readClock()
  yield* sql.runEach(
    `UPDATE jobs SET stage = 'nodes_generated', error = NULL, updated_at = ?
     WHERE tenant = ? AND id = ? AND stage = 'queued' AND claimed_by = ? AND fence = ?`,
    jobs.map(({ tenant, id, claimed_by, fence }) => [now, tenant, id, claimed_by, fence]),
  )
}
