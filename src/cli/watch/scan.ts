import { type BigIntStats, statSync } from 'node:fs'
import { join } from 'node:path'
import { LIMITS } from '../../contract/limits.js'
import { type FileFacts, fileFacts, plainFingerprint } from '../../local/file-facts.js'
import { NOT_UTF8, type PassedFile, readFailure, type WalkOptions, walkPaths } from '../ingest/walk.js'

/** The watched folder itself is not there, or is no folder. */
export class FolderMissing extends Error {}

/** A file that the rules name. */
export interface ScannedFile extends FileFacts {
  path: string
  filename: string
  /** real path of the watched folder at the time of the scan */
  root: string | undefined
  /** compared with that of other scans */
  plainFingerprint: string
  /** milliseconds since the epoch of its last change */
  changedAt: number
}

/** What a scan of some paths of a folder found. */
export interface FolderScan {
  files: Map<string, ScannedFile>
  /** paths of which nothing is known */
  unread: string[]
  skipped: PassedFile[]
}

export interface ScanOptions {
  folder: string
  walk: WalkOptions
  onFolder: (path: string) => void
}

/** Device and inode of the folder. @throws FolderMissing */
export function folderIdentity(folder: string): string {
  let stats: BigIntStats | undefined
  try {
    stats = statSync(folder, { bigint: true, throwIfNoEntry: false })
  } catch (error) {
    throw new FolderMissing(`${folder} ${readFailure(error)}`)
  }
  if (stats === undefined) throw new FolderMissing(`${folder} is gone`)
  if (!stats.isDirectory()) throw new FolderMissing(`${folder} is no folder any more`)
  return `${stats.dev}-${stats.ino}`
}

/** Scans paths, `` for the whole folder. */
export function scanFolder(paths: Iterable<string>, { folder, walk, onFolder }: ScanOptions): FolderScan {
  const scan: FolderScan = { files: new Map(), unread: [], skipped: [] }
  const found = walkPaths(folder, paths, walk, { onFolder, onUnread: (path) => scan.unread.push(path) })
  scan.skipped.push(...found.skipped, ...found.failed.filter(({ reason }) => reason === NOT_UTF8))
  for (const { path: absolute, filename, root, inside: path = '' } of found.files) {
    if (filename.length > LIMITS.filename) {
      scan.skipped.push({ filename, reason: `its name is over ${LIMITS.filename} characters` })
      continue
    }
    try {
      const facts = factsOf(statSync(absolute, { bigint: true }))
      scan.files.set(path, { path, filename, root, ...facts })
    } catch {
      scan.unread.push(path) // gone between two system calls, or not to be read: the next scan tells
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

/** The fingerprint of a file now, to be compared with that of a scan; undefined where it cannot be read. */
export function plainFingerprintOf(absolute: string): string | undefined {
  try {
    return plainFingerprint(statSync(absolute, { bigint: true }))
  } catch {
    return undefined
  }
}

/** What stands in the place of a file: nothing, a file the rules leave out, or something nobody can tell. */
export function whatIsAt(folder: string, path: string): 'nothing' | 'left-out' | 'unknown' {
  try {
    const stats = statSync(join(folder, path), { throwIfNoEntry: false })
    return stats === undefined ? 'nothing' : 'left-out'
  } catch (error) {
    return readFailure(error) === 'is gone' || isNoFolder(error) ? 'nothing' : 'unknown'
  }
}

function isNoFolder(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOTDIR'
}

/** The file system of the innermost folder above a path that is there. */
export function deviceAbove(folder: string, path: string): string {
  const parts = path.split('/').slice(0, -1)
  for (; parts.length > 0; parts.pop()) {
    const stats = statSync(join(folder, ...parts), { bigint: true, throwIfNoEntry: false })
    if (stats?.isDirectory() === true) return String(stats.dev)
  }
  return String(statSync(folder, { bigint: true }).dev)
}
