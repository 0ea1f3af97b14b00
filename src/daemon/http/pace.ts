import { KsError } from '../../contract/errors.js'

/** Minimum bytes of a body per window; slower bodies are rejected. No real line is slower than 170 bytes a second. */
const WINDOW_MS = 60_000
const WINDOW_BYTES = 10 * 1024

/** Checks that a body keeps arriving. */
export interface Pace {
  /** Counts received bytes. */
  took(bytes: number): void
  /** Waits for our own reader, without blaming the client. */
  held<T>(wait: Promise<T>): Promise<T>
  stop(): void
}

/** @param onSlow called, possibly several times, when a body has stopped or is too slow */
export function watchPace(onSlow: (error: KsError) => void): Pace {
  let bytes = 0
  let waiting = 0
  let excused = false
  const timer = setInterval(() => {
    if (bytes < WINDOW_BYTES && !excused) onSlow(tooSlow())
    bytes = 0
    excused = waiting > 0
  }, WINDOW_MS)
  return {
    took: (count) => {
      bytes += count
    },
    async held(wait) {
      waiting++
      excused = true
      try {
        return await wait
      } finally {
        waiting--
      }
    },
    stop: () => clearInterval(timer),
  }
}

function tooSlow(): KsError {
  return new KsError(
    'invalid-request',
    `a body must arrive with at least ${WINDOW_BYTES} bytes every ${WINDOW_MS / 1000} seconds`,
  )
}
