import { type BigIntStats, statSync } from 'node:fs'
import { join } from 'node:path'
import { LIMITS } from '../../contract/limits.js'
import { type FileFacts, fileFacts, plainFingerprint } from '../../local/file-facts.js'
import { lookAt, type PassedFile, readFailure, type WalkOptions } from '../ingest/walk.js'

/** The watched folder itself is not there, or is no folder. */
export class FolderMissing extends Error {}

/** A file that the rules name. */
export interface Present extends FileFacts {
  path: string
  filename: string
  /** for comparing looks */
  print: string
  /** milliseconds since the epoch of its last change */
  changedAt: number
}

/** What a look at some paths of a folder found. */
export interface Looked {
  files: Map<string, Present>
  /** paths of which nothing is known */
  unread: string[]
  skipped: PassedFile[]
}

export interface LookOptions {
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

/** Looks at paths, `` for the whole folder. Two files that would get one name: the first one counts. */
export function look(paths: Iterable<string>, { folder, walk, onFolder }: LookOptions): Looked {
  const looked: Looked = { files: new Map(), unread: [], skipped: [] }
  const names = new Map<string, string>()
  const found = lookAt(folder, paths, walk, { onFolder, onUnread: (path) => looked.unread.push(path) })
  looked.skipped.push(...found.skipped)
  for (const { path: absolute, filename, inside: path = '' } of found.files) {
    const shown = nameInSpace(filename)
    const reason = shown.length > LIMITS.filename ? `its name is over ${LIMITS.filename} characters` : undefined
    if (reason !== undefined || (names.get(shown) ?? path) !== path) {
      looked.skipped.push({ filename, reason: reason ?? 'another file goes by the same name' })
      continue
    }
    names.set(shown, path)
    try {
      looked.files.set(path, presentOf(path, filename, statSync(absolute, { bigint: true })))
    } catch {
      looked.unread.push(path) // gone between two system calls, or not to be read: the next look tells
    }
  }
  return looked
}

/** The service trims the parts of names. */
function nameInSpace(filename: string): string {
  return filename
    .split('/')
    .map((part) => part.trim())
    .join('/')
}

function presentOf(path: string, filename: string, stats: BigIntStats): Present {
  return {
    ...{ path, filename, ...fileFacts(stats, Date.now()) },
    print: plainFingerprint(stats),
    changedAt: Math.max(Number(stats.mtimeMs), Number(stats.ctimeMs)),
  }
}

/** How a file looks now, to be compared with `print` of an earlier look; nothing when it cannot be told. */
export function printOf(absolute: string): string | undefined {
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
