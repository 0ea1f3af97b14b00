import { type Read, readClock, sql, type Write } from '../program.js'
import { OF_LOST_GATEWAYS } from './gateways.js'
import { type JobClaim, type JobRow, moveJob } from './jobs.js'
import { type Reader, sqlCanRead, toReaderParameter } from './permissions.js'
import { resumeCommits } from './staged-commits.js'

/**
 * The times between which a job's due time is in the future: one deferred further than the longest delay is due, too.
 */
export interface DueWindow {
  now: number
  /** now plus the longest delay */
  latest: number
}

const IS_DUE = '(run_after <= ? OR run_after > ?)'

/** The first space after a key that has a claimable job. @param excluded keys of spaces without capacity */
export function* findDueSpaceAfter(
  after: number,
  { now, latest }: DueWindow,
  excluded: readonly number[],
): Read<number | undefined> {
  return (yield* sql.get<{ space_key: number }>(
    `SELECT space_key FROM jobs WHERE completed_at IS NULL AND claimed_by IS NULL AND space_key > ? AND ${IS_DUE}
           AND space_key NOT IN (SELECT value FROM json_each(?))
         ORDER BY space_key LIMIT 1`,
    [after, now, latest, JSON.stringify(excluded)],
  ))?.space_key
}

/** Claimable jobs of a space, the longest due first. */
export function* listDueJobs(spaceKey: number, { now, latest }: DueWindow, limit: number): Read<JobRow[]> {
  return yield* sql.all<JobRow>(
    `SELECT * FROM jobs WHERE space_key = ? AND completed_at IS NULL AND claimed_by IS NULL AND ${IS_DUE}
     ORDER BY run_after, key LIMIT ?`,
    [spaceKey, now, latest, limit],
  )
}

/** Number of due and unclaimed jobs of a space, counted up to `maxCount`. */
export function* countDueJobs(spaceKey: number, maxCount: number): Read<number> {
  const now = yield* readClock()
  const dueJobs = `SELECT 1 FROM jobs WHERE space_key = ? AND completed_at IS NULL AND claimed_by IS NULL
    AND run_after <= ? LIMIT ?`
  return (
    (yield* sql.get<{ n: number }>(`SELECT count(*) n FROM (${dueJobs}) waiting`, [spaceKey, now, maxCount]))?.n ?? 0
  )
}

/** claimed, and not yet stored: a stored job waits for its publication, and counts for no quota */
const IS_COMPILING = "claimed_by IS NOT NULL AND stage = 'queued'"

/** Number of compiling jobs at all gateways, by space key; without spaces that have none. */
export function* countCompilingJobsBySpace(): Read<Map<number, number>> {
  const rows = yield* sql.all<{ space_key: number; n: number }>(
    `SELECT space_key, count(*) n FROM jobs INDEXED BY jobs_claimed WHERE ${IS_COMPILING} GROUP BY space_key`,
  )
  return new Map(rows.map(({ space_key, n }) => [space_key, n]))
}

/** Number of compiling jobs of a space at all gateways. */
export function* countCompilingJobs(spaceKey: number): Read<number> {
  const text = `SELECT count(*) n FROM jobs INDEXED BY jobs_claimed WHERE space_key = ? AND ${IS_COMPILING}`
  return yield* sql.count(text, [spaceKey])
}

/**
 * Claims jobs for a gateway. @returns those that it has now: others may have ended, or been claimed, since they were
 * read
 */
export function* claimJobs(jobs: readonly JobRow[], gateway: string): Write<JobRow[]> {
  const claimed = yield* sql.returning<JobRow>(
    `UPDATE jobs SET claimed_by = ?, claimed_at = ?, fence = fence + 1
     WHERE key IN (SELECT value FROM json_each(?)) AND claimed_by IS NULL AND completed_at IS NULL RETURNING *`,
    [gateway, yield* readClock(), JSON.stringify(jobs.map(({ key }) => key))],
  )
  if (claimed.length > 0) yield* resumeCommits(claimed.map(({ id }) => id))
  return claimed
}

const IS_STILL_CLAIMED = `claimed_by = ? AND completed_at IS NULL AND (key, fence) IN
  (SELECT CAST(value ->> 0 AS INTEGER), CAST(value ->> 1 AS INTEGER) FROM json_each(?))`

function toClaimPairs(claims: readonly JobClaim[]): string {
  return JSON.stringify(claims.map(({ key, fence }) => [key, fence]))
}

/** Number of these claims of a gateway that are still valid. */
export function* countValidClaims(gateway: string, claims: readonly JobClaim[]): Read<number> {
  return yield* sql.count(`SELECT count(*) n FROM jobs WHERE ${IS_STILL_CLAIMED}`, [gateway, toClaimPairs(claims)])
}

/** Releases all of these claims. */
export function* releaseClaims(gateway: string, claims: readonly JobClaim[]): Write<void> {
  yield* sql.run(`UPDATE jobs SET claimed_by = NULL WHERE ${IS_STILL_CLAIMED}`, [gateway, toClaimPairs(claims)])
}

/** Releases a claim. @param runAfter when the job is due again @returns whether the claim was still valid */
export function* releaseJob({ key, claimed_by, fence }: JobClaim, runAfter: number): Write<boolean> {
  const { changes } = yield* sql.run(
    `UPDATE jobs SET claimed_by = NULL, run_after = ?
     WHERE key = ? AND claimed_by = ? AND fence = ? AND completed_at IS NULL`,
    [runAfter, key, claimed_by, fence],
  )
  return changes === 1
}

/** A document of a space that is being compiled. */
export interface CompilingDocument {
  job: string
  document: string
  version: number
  fence: number
  claimed_at: number
  /** last heartbeat of its gateway */
  beat_at: number | null
}

/** The documents of a space that gateways have claimed for compilation. */
export function* listCompilingDocuments(spaceKey: number): Read<CompilingDocument[]> {
  return yield* sql.all<CompilingDocument>(
    `SELECT jobs.id job, documents.id document, jobs.version, jobs.fence, coalesce(jobs.claimed_at, jobs.updated_at) claimed_at,
       gateways.beat_at
     FROM jobs INDEXED BY jobs_claimed JOIN documents ON documents.key = jobs.doc_key
     LEFT JOIN gateways ON gateways.id = jobs.claimed_by
     WHERE jobs.space_key = ? AND jobs.claimed_by IS NOT NULL ORDER BY jobs.key`,
    [spaceKey],
  )
}

/**
 * Records why a job did not end. @param isTemporary whether it waits for a temporary problem, which counts as no
 * attempt
 */
export function* recordJobFailure(key: number, message: string, isTemporary: boolean, now: number): Write<void> {
  yield* sql.run(
    `UPDATE jobs SET error = ?, attempts = attempts + ?, waits = CASE WHEN ? THEN waits + 1 ELSE 0 END,
             waiting_since = CASE WHEN ? THEN coalesce(waiting_since, ?) END WHERE key = ? AND completed_at IS NULL`,
    [message, isTemporary ? 0 : 1, isTemporary ? 1 : 0, isTemporary ? 1 : 0, now, key],
  )
}

/** Moves a job back to its first stage. @returns whether it had not ended */
export function* requeueJob(key: number): Write<boolean> {
  return (
    (yield* sql.run("UPDATE jobs SET stage = 'queued', updated_at = ? WHERE key = ? AND completed_at IS NULL", [
      yield* readClock(),
      key,
    ])).changes > 0
  )
}

/** Makes deferred jobs due now. */
export function* makeJobsDue(keys: readonly number[]): Write<void> {
  yield* sql.runEach(
    'UPDATE jobs SET run_after = 0 WHERE key = ? AND completed_at IS NULL',
    keys.map((key) => [key]),
  )
}

/** Defers unclaimed jobs. @param until when they are due */
export function* deferJobs(keys: readonly number[], until: number): Write<void> {
  yield* sql.runEach(
    'UPDATE jobs SET run_after = ? WHERE key = ? AND completed_at IS NULL AND claimed_by IS NULL',
    keys.map((key) => [until, key]),
  )
}

/** Deferred jobs of a space, of documents that the reader may read. */
export function* listDeferredJobs(reader: Reader, spaceKey: number): Read<JobRow[]> {
  return yield* sql.all<JobRow>(
    `SELECT * FROM jobs WHERE space_key = ? AND completed_at IS NULL AND run_after > 0 AND claimed_by IS NULL
         AND ${sqlCanRead('jobs.source_id')}`,
    [spaceKey, toReaderParameter(reader)],
  )
}

/**
 * Ends jobs whose nodes are in the index as published, inside the transaction that publishes their versions: no reader
 * sees the stages between. Stores of earlier releases may contain a job that crashed in such a stage.
 *
 * @returns false for a job that has ended, or is claimed by another gateway
 */
export function* publishJobs(jobs: readonly JobRow[]): Write<boolean[]> {
  const now = yield* readClock()
  const changes = yield* sql.runEach(
    `UPDATE jobs SET stage = 'published', error = NULL, updated_at = ?, completed_at = ?, claimed_by = NULL
     WHERE tenant = ? AND id = ? AND stage IN ('nodes_generated', 'projection_built', 'smoke_eval_passed')
       AND claimed_by = ? AND fence = ?`,
    jobs.map(({ tenant, id, claimed_by, fence }) => [now, now, tenant, id, claimed_by, fence]),
  )
  return changes.map((changeCount) => changeCount === 1)
}

/** Releases jobs of lost gateways, and counts an unclean end for each. @returns them */
export function* releaseOrphanedJobs(): Write<JobRow[]> {
  return yield* sql.returning<JobRow>(
    `UPDATE jobs INDEXED BY jobs_claimed SET claimed_by = NULL, unclean_ends = unclean_ends + 1
     WHERE claimed_by IS NOT NULL AND completed_at IS NULL AND ${OF_LOST_GATEWAYS} RETURNING *`,
  )
}

/** Ends a job that was running at too many crashes, and marks its document as failed. */
export function* failCrashLoopingJob(
  { id, stage, doc_key }: JobRow,
  failure: { code: string; message: string },
): Write<void> {
  yield* sql.run(
    `UPDATE documents SET parser_status = 'failed', error_code = ?, error = ?, updated_at = ?
     WHERE parser_status = 'pending' AND key = ?`,
    [failure.code, failure.message, yield* readClock(), doc_key],
  )
  yield* moveJob(id, stage, 'failed', { error: failure.message })
}
