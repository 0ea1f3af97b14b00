import { removeUnreferenced } from '../objects/remove.js'
import { type ExpiredCommit, expiredCommits } from '../rows/retention/ended-work.js'
import { giveUpExpired, moveCommit } from '../rows/staged-commits.js'
import { policiesOf } from '../spaces/manifest.js'
import { NOTHING, type Slice } from '../storage/slices.js'
import type { Scope } from './slice.js'

const DAY = 24 * 60 * 60 * 1000

/**
 * Collects failed and canceled commits past the manifest's `failedCommitRetentionDays`: the row records the collection,
 * the objects are removed, then the row records the end. After a crash in between the next run continues.
 */
export async function failedCommits(scope: Scope): Promise<Slice> {
  const { context, space, now, batchRows, signal } = scope
  const { db } = context
  if (context.objects.isPinned()) return NOTHING
  const kept = policiesOf(space).retentionPolicy.failedCommitRetentionDays * DAY
  const rows = await db.read(expiredCommits(space.key, kept, now, batchRows))
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
 * Removes bytes without other references: those of an ended upload, and its object unless documents that the database
 * does not know may need it.
 */
async function removeObjects({ context, space }: Scope, row: ExpiredCommit): Promise<void> {
  if (row.raw_object_key !== null) await context.objects.discard(row.id)
  const key = row.published_object_key
  if (key !== null && context.identity.doubt() === undefined) await removeUnreferenced(context, space.tenant, [key])
}
