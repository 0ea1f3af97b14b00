import type { ListedJob } from '../../../contract/gateway/jobs.js'
import { LIMITS } from '../../../contract/limits.js'
import { omitUndefined } from '../../../lib/omit-undefined.js'
import type { Caller } from '../../base/caller.js'
import { decodeCursor, encodeCursor, hashFilter } from '../../base/cursor.js'
import type { Page, PageRequest } from '../../base/page.js'
import type { Read } from '../../store/program.js'
import { readablePage } from '../../store/readable.js'
import { type ListedJobRow, listJobsBefore, toCompilationJob } from '../../store/rows/jobs.js'
import { findSpace } from '../../store/rows/spaces.js'
import type { EngineContext } from '../context.js'

export interface JobFilter {
  /**
   * `open`: not ended; `failed`: the newest job of its document, ended without a publication; `reading`: its file is
   * being parsed
   */
  state?: 'open' | 'failed' | 'reading' | undefined
}

/**
 * Jobs of documents that the caller may read, newest first. @param reading progress of the files that are parsed here,
 * by job id
 */
export function* listJobs(
  { reading }: Pick<EngineContext, 'reading'>,
  caller: Caller,
  spaceId: string,
  { state, ...page }: PageRequest & JobFilter,
): Read<Page<ListedJob>> {
  const space = yield* findSpace(caller.tenant, spaceId)
  const filter = hashFilter('jobs', space.id, state ?? '')
  const before =
    page.cursor === undefined ? Number.MAX_SAFE_INTEGER : Number(decodeCursor(page.cursor, filter).after[0] ?? 0)
  const limit = Math.min(page.limit, LIMITS.page.cap)
  const rows = yield* listJobsBefore(caller, space.key, state, { before, limit: limit + 1 })
  return readablePage(
    rows,
    limit,
    (row) => ({ ...toListed(row, space.id), ...omitUndefined({ progress: reading.get(row.id) }) }),
    ({ key }) => encodeCursor({ after: [key] }, filter),
  )
}

function toListed(row: ListedJobRow, spaceId: string): ListedJob {
  return {
    ...toCompilationJob(row, spaceId, row.document_id),
    filename: row.filename,
    attempts: row.attempts,
    ...(row.completed_at === null && row.run_after > 0 ? { retryAt: row.run_after } : {}),
    ...(row.completed_at === null && row.waiting_since !== null ? { waitingSince: row.waiting_since } : {}),
  }
}
