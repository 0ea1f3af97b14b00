import type { BigIntStats } from 'node:fs'

/** What a file looked like: when two of these are equal, its bytes are taken to be the same. */
export interface FileFacts {
  /** size, times and inode as text; empty when it was looked at too soon after a change to be telling */
  fingerprint: string
  /** the file system it lies on */
  device: string
  /** bytes */
  size: number
}

/** A change within the same tick of the file system's clock leaves the times as they were. */
const TICK_MS = 100

/** @param now milliseconds since the epoch at which the file was looked at */
export function fileFacts(stats: BigIntStats, now: number): FileFacts {
  const changed = Math.max(Number(stats.mtimeMs), Number(stats.ctimeMs))
  return {
    fingerprint: Math.abs(now - changed) < TICK_MS ? '' : plainFingerprint(stats),
    device: String(stats.dev),
    size: Number(stats.size),
  }
}

/** The fingerprint whatever the time: for comparing two scans with each other. */
export function plainFingerprint({ size, mtimeNs, ctimeNs, ino }: BigIntStats): string {
  return `${size}-${mtimeNs}-${ctimeNs}-${ino}`
}
