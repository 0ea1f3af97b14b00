import { setTimeout as sleep } from 'node:timers/promises'
import { KsError } from '../../contract/errors.js'
import type { Driver, WriteOptions } from './driver.js'
import { CommitUnknown } from './postgres/errors.js'
import type { Read, Write } from './program.js'

/** How long to check whether a write was committed: about the time in which a standby becomes the primary. */
const PATIENCE_MS = 15_000
const PAUSE_MS = 250

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
  look: () => Read<T | undefined>,
  options: WriteOptions = {},
): Promise<T> {
  try {
    return await db.write(work, options)
  } catch (error) {
    if (!(error instanceof CommitUnknown)) throw error
    return await again(db, work, look, options, error)
  }
}

async function again<T>(
  db: Driver,
  work: () => Write<T>,
  look: () => Read<T | undefined>,
  options: WriteOptions,
  unknown: CommitUnknown,
): Promise<T> {
  const until = performance.now() + PATIENCE_MS
  for (;;) {
    await sleep(PAUSE_MS)
    try {
      return await db.write(function* () {
        return (yield* look()) ?? (yield* work())
      }, options)
    } catch (error) {
      if (!(error instanceof KsError) || error.code !== 'unavailable') throw error
      if (performance.now() > until) throw unknown
    }
  }
}
