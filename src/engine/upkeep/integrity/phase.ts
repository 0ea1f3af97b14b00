import type { IntegrityFinding, IntegrityScan } from './findings.js'

/** A position within a phase: the last key that was scanned. */
export type ScanPosition = string | number

/** One slice of a phase, with at most `MAX_SLICE_FINDINGS` findings. */
export interface ScanSlice<T = IntegrityFinding> {
  scanned: number
  findings: T[]
  /** where to continue; absent at the end of the phase */
  next?: ScanPosition
}

/** Scans some items after a position; `undefined` is the beginning. */
export type ScanPhase<T = IntegrityFinding> = (
  scan: IntegrityScan,
  after: ScanPosition | undefined,
) => Promise<ScanSlice<T>>

export const MAX_SLICE_FINDINGS = 200

/** Makes the slice of some rows; another slice follows if it is full. */
export function makeScanSlice<R, T>(
  rows: R[],
  maxRows: number,
  findings: T[],
  toPosition: (row: R) => ScanPosition,
): ScanSlice<T> {
  const last = rows.at(-1)
  const more = rows.length >= maxRows && last !== undefined
  return { scanned: rows.length, findings, ...(more ? { next: toPosition(last) } : {}) }
}
