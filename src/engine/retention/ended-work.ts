import { setImmediate as turn } from 'node:timers/promises'
import { sql } from '../storage/program.js'
import { inOneWrite, type Slice } from '../storage/slices.js'
import type { Scope } from './slice.js'

const DAY = 24 * 60 * 60 * 1000
/** Somebody who was told to look at a job does so within days; as long as answer traces are kept by default. */
const KEPT_MS = 90 * DAY

/** Bulk jobs whose items ended long ago. */
export async function endedBulkJobs({ context: { db }, space, now, batchRows }: Scope): Promise<Slice> {
  const before = now - KEPT_MS
  const rows = db.now(
    sql.all<{ id: string }>(
      `SELECT id FROM bulk_jobs WHERE space_key = ? AND created_at < ?
       AND NOT EXISTS (SELECT 1 FROM bulk_items JOIN jobs ON jobs.id = bulk_items.job_id
                       WHERE bulk_id = bulk_jobs.id AND (completed_at IS NULL OR completed_at >= ?))
     ORDER BY created_at LIMIT ?`,
      [space.key, before, before, batchRows],
    ),
  )
  return inOneWrite(db, rows, batchRows, ({ id }) => {
    db.now(sql.run('DELETE FROM bulk_items WHERE bulk_id = ?', [id]))
    db.now(sql.run('DELETE FROM bulk_jobs WHERE id = ?', [id]))
  })
}

/**
 * Compilation jobs that ended long ago, with what their commits went through. The newest job of a document that is
 * still there stays, since it says how the document came to be as it is; so does a job that a bulk job counts, and one
 * whose failed commit has yet to be collected.
 */
export async function endedJobs({ context: { db }, space, now, batchRows, signal }: Scope): Promise<Slice> {
  let after = { completed_at: 0, key: 0 }
  let removed = 0
  while (!signal.aborted) {
    // most of what is old stays: a page is looked at, and not all of them until enough are found that go
    const page = db.now(
      sql.all<{ key: number; id: string; completed_at: number; ends: number }>(
        `SELECT key, id, completed_at,
         NOT EXISTS (SELECT 1 FROM documents WHERE documents.key = jobs.doc_key AND deleted_at IS NULL
                     AND NOT EXISTS (SELECT 1 FROM jobs newer WHERE newer.doc_key = jobs.doc_key
                                     AND (newer.version, newer.key) > (jobs.version, jobs.key)))
         AND NOT EXISTS (SELECT 1 FROM bulk_items WHERE bulk_items.job_id = jobs.id)
         AND NOT EXISTS (SELECT 1 FROM staged_commits WHERE staged_commits.job_id = jobs.id
                         AND status NOT IN ('published', 'gc-complete')) ends
       FROM jobs INDEXED BY jobs_ended
       WHERE space_key = ? AND (completed_at, key) > (?, ?) AND completed_at < ? ORDER BY completed_at, key LIMIT ?`,
        [space.key, after.completed_at, after.key, now - KEPT_MS, batchRows],
      ),
    )
    const rows = page.filter(({ ends }) => ends === 1)
    if (rows.length > 0)
      removed += (
        await inOneWrite(db, rows, batchRows, ({ key, id }) => {
          db.now(sql.run('DELETE FROM staged_commits WHERE job_id = ?', [id]))
          db.now(sql.run('DELETE FROM jobs WHERE key = ?', [key]))
        })
      ).removed
    const last = page.at(-1)
    if (last === undefined || page.length < batchRows) break
    after = last
    await turn()
  }
  return { removed, more: removed > 0 }
}

/** Commits without a job, of uploads that failed or brought nothing new, long after they were collected. */
export async function collectedCommits({ context: { db }, space, now, batchRows }: Scope): Promise<Slice> {
  const rows = db.now(
    sql.all<{ id: string }>(
      `SELECT id FROM staged_commits WHERE space_key = ? AND status = 'gc-complete' AND job_id IS NULL AND updated_at < ?
     LIMIT ?`,
      [space.key, now - KEPT_MS, batchRows],
    ),
  )
  return inOneWrite(db, rows, batchRows, ({ id }) => db.now(sql.run('DELETE FROM staged_commits WHERE id = ?', [id])))
}
