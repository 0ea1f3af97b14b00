import { setImmediate as turn } from 'node:timers/promises'
import {
  listBulkJobsEndedBefore,
  listCommitsCollectedBefore,
  listJobsEndedBefore,
  removeBulkJob,
  removeCommit,
  removeJob,
} from '../rows/retention/ended-work.js'
import { type RemovalSlice, removeInOneWrite } from '../storage/slices.js'
import type { RetentionScope } from './slice.js'

const DAY_MS = 24 * 60 * 60 * 1000
/** clients look at a job within days; as long as answer traces are stored by default */
const RETENTION_MS = 90 * DAY_MS

/** Removes bulk jobs whose items ended long ago. */
export async function removeEndedBulkJobs({
  context: { db },
  space,
  now,
  batchRows,
}: RetentionScope): Promise<RemovalSlice> {
  const rows = await db.read(listBulkJobsEndedBefore(space.key, now - RETENTION_MS, batchRows))
  return removeInOneWrite(db, rows, batchRows, removeBulkJob)
}

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
  let after = { completed_at: 0, key: 0 }
  let removed = 0
  while (!signal.aborted) {
    // most old jobs stay: search one page at a time, instead of all pages until a full batch is found
    const page = await db.read(listJobsEndedBefore(space.key, now - RETENTION_MS, after, batchRows))
    const rows = page.filter(({ ends }) => ends === 1)
    if (rows.length > 0) removed += (await removeInOneWrite(db, rows, batchRows, removeJob)).removed
    const last = page.at(-1)
    if (last === undefined || page.length < batchRows) break
    after = last
    await turn()
  }
  return { removed, more: removed > 0 }
}

/** Removes commits without a job, of uploads that failed or changed nothing, long after they were collected. */
export async function removeCollectedCommits({
  context: { db },
  space,
  now,
  batchRows,
}: RetentionScope): Promise<RemovalSlice> {
  const rows = await db.read(listCommitsCollectedBefore(space.key, now - RETENTION_MS, batchRows))
  return removeInOneWrite(db, rows, batchRows, removeCommit)
}
