import type { DocumentRow } from '../rows/documents.js'
import { putOff } from '../rows/job-claims.js'
import type { SpaceRow } from '../rows/spaces.js'
import type { Write } from '../storage/program.js'
import { queueAgain } from './reindex.js'

/** Whatever else is due comes first. */
const PAUSE_MS = 1000

/**
 * Queues documents of which pages are still to be read in pictures, inside the transaction that publishes what is read of
 * them: nothing that ends the process between the two can lose the rest.
 */
export function* readOn(space: SpaceRow, documents: readonly DocumentRow[]): Write<void> {
  if (documents.length === 0) return
  const jobs = yield* queueAgain(space, documents)
  yield* putOff(
    jobs.map(({ key }) => key),
    Date.now() + PAUSE_MS,
  )
}
