import type { ReadingProgress } from '../store/compiled.js'

/** Minimum interval of calls of the listener: reading 5,000 pages must not send 5,000 messages. */
const REPORT_INTERVAL_MS = 200

let listener: ((progress: ReadingProgress) => void) | undefined
let reportedAt = 0

/**
 * Sets the listener for the progress of the current file. One file is read at a time, so parsers of any depth need not
 * pass it on. A file that is read within the interval reports nothing.
 */
export function setProgressListener(onProgress: ((progress: ReadingProgress) => void) | undefined): void {
  listener = onProgress
  reportedAt = performance.now()
}

/**
 * Reports the page, slide, sheet, … that is read now. Reads the clock and nothing else.
 *
 * @param at 1 for the first
 */
export function reportProgress(unit: ReadingProgress['unit'], at: number, total?: number): void {
  if (listener === undefined) return
  const now = performance.now()
  if (now - reportedAt < REPORT_INTERVAL_MS) return
  reportedAt = now
  listener(total === undefined ? { unit, at } : { unit, at, total })
}
