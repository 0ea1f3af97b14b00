import { setTimeout as sleep } from 'node:timers/promises'
import type { EngineLog } from './log.js'

/** A full disk may have free space again at any moment, and a try costs next to nothing. */
const RETRY_PAUSE_MS = 1000

/**
 * Retries a write that must not be lost, such as the outcome of a run, until it succeeds. No process resumes work whose
 * outcome was not written.
 *
 * @param writeName name of the write, for the log
 * @param signal ends the retries when the daemon stops: the next start finds the work as a crash would leave it
 * @param write one transaction, which may run again after it failed
 * @throws the reason of the signal
 */
export async function retryUntilWritten<T>(
  { log }: { log: EngineLog },
  writeName: string,
  signal: AbortSignal,
  write: () => Promise<T>,
): Promise<T> {
  for (let failures = 0; ; failures++) {
    try {
      return await write()
    } catch (error) {
      if (failures === 0)
        log.error({ what: writeName, error: String(error) }, 'a write failed; retrying until it succeeds')
      await sleep(RETRY_PAUSE_MS, undefined, { signal })
    }
  }
}
