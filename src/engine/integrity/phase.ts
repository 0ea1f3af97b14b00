import type { Finding, Scan } from './findings.js'

/** A place within a phase: the last key that was looked at. */
export type Place = string | number

/** One slice of a phase: at most `SLICE_FINDINGS` of what is looked for. */
export interface Slice<T = Finding> {
  scanned: number
  findings: T[]
  /** where to go on; absent at the end of the phase */
  next?: Place
}

/** Looks at some things after a place; `undefined` is the beginning. */
export type Phase<T = Finding> = (scan: Scan, after: Place | undefined) => Promise<Slice<T>>

export const SLICE_FINDINGS = 200

/** The slice of some rows; a full one is followed by another. */
export function sliceOf<R, T>(rows: R[], full: number, findings: T[], place: (row: R) => Place): Slice<T> {
  const last = rows.at(-1)
  const more = rows.length >= full && last !== undefined
  return { scanned: rows.length, findings, ...(more ? { next: place(last) } : {}) }
}
