/** between two drawings: 30 a second are smooth, more cost what keys and the answer need */
export const FRAME_MS = 34

/**
 * Calls a function at once, but never more often than every `ms` milliseconds: what is asked for in between is done once,
 * when they are over. The event loop is free until then, so that keys are read between two drawings.
 */
export function paced(work: () => void, ms: number): () => void {
  let last = Number.NEGATIVE_INFINITY
  let timer: NodeJS.Timeout | undefined
  const now = () => {
    timer = undefined
    work()
    // from its end: drawing that takes long is no reason to draw all the time
    last = performance.now()
  }
  return () => {
    if (timer !== undefined) return
    const wait = last + ms - performance.now()
    if (wait <= 0) now()
    else timer = setTimeout(now, wait)
  }
}
