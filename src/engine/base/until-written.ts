import { setTimeout as sleep } from 'node:timers/promises'
import type { EngineLog } from './log.js'

/** A disk without room may have some at any moment, and trying costs next to nothing. */
const PAUSE_MS = 1000

/**
 * Writes what must not be forgotten: how a piece of work ended, when it goes on. Nothing would ever take up work whose
 * end was not written, so the write is tried until it succeeds.
 *
 * @param write one transaction, which may be run again after it failed
 * @param what is being written, for the log
 * @param signal ends the trying, at the stop of the daemon: the next start finds the work as a crash would leave it
 * @throws the reason of the signal
 */
export async function untilWritten<T>(
  { log }: { log: EngineLog },
  what: string,
  signal: AbortSignal,
  write: () => Promise<T>,
): Promise<T> {
  for (let failures = 0; ; failures++) {
    try {
      return await write()
    } catch (error) {
      if (failures === 0) log.error({ what, error: String(error) }, 'a write failed and is tried until it succeeds')
      await sleep(PAUSE_MS, undefined, { signal })
    }
  }
}
