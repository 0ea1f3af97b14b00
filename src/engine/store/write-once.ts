import { setTimeout as sleep } from 'node:timers/promises'
import { KsError } from '../../contract/errors.js'
import type { Driver, WriteOptions } from './driver.js'
import { CommitUnknown } from './postgres/errors.js'
import type { Read, Write } from './program.js'

/** How long to check whether a write was committed: about the time in which a standby becomes the primary. */
const LOOKUP_TIMEOUT_MS = 15_000
const LOOKUP_INTERVAL_MS = 250

/**
 * A write that must not run twice, and whose caller needs its result. Where the server was lost during the commit, the
 * result is looked up as soon as a server responds, and the write runs again only if the result does not exist.
 *
 * @param findResult finds the result of an earlier attempt by something only that attempt has created, such as a row
 * with its own id
 * @throws CommitUnknown where no server responded in time
 */
export async function writeOnce<T>(
  db: Driver,
  work: () => Write<T>,
  findResult: () => Read<T | undefined>,
  options: WriteOptions = {},
): Promise<T> {
  try {
    return await db.write(work, options)
  } catch (error) {
    if (!(error instanceof CommitUnknown)) throw error
    const program = function* () {
      return (yield* findResult()) ?? (yield* work())
    }
    return await retryUntilKnown(db, program, options, error)
  }
}

async function retryUntilKnown<T>(
  db: Driver,
  program: () => Write<T>,
  options: WriteOptions,
  commitUnknown: CommitUnknown,
): Promise<T> {
  const deadline = performance.now() + LOOKUP_TIMEOUT_MS
  for (;;) {
    await sleep(LOOKUP_INTERVAL_MS)
    try {
      return await db.write(program, options)
    } catch (error) {
      if (!(error instanceof KsError) || error.code !== 'unavailable') throw error
      if (performance.now() > deadline) throw commitUnknown
    }
  }
}
