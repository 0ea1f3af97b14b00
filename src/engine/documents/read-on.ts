import type { DocumentRow } from '../rows/documents.js'
import { putOff } from '../rows/job-claims.js'
import type { SpaceRow } from '../rows/spaces.js'
import type { Write } from '../storage/program.js'
import { queueAgain } from './reindex.js'

/** gives other due jobs precedence */
const PAUSE_MS = 1000

/**
 * Queues documents whose OCR is not complete, inside the transaction that publishes the pages so far: a crash between
 * the two cannot lose the rest.
 */
export function* readOn(space: SpaceRow, documents: readonly DocumentRow[]): Write<void> {
  if (documents.length === 0) return
  const jobs = yield* queueAgain(space, documents)
  yield* putOff(
    jobs.map(({ key }) => key),
    Date.now() + PAUSE_MS,
  )
}
