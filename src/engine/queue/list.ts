import type { ListedJob } from '../../contract/gateway/jobs.js'
import { LIMITS } from '../../contract/limits.js'
import type { Caller } from '../base/caller.js'
import { decodeCursor, encodeCursor, filterHash } from '../base/cursor.js'
import type { Page, PageRequest } from '../base/page.js'
import { type JobRow, toJob } from '../rows/jobs.js'
import { askerOf, mayKnow } from '../rows/permissions.js'
import { findSpace } from '../rows/spaces.js'
import type { Database } from '../storage/database.js'
import { type Read, sql } from '../storage/program.js'
import { readablePage } from '../storage/readable.js'

export interface JobFilter {
  /** `open`: on its way; `failed`: the newest job of its document, ended without a publication */
  state?: 'open' | 'failed' | undefined
}

const STATES = {
  open: 'AND jobs.completed_at IS NULL',
  failed: `AND jobs.stage IN ('failed', 'canceled') AND NOT EXISTS (
    SELECT 1 FROM jobs newer WHERE newer.doc_key = jobs.doc_key AND (newer.version, newer.key) > (jobs.version, jobs.key))`,
}

/** Jobs of documents that the caller may know of, newest first. */
export function* listJobs(
  db: Database,
  caller: Caller,
  spaceId: string,
  { state, ...page }: PageRequest & JobFilter,
): Read<Page<ListedJob>> {
  const space = yield* findSpace(caller.tenant, spaceId)
  const filter = filterHash('jobs', space.id, state ?? '')
  const before =
    page.cursor === undefined ? Number.MAX_SAFE_INTEGER : Number(decodeCursor(page.cursor, filter).after[0] ?? 0)
  const limit = Math.min(page.limit, LIMITS.page.cap)
  const rows = yield* sql.all<JobRow & { filename: string }>(
    `SELECT jobs.*, documents.filename FROM jobs INDEXED BY ${state === 'open' ? 'jobs_open' : 'jobs_listed'}
     CROSS JOIN documents ON documents.key = jobs.doc_key AND documents.deleted_at IS NULL
     WHERE jobs.space_key = ? AND jobs.key < ? ${state === undefined ? '' : STATES[state]} AND ${mayKnow('documents.source_id')}
     ORDER BY jobs.key DESC LIMIT ?`,
    [space.key, before, askerOf(caller), limit + 1],
  )
  return readablePage(
    rows,
    limit,
    (row) => db.now(toListed(row)),
    ({ key }) => encodeCursor({ after: [key] }, filter),
  )
}

function* toListed(row: JobRow & { filename: string }): Read<ListedJob> {
  return {
    ...(yield* toJob(row)),
    filename: row.filename,
    attempts: row.attempts,
    ...(row.completed_at === null && row.run_after > 0 ? { retryAt: row.run_after } : {}),
    ...(row.completed_at === null && row.waiting_since !== null ? { waitingSince: row.waiting_since } : {}),
  }
}
