import type { SilentDisk } from '../../local/file-systems.js'
import { plural } from '../units.js'

/** How to poll a folder without change events. */
export interface PollPlan {
  /** Polled parts, relative to the folder with `/`, `` for all of it. */
  roots: string[]
  everyMs: number
  /** Whether each file and folder is polled separately; otherwise full scans find the changes. */
  isSingle: boolean
  /** Interval of full scans in milliseconds. */
  scanEveryMs: number
  /** One sentence for people. */
  description: string
}

export interface PollFacts {
  /** Requested interval in milliseconds. */
  askedMs: number | undefined
  disks: readonly SilentDisk[]
  /** Number of files to poll. */
  paths: number
  /** Duration of a full scan. */
  scanMs: number
}

const DEFAULT_MS = 2000
/** Maximum polling rate: on a remote disk each poll may be a network request. */
const PATHS_PER_SECOND = 2000
/** Each polled file needs a timer and memory; above this number the entire folder is scanned. */
const MOST_SINGLE = 20_000
/** Polls miss changes that keep size and times, and new files on disks without folder times. */
const SCAN_EVERY_MS = 60_000
/** Full scans may take this fraction of the time: 1/20. */
const SCAN_SHARE = 20

/** @returns undefined if the events of the file system suffice */
export function pollPlan({ askedMs, disks, paths, scanMs }: PollFacts): PollPlan | undefined {
  if (askedMs === undefined && disks.length === 0) return undefined
  const wantedMs = askedMs ?? DEFAULT_MS
  const isSingle = paths <= MOST_SINGLE
  const neededMs = isSingle ? (paths / PATHS_PER_SECOND) * 1000 : scanMs * SCAN_SHARE
  const everyMs = Math.max(wantedMs, roundedUp(neededMs))
  const scanEveryMs = isSingle ? Math.max(SCAN_EVERY_MS, everyMs, roundedUp(scanMs * SCAN_SHARE)) : everyMs
  const roots = askedMs === undefined ? disks.map(({ path }) => path) : ['']
  return {
    roots,
    everyMs,
    isSingle,
    scanEveryMs,
    description: sentence({ roots, disks, paths, isSingle, everyMs, wantedMs }),
  }
}

/** Rounds up to a power of two seconds, so that small changes in the number of files have no effect. */
function roundedUp(ms: number): number {
  return ms <= 0 ? 0 : 1000 * 2 ** Math.max(0, Math.ceil(Math.log2(ms / 1000)))
}

function sentence(facts: {
  roots: readonly string[]
  disks: readonly SilentDisk[]
  paths: number
  isSingle: boolean
  everyMs: number
  wantedMs: number
}): string {
  const { roots, disks, paths, isSingle, everyMs, wantedMs } = facts
  const kinds = [...new Set(disks.map(({ kind }) => kind))].join(', ')
  const why = kinds === '' ? '' : `, since ${kinds} reports no changes`
  const what = roots.includes('') ? '' : ` in ${roots.join(', ')}`
  const slower = everyMs > wantedMs ? ` (not every ${seconds(wantedMs)}: ${plural(paths, 'file')})` : ''
  return `${isSingle ? 'polled' : 'scanned'} every ${seconds(everyMs)}${what}${slower}${why}`
}

function seconds(ms: number): string {
  return `${Number((ms / 1000).toFixed(1))} s`
}
