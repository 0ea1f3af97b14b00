import { type Read, sql, type Write } from '../storage/program.js'
import { type JobRow, moveJob } from './jobs.js'
import { askerOf, mayKnow, type Reader } from './permissions.js'
import { resumeCommit } from './staged-commits.js'

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

/** Claims a job. @returns whether it is this claim that holds it; it may have ended since it was looked up */
export function* claimJob({ key, id }: JobRow, instance: string): Write<boolean> {
  const { changes } = yield* sql.run(
    'UPDATE jobs SET claimed_by = ? WHERE key = ? AND claimed_by IS NULL AND completed_at IS NULL',
    [instance, key],
  )
  if (changes === 0) return false
  yield* resumeCommit(id)
  return true
}

const LEFT = 'claimed_by = ? AND completed_at IS NULL AND key IN (SELECT value FROM json_each(?))'

/** How many of these jobs are still claimed. */
export function* countClaimed(instance: string, keys: readonly number[]): Read<number> {
  return (
    (yield* sql.get<{ n: number }>(`SELECT count(*) n FROM jobs WHERE ${LEFT}`, [instance, JSON.stringify(keys)]))?.n ??
    0
  )
}

/** Gives up all claims of these jobs. */
export function* dropClaims(instance: string, keys: readonly number[]): Write<void> {
  yield* sql.run(`UPDATE jobs SET claimed_by = NULL WHERE ${LEFT}`, [instance, JSON.stringify(keys)])
}

/** Gives a claim back. @param runAfter when the job is due again */
export function* giveBack(key: number, runAfter: number): Write<void> {
  yield* sql.run('UPDATE jobs SET claimed_by = NULL, run_after = ? WHERE key = ? AND completed_at IS NULL', [
    runAfter,
    key,
  ])
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

/** Lets a job that waits go on at once. */
export function* goOn(key: number): Write<void> {
  yield* sql.run('UPDATE jobs SET run_after = 0 WHERE key = ? AND completed_at IS NULL', [key])
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
 * Moves a job whose nodes are in the index to `projection_built`; one that a crash caught behind it goes on from there.
 *
 * @returns false for a job that has ended
 */
export function* projectionBuilt(jobId: string): Write<boolean> {
  if (yield* moveJob(jobId, 'nodes_generated', 'projection_built')) return true
  const row = yield* sql.get<{ stage: string }>('SELECT stage FROM jobs WHERE id = ? AND completed_at IS NULL', [jobId])
  if (row?.stage === 'smoke_eval_passed')
    yield* sql.run("UPDATE jobs SET stage = 'projection_built' WHERE id = ?", [jobId])
  return row?.stage === 'projection_built' || row?.stage === 'smoke_eval_passed'
}

/** Work that a dead process had claimed is free again, and has ended uncleanly once more. */
export function* freeOrphans(): Write<void> {
  yield* sql.run(
    'UPDATE jobs SET claimed_by = NULL, unclean_ends = unclean_ends + 1 WHERE claimed_by IS NOT NULL AND completed_at IS NULL',
  )
}

/** Open jobs that were running at so many deaths of their process. */
export function* crashLooping(uncleanEnds: number): Read<JobRow[]> {
  return yield* sql.all<JobRow>('SELECT * FROM jobs WHERE completed_at IS NULL AND unclean_ends >= ?', [uncleanEnds])
}

/** Ends them, and tells their documents. */
export function* failCrashLooping(uncleanEnds: number, failure: { code: string; message: string }): Write<void> {
  const now = Date.now()
  yield* sql.run(
    `UPDATE documents SET parser_status = 'failed', error_code = ?, error = ?, updated_at = ?
       WHERE parser_status = 'pending' AND key IN (SELECT doc_key FROM jobs WHERE completed_at IS NULL AND unclean_ends >= ?)`,
    [failure.code, failure.message, now, uncleanEnds],
  )
  yield* sql.run(
    `UPDATE jobs SET stage = 'failed', error = ?, updated_at = ?, completed_at = ?
       WHERE completed_at IS NULL AND unclean_ends >= ?`,
    [failure.message, now, now, uncleanEnds],
  )
}
