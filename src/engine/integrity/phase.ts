import type { Finding, Scan } from './findings.js'

/** A position within a phase: the last key that was scanned. */
export type Place = string | number

/** One slice of a phase, with at most `MAX_SLICE_FINDINGS` findings. */
export interface Slice<T = Finding> {
  scanned: number
  findings: T[]
  /** where to continue; absent at the end of the phase */
  next?: Place
}

/** Scans some items after a position; `undefined` is the beginning. */
export type Phase<T = Finding> = (scan: Scan, after: Place | undefined) => Promise<Slice<T>>

export const SLICE_FINDINGS = 200

/** Makes the slice of some rows; another slice follows if it is full. */
export function sliceOf<R, T>(rows: R[], full: number, findings: T[], place: (row: R) => Place): Slice<T> {
  const last = rows.at(-1)
  const more = rows.length >= full && last !== undefined
  return { scanned: rows.length, findings, ...(more ? { next: place(last) } : {}) }
}
