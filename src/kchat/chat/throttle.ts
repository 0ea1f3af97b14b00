/** interval of frames: 30 a second look smooth; more would delay keys and the answer */
export const FRAME_MS = 34

/**
 * Throttles a function: the first call runs at once, further calls within `ms` milliseconds run once afterwards. The
 * event loop is free in between, so that keys are read between two frames.
 */
export function throttle(work: () => void, intervalMs: number): () => void {
  let lastRunMs = Number.NEGATIVE_INFINITY
  let timer: NodeJS.Timeout | undefined
  const runNow = () => {
    timer = undefined
    work()
    // Measured from the end, so that slow drawing does not occupy the event loop.
    lastRunMs = performance.now()
  }
  return () => {
    if (timer !== undefined) return
    const waitMs = lastRunMs + intervalMs - performance.now()
    if (waitMs <= 0) runNow()
    else timer = setTimeout(runNow, waitMs)
  }
}
