import { removeUnreferenced } from '../documents/delete.js'
import { giveUpExpired, moveCommit } from '../rows/staged-commits.js'
import { policiesOf } from '../spaces/manifest.js'
import { sql } from '../storage/program.js'
import { NOTHING, type Slice } from '../storage/slices.js'
import type { Scope } from './slice.js'

const DAY = 24 * 60 * 60 * 1000

interface ExpiredCommit {
  id: string
  status: 'failed-retryable' | 'failed-terminal' | 'canceled' | 'gc-pending'
  raw_object_key: string | null
  published_object_key: string | null
}

/**
 * Failed and canceled commits past the manifest's `failedCommitRetentionDays`: first the row says that its objects may
 * go, then they go, then the row says so. A crash in between is taken up at the next run.
 */
export async function failedCommits(scope: Scope): Promise<Slice> {
  const { context, space, now, batchRows, signal } = scope
  const { db } = context
  if (context.objects.isPinned()) return NOTHING
  const kept = policiesOf(space).retentionPolicy.failedCommitRetentionDays * DAY
  const rows = db.now(
    sql.all<ExpiredCommit>(
      `SELECT id, status, raw_object_key, published_object_key FROM staged_commits
     WHERE space_key = ? AND (status = 'gc-pending'
       OR status IN ('failed-terminal', 'canceled') AND coalesce(expires_at, updated_at + ?) < ?
       OR status = 'failed-retryable' AND expires_at < ?
          AND NOT EXISTS (SELECT 1 FROM jobs WHERE jobs.id = staged_commits.job_id AND completed_at IS NULL))
     LIMIT ?`,
      [space.key, kept, now, now, batchRows],
    ),
  )
  if (rows.length === 0) return NOTHING
  await db.write(function* () {
    for (const { id, status } of rows) {
      if (status === 'failed-retryable') yield* giveUpExpired(id, now)
      else if (status !== 'gc-pending') yield* moveCommit(id, status, 'gc-pending')
    }
  })
  const collecting = rows.filter(({ status }) => status !== 'failed-retryable')
  for (const row of collecting) {
    if (signal.aborted) return NOTHING
    await removeObjects(scope, row)
  }
  await db.write(function* () {
    for (const { id } of collecting) yield* moveCommit(id, 'gc-pending', 'gc-complete')
  })
  return { removed: collecting.length, more: rows.length === batchRows }
}

/**
 * Bytes that nothing else names: those of an upload that ended, and those it would have become unless documents that the
 * database does not know may need them.
 */
async function removeObjects({ context }: Scope, row: ExpiredCommit): Promise<void> {
  if (row.raw_object_key !== null) await context.objects.discard(row.id)
  const key = row.published_object_key
  if (key !== null && context.identity.doubt() === undefined) await removeUnreferenced(context, key)
}
