import type { ReadingProgress } from './compiled.js'

/** Minimum interval of calls of the listener: reading 5,000 pages must not send 5,000 messages. */
const TOLD_EVERY_MS = 200

let listener: ((progress: ReadingProgress) => void) | undefined
let toldAt = 0

/**
 * Sets the listener for the progress of the current file. One file is read at a time, so parsers of any depth need not
 * pass it on. A file that is read within the interval reports nothing.
 */
export function hearProgress(listen: ((progress: ReadingProgress) => void) | undefined): void {
  listener = listen
  toldAt = performance.now()
}

/**
 * Reports the page, slide, sheet, … that is read now. Reads the clock and nothing else.
 *
 * @param at 1 for the first
 */
export function tellProgress(unit: ReadingProgress['unit'], at: number, total?: number): void {
  if (listener === undefined) return
  const now = performance.now()
  if (now - toldAt < TOLD_EVERY_MS) return
  toldAt = now
  listener(total === undefined ? { unit, at } : { unit, at, total })
}
