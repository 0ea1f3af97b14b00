import { setImmediate as turn } from 'node:timers/promises'
import { type RemovalSlice, removeInOneWrite } from '../../store/slices.js'
import { listJobsEndedBefore, removeJob } from '../rows/retention/ended-work.js'
import { getCutoff, type RetentionScope } from './slice.js'

/** clients look at a job within days; as long as answer traces are stored by default */
export const ENDED_WORK_DAYS = 90

/**
 * Removes compilation jobs that ended long ago, with their commits. The newest job of an existing document stays, since
 * it explains the document's state; so do jobs that a bulk job counts, and those whose failed commit is not collected
 * yet.
 */
export async function removeEndedJobs({
  context: { db },
  space,
  now,
  batchRows,
  signal,
}: RetentionScope): Promise<RemovalSlice> {
  const before = getCutoff(now, ENDED_WORK_DAYS)
  let after = { completed_at: 0, key: 0 }
  let removed = 0
  while (!signal.aborted) {
    // most old jobs stay: search one page at a time, instead of all pages until a full batch is found
    const page = await db.read(listJobsEndedBefore(space.key, before, after, batchRows))
    const rows = page.filter(({ ends }) => ends === 1)
    if (rows.length > 0) removed += (await removeInOneWrite(db, rows, batchRows, removeJob)).removed
    const last = page.at(-1)
    if (last === undefined || page.length < batchRows) break
    after = last
    await turn()
  }
  return { removed, more: removed > 0 }
}
