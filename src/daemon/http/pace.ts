import { KsError } from '../../contract/errors.js'

/** Minimum bytes of a body per window; slower bodies are rejected. No real line is slower than 170 bytes a second. */
const WINDOW_MS = 60_000
const WINDOW_BYTES = 10 * 1024

const TOO_SLOW_MESSAGE = `a body must arrive with at least ${WINDOW_BYTES} bytes every ${WINDOW_MS / 1000} seconds`

/** Checks that a body keeps arriving. */
export interface BodyPace {
  /** Counts received bytes. */
  addBytes(bytes: number): void
  /** Waits for the reader of the body; this time does not count against the client. */
  waitExcused<T>(wait: Promise<T>): Promise<T>
  stop(): void
}

/** @param onSlow called, possibly several times, when a body has stopped or is too slow */
export function watchBodyPace(onSlow: (error: KsError) => void): BodyPace {
  let bytes = 0
  let waitCount = 0
  let isExcused = false
  const timer = setInterval(() => {
    if (bytes < WINDOW_BYTES && !isExcused) onSlow(new KsError('invalid-request', TOO_SLOW_MESSAGE))
    bytes = 0
    isExcused = waitCount > 0
  }, WINDOW_MS)
  return {
    addBytes: (count) => {
      bytes += count
    },
    async waitExcused(wait) {
      waitCount++
      isExcused = true
      try {
        return await wait
      } finally {
        waitCount--
      }
    },
    stop: () => clearInterval(timer),
  }
}
