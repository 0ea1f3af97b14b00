import { type BigIntStats, statSync } from 'node:fs'
import { join } from 'node:path'
import { errnoOf } from '../../client/errors.js'
import { LIMITS } from '../../contract/limits.js'
import { computeFingerprint, type FileFacts, toFileFacts } from '../../local/file-facts.js'
import { describeFileFailure, NOT_UTF8, type ReportedFile, type WalkOptions, walkPaths } from '../ingest/walk.js'

/** The watched folder does not exist or is not a folder. */
export class FolderMissingError extends Error {}

/** A file that the rules include. */
export interface ScannedFile extends FileFacts {
  path: string
  filename: string
  /** Real path of the watched folder at the time of the scan. */
  root: string | undefined
  /** Fingerprint for comparison with other scans: unlike `fingerprint`, never empty. */
  plainFingerprint: string
  /** Time of its last change in milliseconds since the epoch. */
  changedAt: number
}

/** Result of a scan of some paths of a folder. */
export interface FolderScan {
  files: Map<string, ScannedFile>
  /** Paths that could not be read. */
  unread: string[]
  skipped: ReportedFile[]
}

export interface FolderScanOptions {
  folder: string
  walk: WalkOptions
  onFolder: (path: string) => void
}

/** Device and inode of the folder. @throws FolderMissingError */
export function getFolderIdentity(folder: string): string {
  let stats: BigIntStats | undefined
  try {
    stats = statSync(folder, { bigint: true, throwIfNoEntry: false })
  } catch (error) {
    throw new FolderMissingError(`${folder} ${describeFileFailure(error)}`)
  }
  if (stats === undefined) throw new FolderMissingError(`${folder} no longer exists`)
  if (!stats.isDirectory()) throw new FolderMissingError(`${folder} is no longer a folder`)
  return `${stats.dev}-${stats.ino}`
}

/** Scans paths relative to the folder, `` for the entire folder. @throws the system's error for a missing folder */
export function scanFolder(paths: Iterable<string>, { folder, walk, onFolder }: FolderScanOptions): FolderScan {
  const scan: FolderScan = { files: new Map(), unread: [], skipped: [] }
  const walked = walkPaths(folder, paths, walk, { onFolder, onUnread: (path) => scan.unread.push(path) })
  scan.skipped.push(...walked.skipped, ...walked.failed.filter(({ reason }) => reason === NOT_UTF8))
  for (const { path: absolute, filename, root, relativePath: path = '' } of walked.files) {
    if (filename.length > LIMITS.filename) {
      scan.skipped.push({ filename, reason: `its name is longer than ${LIMITS.filename} characters` })
      continue
    }
    try {
      const facts = readFacts(statSync(absolute, { bigint: true }))
      scan.files.set(path, { path, filename, root, ...facts })
    } catch {
      scan.unread.push(path) // Deleted between two system calls, or unreadable: the next scan decides.
    }
  }
  return scan
}

function readFacts(stats: BigIntStats): Omit<ScannedFile, 'path' | 'filename' | 'root'> {
  return {
    ...toFileFacts(stats, Date.now()),
    plainFingerprint: computeFingerprint(stats),
    changedAt: Math.max(Number(stats.mtimeMs), Number(stats.ctimeMs)),
  }
}

/** The current fingerprint of a file, for comparison with that of a scan; undefined if it cannot be read. */
export function readPlainFingerprint(absolute: string): string | undefined {
  try {
    return computeFingerprint(statSync(absolute, { bigint: true }))
  } catch {
    return undefined
  }
}

/** What is at the path of a missing file: nothing, a file that the rules exclude, or unknown. */
export function inspectMissingPath(folder: string, path: string): 'nothing' | 'excluded' | 'unknown' {
  try {
    const stats = statSync(join(folder, path), { throwIfNoEntry: false })
    return stats === undefined ? 'nothing' : 'excluded'
  } catch (error) {
    return ['ENOENT', 'ENOTDIR'].includes(errnoOf(error) ?? '') ? 'nothing' : 'unknown'
  }
}

/** The device of the innermost existing folder above a path. */
export function findDeviceAbove(folder: string, path: string): string {
  const parts = path.split('/').slice(0, -1)
  for (; parts.length > 0; parts.pop()) {
    const stats = statSync(join(folder, ...parts), { bigint: true, throwIfNoEntry: false })
    if (stats?.isDirectory() === true) return String(stats.dev)
  }
  return String(statSync(folder, { bigint: true }).dev)
}

/** The folders that contain a relative path, outermost first. */
export function listAncestors(path: string): string[] {
  const parts = path.split('/')
  return parts.slice(1).map((_part, index) => parts.slice(0, index + 1).join('/'))
}
