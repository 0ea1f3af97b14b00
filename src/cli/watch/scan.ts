import { type BigIntStats, statSync } from 'node:fs'
import { join } from 'node:path'
import { LIMITS } from '../../contract/limits.js'
import { type FileFacts, fileFacts, plainFingerprint } from '../../local/file-facts.js'
import { NOT_UTF8, type PassedFile, readFailure, type WalkOptions, walkPaths } from '../ingest/walk.js'

/** The watched folder does not exist or is not a folder. */
export class FolderMissing extends Error {}

/** A file that the rules include. */
export interface ScannedFile extends FileFacts {
  path: string
  filename: string
  /** Real path of the watched folder at the time of the scan. */
  root: string | undefined
  /** Fingerprint for comparison with other scans. */
  plainFingerprint: string
  /** Time of its last change in milliseconds since the epoch. */
  changedAt: number
}

/** Result of a scan of some paths of a folder. */
export interface FolderScan {
  files: Map<string, ScannedFile>
  /** Paths that could not be read. */
  unread: string[]
  skipped: PassedFile[]
}

export interface ScanOptions {
  folder: string
  walk: WalkOptions
  onFolder: (path: string) => void
}

/** Device and inode of the folder. @throws FolderMissingError */
export function folderIdentity(folder: string): string {
  let stats: BigIntStats | undefined
  try {
    stats = statSync(folder, { bigint: true, throwIfNoEntry: false })
  } catch (error) {
    throw new FolderMissing(`${folder} ${readFailure(error)}`)
  }
  if (stats === undefined) throw new FolderMissing(`${folder} no longer exists`)
  if (!stats.isDirectory()) throw new FolderMissing(`${folder} is no longer a folder`)
  return `${stats.dev}-${stats.ino}`
}

/** Scans paths, `` for the entire folder. */
export function scanFolder(paths: Iterable<string>, { folder, walk, onFolder }: ScanOptions): FolderScan {
  const scan: FolderScan = { files: new Map(), unread: [], skipped: [] }
  const found = walkPaths(folder, paths, walk, { onFolder, onUnread: (path) => scan.unread.push(path) })
  scan.skipped.push(...found.skipped, ...found.failed.filter(({ reason }) => reason === NOT_UTF8))
  for (const { path: absolute, filename, root, inside: path = '' } of found.files) {
    if (filename.length > LIMITS.filename) {
      scan.skipped.push({ filename, reason: `its name is longer than ${LIMITS.filename} characters` })
      continue
    }
    try {
      const facts = factsOf(statSync(absolute, { bigint: true }))
      scan.files.set(path, { path, filename, root, ...facts })
    } catch {
      scan.unread.push(path) // Deleted between two system calls, or unreadable: the next scan decides.
    }
  }
  return scan
}

function factsOf(stats: BigIntStats): Omit<ScannedFile, 'path' | 'filename' | 'root'> {
  return {
    ...fileFacts(stats, Date.now()),
    plainFingerprint: plainFingerprint(stats),
    changedAt: Math.max(Number(stats.mtimeMs), Number(stats.ctimeMs)),
  }
}

/** The current fingerprint of a file, for comparison with that of a scan; undefined if it cannot be read. */
export function plainFingerprintOf(absolute: string): string | undefined {
  try {
    return plainFingerprint(statSync(absolute, { bigint: true }))
  } catch {
    return undefined
  }
}

/** What is at the path of a missing file: nothing, a file that the rules exclude, or unknown. */
export function whatIsAt(folder: string, path: string): 'nothing' | 'left-out' | 'unknown' {
  try {
    const stats = statSync(join(folder, path), { throwIfNoEntry: false })
    return stats === undefined ? 'nothing' : 'left-out'
  } catch (error) {
    return readFailure(error) === 'no longer exists' || isNoFolder(error) ? 'nothing' : 'unknown'
  }
}

function isNoFolder(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOTDIR'
}

/** The device of the innermost existing folder above a path. */
export function deviceAbove(folder: string, path: string): string {
  const parts = path.split('/').slice(0, -1)
  for (; parts.length > 0; parts.pop()) {
    const stats = statSync(join(folder, ...parts), { bigint: true, throwIfNoEntry: false })
    if (stats?.isDirectory() === true) return String(stats.dev)
  }
  return String(statSync(folder, { bigint: true }).dev)
}
