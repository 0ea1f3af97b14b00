import { readClock } from '../../base/statements.js'
import type { Write } from '../../store/program.js'
import type { DocumentRow } from '../../store/rows/documents.js'
import { deferJobs } from '../../store/rows/job-claims.js'
import type { SpaceRow } from '../../store/rows/spaces.js'
import { queueCompilations } from './reindex.js'

/** gives other due jobs precedence */
const REQUEUE_DELAY_MS = 1000

/**
 * Queues documents whose OCR is not complete, inside the transaction that publishes the pages so far: a crash between
 * the two cannot lose the rest.
 */
export function* queueRemainingPages(space: SpaceRow, documents: readonly DocumentRow[]): Write<void> {
  if (documents.length === 0) return
  const jobs = yield* queueCompilations(space, documents)
  yield* deferJobs(
    jobs.map(({ key }) => key),
    (yield* readClock()) + REQUEUE_DELAY_MS,
  )
}
