import type { BigIntStats } from 'node:fs'

/** Metadata of a file: when two of these are equal, the bytes are assumed to be equal. */
export interface FileFacts {
  /** size, times and inode as text; empty when it was read too soon after a change to be reliable */
  fingerprint: string
  /** the file system that contains it */
  device: string
  /** bytes */
  size: number
}

/** A change within the same tick of the file system's clock does not change the times. */
const TICK_MS = 100

/** @param now milliseconds since the epoch at which the metadata was read */
export function toFileFacts(stats: BigIntStats, nowMs: number): FileFacts {
  const changedMs = Math.max(Number(stats.mtimeMs), Number(stats.ctimeMs))
  return {
    fingerprint: Math.abs(nowMs - changedMs) < TICK_MS ? '' : computeFingerprint(stats),
    device: String(stats.dev),
    size: Number(stats.size),
  }
}

/** The fingerprint without the check of the time: for comparing two scans. */
export function computeFingerprint({ size, mtimeNs, ctimeNs, ino }: BigIntStats): string {
  return `${size}-${mtimeNs}-${ctimeNs}-${ino}`
}
