import type { ReadingProgress } from './compiled.js'

/** A listener is told at most this often: who reads 5,000 pages does not send 5,000 messages. */
const TOLD_EVERY_MS = 200

let listener: ((progress: ReadingProgress) => void) | undefined
let toldAt = 0

/**
 * Sets who hears how far the file at hand is. One file is read at a time, so parsers of any depth need not pass it on.
 * A file that is read at once is not told of.
 */
export function hearProgress(listen: ((progress: ReadingProgress) => void) | undefined): void {
  listener = listen
  toldAt = performance.now()
}

/**
 * Says which page, slide, sheet, … is read now. Costs a look at the clock.
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
