import { parsePolicies, removeUnreferenced } from '../../library/index.js'
import { failExpiredCommit, moveCommit } from '../../store/rows/staged-commits.js'
import { NOTHING_REMOVED, type RemovalSlice } from '../../store/slices.js'
import { type ExpiredCommit, listExpiredCommits } from '../rows/retention/ended-work.js'
import { DAY_MS, type RetentionScope } from './slice.js'

/**
 * Collects failed and canceled commits past the manifest's `failedCommitRetentionDays`: the row records the collection,
 * the objects are removed, then the row records the end. After a crash in between the next run continues.
 */
export async function collectFailedCommits(scope: RetentionScope): Promise<RemovalSlice> {
  const { context, space, now, batchRows, signal } = scope
  const { db } = context
  if (context.objects.isPinned()) return NOTHING_REMOVED
  const retentionMs = parsePolicies(space).retentionPolicy.failedCommitRetentionDays * DAY_MS
  const rows = await db.read(listExpiredCommits(space.key, retentionMs, now, batchRows))
  if (rows.length === 0) return NOTHING_REMOVED
  await db.write(function* () {
    for (const { id, status } of rows) {
      if (status === 'failed-retryable') yield* failExpiredCommit(id, now)
      else if (status !== 'gc-pending') yield* moveCommit(id, status, 'gc-pending')
    }
  })
  const collecting = rows.filter(({ status }) => status !== 'failed-retryable')
  for (const row of collecting) {
    if (signal.aborted) return NOTHING_REMOVED
    await removeObjects(scope, row)
  }
  await db.write(function* () {
    for (const { id } of collecting) yield* moveCommit(id, 'gc-pending', 'gc-complete')
  })
  return { removed: collecting.length, more: rows.length === batchRows }
}

/**
 * Removes bytes without other references: those of an ended upload, and its object unless documents that the database
 * does not know may need it.
 */
async function removeObjects({ context, space }: RetentionScope, row: ExpiredCommit): Promise<void> {
  if (row.raw_object_key !== null) await context.objects.discard(row.id)
  const key = row.published_object_key
  if (key !== null && context.identity.keepUnknownReason() === undefined)
    await removeUnreferenced(context, space.tenant, [key])
}
