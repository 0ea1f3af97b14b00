import type { SilentDisk } from '../../local/file-systems.js'
import { plural } from '../units.js'

/** How a folder is polled whose changes nobody tells of. */
export interface PollPlan {
  /** the parts that are polled, from the folder with `/`, `` for all of it */
  roots: string[]
  everyMs: number
  /** whether every file and folder is asked for by itself; otherwise full scans find what changed */
  isSingle: boolean
  /** between two full scans, milliseconds */
  scanEveryMs: number
  /** one sentence for people */
  description: string
}

export interface PollFacts {
  /** what the person wants, milliseconds */
  askedMs: number | undefined
  disks: readonly SilentDisk[]
  /** files to poll */
  paths: number
  /** how long a full scan takes */
  scanMs: number
}

const DEFAULT_MS = 2000
/** What a disk elsewhere is asked for at most: each question may be a way over the network. */
const PATHS_PER_SECOND = 2000
/** A file that is polled by itself takes a timer and memory; above this the whole folder is scanned. */
const MOST_SINGLE = 20_000
/** Polls do not see what keeps size and times, nor new files of a disk that keeps no times of folders. */
const SCAN_EVERY_MS = 60_000
/** Of the time that full scans may take, one part of so many. */
const SCAN_SHARE = 20

/** @returns nothing where the events of the file system suffice */
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

/** In steps that double, so that some files more or less change nothing. */
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
  const why = kinds === '' ? '' : `, since ${kinds} tells of no changes`
  const what = roots.includes('') ? '' : ` in ${roots.join(', ')}`
  const slower = everyMs > wantedMs ? ` (not every ${seconds(wantedMs)}: ${plural(paths, 'file')})` : ''
  return `${isSingle ? 'polled' : 'looked at'} every ${seconds(everyMs)}${what}${slower}${why}`
}

function seconds(ms: number): string {
  return `${Number((ms / 1000).toFixed(1))} s`
}
