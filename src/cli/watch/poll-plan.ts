import { pluralize } from '../../lib/text/pluralize.js'
import type { SilentDisk } from '../../local/silent-disks.js'

/** How to poll a folder without change events. */
export interface PollPlan {
  /** Polled subfolders, relative to the folder with `/`; `` for the folder itself. */
  roots: string[]
  /** Interval of polls in milliseconds. */
  intervalMs: number
  /** Whether each file and folder is polled separately; otherwise full scans find the changes. */
  isPolledByPath: boolean
  /** Interval of full scans in milliseconds. */
  scanIntervalMs: number
  /** One sentence for people. */
  description: string
}

export interface PollFacts {
  /** Requested interval in milliseconds. */
  requestedMs: number | undefined
  disks: readonly SilentDisk[]
  /** Number of files to poll. */
  pathCount: number
  /** Duration of a full scan in milliseconds. */
  scanMs: number
}

const DEFAULT_INTERVAL_MS = 2000
/** Maximum polling rate: on a remote disk each poll may be a network request. */
const MAX_PATHS_PER_SECOND = 2000
/** Each polled file needs a timer and memory; above this number the entire folder is scanned. */
const MAX_POLLED_PATHS = 20_000
/** Polls miss changes that keep size and times, and new files on disks without folder times. */
const MIN_SCAN_INTERVAL_MS = 60_000
/** Scans take at most 1/20 of the time: their interval is this multiple of their duration. */
const SCAN_INTERVAL_FACTOR = 20

/** Decides whether and how to poll. @returns undefined if the events of the file system suffice */
export function computePollPlan({ requestedMs, disks, pathCount, scanMs }: PollFacts): PollPlan | undefined {
  if (requestedMs === undefined && disks.length === 0) return undefined
  const targetMs = requestedMs ?? DEFAULT_INTERVAL_MS
  const isPolledByPath = pathCount <= MAX_POLLED_PATHS
  const neededMs = isPolledByPath ? (pathCount / MAX_PATHS_PER_SECOND) * 1000 : scanMs * SCAN_INTERVAL_FACTOR
  const intervalMs = Math.max(targetMs, roundUp(neededMs))
  const scanIntervalMs = isPolledByPath
    ? Math.max(MIN_SCAN_INTERVAL_MS, intervalMs, roundUp(scanMs * SCAN_INTERVAL_FACTOR))
    : intervalMs
  const roots = requestedMs === undefined ? disks.map(({ path }) => path) : ['']
  return {
    roots,
    intervalMs,
    isPolledByPath,
    scanIntervalMs,
    description: describePlan({ roots, disks, pathCount, isPolledByPath, intervalMs, targetMs }),
  }
}

/** Rounds up to a power of two seconds, so that small changes in the number of files have no effect. */
function roundUp(ms: number): number {
  return ms <= 0 ? 0 : 1000 * 2 ** Math.max(0, Math.ceil(Math.log2(ms / 1000)))
}

function describePlan(facts: {
  roots: readonly string[]
  disks: readonly SilentDisk[]
  pathCount: number
  isPolledByPath: boolean
  intervalMs: number
  targetMs: number
}): string {
  const { roots, disks, pathCount, isPolledByPath, intervalMs, targetMs } = facts
  const kinds = [...new Set(disks.map(({ kind }) => kind))].join(', ')
  const cause = kinds === '' ? '' : `, since ${kinds} reports no changes`
  const location = roots.includes('') ? '' : ` in ${roots.join(', ')}`
  const slowdown =
    intervalMs > targetMs ? ` (not every ${formatSeconds(targetMs)}: ${pluralize(pathCount, 'file')})` : ''
  return `${isPolledByPath ? 'polled' : 'scanned'} every ${formatSeconds(intervalMs)}${location}${slowdown}${cause}`
}

function formatSeconds(ms: number): string {
  return `${Number((ms / 1000).toFixed(1))} s`
}
