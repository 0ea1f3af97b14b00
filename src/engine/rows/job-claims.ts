import { type Read, sql, type Write } from '../storage/program.js'
import { OF_THE_GONE } from './gateways.js'
import { type JobClaim, type JobRow, moveJob } from './jobs.js'
import { askerOf, mayKnow, type Reader } from './permissions.js'
import { resumeCommits } from './staged-commits.js'

/** When jobs are due: now, unless they are put off; one that is put off beyond the longest pause is due, too. */
export interface DueAt {
  now: number
  /** now with the longest pause */
  latest: number
}

const DUE = '(run_after <= ? OR run_after > ?)'

/** The first space behind a key that has a job to be claimed. @param without keys of spaces that have no room */
export function* spaceDueAfter(
  after: number,
  { now, latest }: DueAt,
  without: readonly number[],
): Read<number | undefined> {
  return (yield* sql.get<{ space_key: number }>(
    `SELECT space_key FROM jobs WHERE completed_at IS NULL AND claimed_by IS NULL AND space_key > ? AND ${DUE}
           AND space_key NOT IN (SELECT value FROM json_each(?))
         ORDER BY space_key LIMIT 1`,
    [after, now, latest, JSON.stringify(without)],
  ))?.space_key
}

/** Jobs of a space that can be claimed, the longest due first. */
export function* jobsDue(spaceKey: number, { now, latest }: DueAt, most: number): Read<JobRow[]> {
  return yield* sql.all<JobRow>(
    `SELECT * FROM jobs WHERE space_key = ? AND completed_at IS NULL AND claimed_by IS NULL AND ${DUE}
     ORDER BY run_after, key LIMIT ?`,
    [spaceKey, now, latest, most],
  )
}

/** How many jobs of a space are due and claimed by nobody yet, counted up to a number. */
export function* countWaiting(spaceKey: number, most: number, now = Date.now()): Read<number> {
  const waiting = `SELECT 1 FROM jobs WHERE space_key = ? AND completed_at IS NULL AND claimed_by IS NULL
    AND run_after <= ? LIMIT ?`
  return (yield* sql.get<{ n: number }>(`SELECT count(*) n FROM (${waiting}) waiting`, [spaceKey, now, most]))?.n ?? 0
}

/** Claimed, and not yet stored: what is stored waits for its publication, and counts for no quota. */
const COMPILED_NOW = "claimed_by IS NOT NULL AND stage = 'queued'"

/** How many jobs of spaces are being compiled, by whatever gateway: of spaces that have any, by their keys. */
export function* compiledOfSpaces(): Read<Map<number, number>> {
  const rows = yield* sql.all<{ space_key: number; n: number }>(
    `SELECT space_key, count(*) n FROM jobs INDEXED BY jobs_claimed WHERE ${COMPILED_NOW} GROUP BY space_key`,
  )
  return new Map(rows.map(({ space_key, n }) => [space_key, n]))
}

/** How many jobs of a space are being compiled, by whatever gateway. */
export function* compiledOf(spaceKey: number): Read<number> {
  const text = `SELECT count(*) n FROM jobs INDEXED BY jobs_claimed WHERE space_key = ? AND ${COMPILED_NOW}`
  return (yield* sql.get<{ n: number }>(text, [spaceKey]))?.n ?? 0
}

/** Claims jobs for a gateway. @returns those that it holds now: they may have ended, or been claimed, since they were looked up */
export function* claimJobs(jobs: readonly JobRow[], gateway: string): Write<JobRow[]> {
  const claimed = yield* sql.returning<JobRow>(
    `UPDATE jobs SET claimed_by = ?, claimed_at = ?, fence = fence + 1
     WHERE key IN (SELECT value FROM json_each(?)) AND claimed_by IS NULL AND completed_at IS NULL RETURNING *`,
    [gateway, Date.now(), JSON.stringify(jobs.map(({ key }) => key))],
  )
  if (claimed.length > 0) yield* resumeCommits(claimed.map(({ id }) => id))
  return claimed
}

const LEFT = `claimed_by = ? AND completed_at IS NULL AND (key, fence) IN
  (SELECT CAST(value ->> 0 AS INTEGER), CAST(value ->> 1 AS INTEGER) FROM json_each(?))`

function pairs(claims: readonly JobClaim[]): string {
  return JSON.stringify(claims.map(({ key, fence }) => [key, fence]))
}

/** How many of these claims of a gateway still hold. */
export function* countClaimed(gateway: string, claims: readonly JobClaim[]): Read<number> {
  return (yield* sql.get<{ n: number }>(`SELECT count(*) n FROM jobs WHERE ${LEFT}`, [gateway, pairs(claims)]))?.n ?? 0
}

/** Gives up all of these claims. */
export function* dropClaims(gateway: string, claims: readonly JobClaim[]): Write<void> {
  yield* sql.run(`UPDATE jobs SET claimed_by = NULL WHERE ${LEFT}`, [gateway, pairs(claims)])
}

/** Gives a claim back. @param runAfter when the job is due again @returns whether it still held */
export function* giveBack({ key, claimed_by, fence }: JobClaim, runAfter: number): Write<boolean> {
  const { changes } = yield* sql.run(
    `UPDATE jobs SET claimed_by = NULL, run_after = ?
     WHERE key = ? AND claimed_by = ? AND fence = ? AND completed_at IS NULL`,
    [runAfter, key, claimed_by, fence],
  )
  return changes === 1
}

/** A document of a space that is being compiled. */
export interface HeldDocument {
  job: string
  document: string
  version: number
  fence: number
  claimed_at: number
  /** of its gateway */
  beat_at: number | null
}

/** The documents of a space that gateways have claimed for their compilation. */
export function* heldDocuments(spaceKey: number): Read<HeldDocument[]> {
  return yield* sql.all<HeldDocument>(
    `SELECT jobs.id job, documents.id document, jobs.version, jobs.fence, coalesce(jobs.claimed_at, jobs.updated_at) claimed_at,
       gateways.beat_at
     FROM jobs INDEXED BY jobs_claimed JOIN documents ON documents.key = jobs.doc_key
     LEFT JOIN gateways ON gateways.id = jobs.claimed_by
     WHERE jobs.space_key = ? AND jobs.claimed_by IS NOT NULL ORDER BY jobs.key`,
    [spaceKey],
  )
}

/** Notes why a job did not end. @param passes whether it waits for what passes by itself, which counts as no try */
export function* noteFailure(key: number, message: string, passes: boolean, now: number): Write<void> {
  yield* sql.run(
    `UPDATE jobs SET error = ?, attempts = attempts + ?, waits = CASE WHEN ? THEN waits + 1 ELSE 0 END,
             waiting_since = CASE WHEN ? THEN coalesce(waiting_since, ?) END WHERE key = ? AND completed_at IS NULL`,
    [message, passes ? 0 : 1, passes ? 1 : 0, passes ? 1 : 0, now, key],
  )
}

/** Puts a job back to its beginning. @returns whether it had not ended */
export function* requeue(key: number): Write<boolean> {
  return (
    (yield* sql.run("UPDATE jobs SET stage = 'queued', updated_at = ? WHERE key = ? AND completed_at IS NULL", [
      Date.now(),
      key,
    ])).changes > 0
  )
}

/** Lets jobs that wait go on at once. */
export function* goOn(keys: readonly number[]): Write<void> {
  yield* sql.runEach(
    'UPDATE jobs SET run_after = 0 WHERE key = ? AND completed_at IS NULL',
    keys.map((key) => [key]),
  )
}

/** Puts jobs off that nobody has claimed. @param until when they are due */
export function* putOff(keys: readonly number[], until: number): Write<void> {
  yield* sql.runEach(
    'UPDATE jobs SET run_after = ? WHERE key = ? AND completed_at IS NULL AND claimed_by IS NULL',
    keys.map((key) => [until, key]),
  )
}

/** Jobs of a space that wait to be tried again, of those that the reader may know of. */
export function* jobsPutOff(reader: Reader, spaceKey: number): Read<JobRow[]> {
  return yield* sql.all<JobRow>(
    `SELECT * FROM jobs WHERE space_key = ? AND completed_at IS NULL AND run_after > 0 AND claimed_by IS NULL
         AND ${mayKnow('jobs.source_id')}`,
    [spaceKey, askerOf(reader)],
  )
}

/**
 * Ends jobs whose nodes are in the index as published, inside the transaction that publishes their versions: nobody sees the
 * stages between. Stores of earlier releases may hold one that a crash caught at such a stage.
 *
 * @returns false for a job that has ended, or that others hold
 */
export function* publishJobs(jobs: readonly JobRow[]): Write<boolean[]> {
  const now = Date.now()
  const changes = yield* sql.runEach(
    `UPDATE jobs SET stage = 'published', error = NULL, updated_at = ?, completed_at = ?, claimed_by = NULL
     WHERE tenant = ? AND id = ? AND stage IN ('nodes_generated', 'projection_built', 'smoke_eval_passed')
       AND claimed_by = ? AND fence = ?`,
    jobs.map(({ tenant, id, claimed_by, fence }) => [now, now, tenant, id, claimed_by, fence]),
  )
  return changes.map((one) => one === 1)
}

/** Jobs that gateways had claimed which are gone are free again, and have ended uncleanly once more. @returns them */
export function* freeOrphans(): Write<JobRow[]> {
  return yield* sql.returning<JobRow>(
    `UPDATE jobs INDEXED BY jobs_claimed SET claimed_by = NULL, unclean_ends = unclean_ends + 1
     WHERE claimed_by IS NOT NULL AND completed_at IS NULL AND ${OF_THE_GONE} RETURNING *`,
  )
}

/** Ends a job that was running at too many deaths of its process, and tells its document. */
export function* failCrashLooping(
  { id, stage, doc_key }: JobRow,
  failure: { code: string; message: string },
): Write<void> {
  yield* sql.run(
    `UPDATE documents SET parser_status = 'failed', error_code = ?, error = ?, updated_at = ?
     WHERE parser_status = 'pending' AND key = ?`,
    [failure.code, failure.message, Date.now(), doc_key],
  )
  yield* moveJob(id, stage, 'failed', { error: failure.message })
}
