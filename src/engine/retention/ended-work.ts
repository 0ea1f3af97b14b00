import { setImmediate as turn } from 'node:timers/promises'
import {
  bulkJobsEndedBefore,
  commitsCollectedBefore,
  jobsEndedBefore,
  removeBulkJob,
  removeCommit,
  removeJob,
} from '../rows/retention/ended-work.js'
import { inOneWrite, type Slice } from '../storage/slices.js'
import type { Scope } from './slice.js'

const DAY = 24 * 60 * 60 * 1000
/** Somebody who was told to look at a job does so within days; as long as answer traces are kept by default. */
const KEPT_MS = 90 * DAY

/** Bulk jobs whose items ended long ago. */
export async function endedBulkJobs({ context: { db }, space, now, batchRows }: Scope): Promise<Slice> {
  const rows = await db.read(bulkJobsEndedBefore(space.key, now - KEPT_MS, batchRows))
  return inOneWrite(db, rows, batchRows, removeBulkJob)
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
    const page = await db.read(jobsEndedBefore(space.key, now - KEPT_MS, after, batchRows))
    const rows = page.filter(({ ends }) => ends === 1)
    if (rows.length > 0) removed += (await inOneWrite(db, rows, batchRows, removeJob)).removed
    const last = page.at(-1)
    if (last === undefined || page.length < batchRows) break
    after = last
    await turn()
  }
  return { removed, more: removed > 0 }
}

/** Commits without a job, of uploads that failed or brought nothing new, long after they were collected. */
export async function collectedCommits({ context: { db }, space, now, batchRows }: Scope): Promise<Slice> {
  const rows = await db.read(commitsCollectedBefore(space.key, now - KEPT_MS, batchRows))
  return inOneWrite(db, rows, batchRows, removeCommit)
}
