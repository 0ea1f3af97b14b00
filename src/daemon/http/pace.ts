import { KsError } from '../../contract/errors.js'

/** A body that brings less than this in a window is given up: slower lines than 170 bytes a second do not exist. */
const WINDOW_MS = 60_000
const WINDOW_BYTES = 10 * 1024

/** Watches that a body keeps arriving. */
export interface Pace {
  /** Counts what arrived. */
  took(bytes: number): void
  /** Waits for a reader of ours, which is not the client's fault. */
  held<T>(wait: Promise<T>): Promise<T>
  stop(): void
}

/** @param onSlow called, perhaps more than once, when a body stopped arriving or merely drips */
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
