import { setTimeout as sleep } from 'node:timers/promises'
import { KsError } from '../../contract/errors.js'
import type { Driver, WriteOptions } from './driver.js'
import { CommitUnknown } from './postgres/errors.js'
import type { Read, Write } from './program.js'

/** How long it is looked whether a write came through: about as long as a standby takes until it is the primary. */
const PATIENCE_MS = 15_000
const PAUSE_MS = 250

/**
 * A write that must not be done twice, and whose caller has to know whether it is done. Where the server was lost at the
 * commit, it is looked for what the write leaves, as soon as a server answers, and done only where that is not there.
 *
 * @param look finds the outcome of an earlier try by what only that has made, such as a row with an id of its own
 * @throws CommitUnknown where no server answered in time
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
