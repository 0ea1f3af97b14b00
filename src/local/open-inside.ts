import {
  closeSync,
  constants,
  type Dirent,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
  realpathSync,
} from 'node:fs'
import { sep } from 'node:path'

/**
 * Reading in folders where other users may write: between the check of a name and the opening, the file or a folder
 * above it may become a link. Therefore the opened file is checked, not its name.
 */

/** Does not block on a pipe in place of a file. */
export const READ_FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)

/** `EOUTSIDE` for what is not in its folder, `ENOTFILE` for what is no regular file. */
export class RefusedFileError extends Error {
  readonly code: 'EOUTSIDE' | 'ENOTFILE'

  constructor(code: 'EOUTSIDE' | 'ENOTFILE', message: string) {
    super(message)
    this.name = 'RefusedFile'
    this.code = code
  }
}

/**
 * Checks that an opened file is a regular one and is in a folder.
 *
 * @param fd opened from `path` with READ_FLAGS
 * @param root real path of the folder; `undefined` for a file that was named directly
 * @throws RefusedFileError
 */
export function checkOpened(fd: number, path: string, root: string | undefined): void {
  if (!fstatSync(fd).isFile()) throw new RefusedFileError('ENOTFILE', `${path} is no regular file`)
  if (root !== undefined && !isBelow(getOpenedPath(fd, path), root)) throw createOutsideError(path)
}

/** Opens a file for reading. @throws RefusedFileError; the system's error when it cannot be opened */
export function openInside(path: string, root: string | undefined): number {
  const fd = openSync(path, READ_FLAGS)
  try {
    checkOpened(fd, path, root)
    return fd
  } catch (error) {
    closeSync(fd)
    throw error
  }
}

/** Reads at most `size` bytes from the beginning of a file. @throws like `openInside` */
export function readInside(path: string, root: string | undefined, size = Number.POSITIVE_INFINITY): Buffer {
  const fd = openInside(path, root)
  try {
    const bytes = Buffer.allocUnsafeSlow(Math.min(size, fstatSync(fd).size))
    let filledBytes = 0
    while (filledBytes < bytes.length) {
      const count = readSync(fd, bytes, filledBytes, bytes.length - filledBytes, filledBytes)
      if (count === 0) break
      filledBytes += count
    }
    return bytes.subarray(0, filledBytes)
  } finally {
    closeSync(fd)
  }
}

/**
 * Lists a folder whose path contains no link.
 *
 * @param folder real path
 * @throws RefusedFileError `EOUTSIDE` where it or a folder above was replaced by a link; the system's error
 */
export function listFolder(folder: string): { entries: Dirent[]; names: () => Buffer[] } {
  if (process.platform !== 'linux') {
    const entries = readdirSync(folder, { withFileTypes: true })
    if (realpathSync(folder) !== folder) throw createOutsideError(folder)
    return { entries, names: () => readdirSync(folder, { encoding: 'buffer' }) }
  }
  const opened = openFolder(folder)
  try {
    return { entries: readdirSync(opened.path, { withFileTypes: true }), names: () => listNames(folder) }
  } finally {
    closeSync(opened.fd)
  }
}

function listNames(folder: string): Buffer[] {
  const { fd, path } = openFolder(folder)
  try {
    return readdirSync(path, { encoding: 'buffer' })
  } finally {
    closeSync(fd)
  }
}

/** @returns the folder and a path that stays valid whatever happens to its name */
function openFolder(folder: string): { fd: number; path: string } {
  const fd = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW)
  try {
    const path = `/proc/self/fd/${fd}`
    if (readlinkSync(path) !== folder) throw createOutsideError(folder)
    return { fd, path }
  } catch (error) {
    closeSync(fd)
    throw error
  }
}

/** The real path of an opened file. */
function getOpenedPath(fd: number, path: string): string {
  if (process.platform === 'linux') return readlinkSync(`/proc/self/fd/${fd}`)
  // Other systems have no call for it: the name is resolved again, and must lead to the opened file.
  const realPath = realpathSync(path)
  const [opened, current] = [fstatSync(fd, { bigint: true }), lstatSync(realPath, { bigint: true })]
  if (opened.dev !== current.dev || opened.ino !== current.ino || realpathSync(path) !== realPath)
    throw createOutsideError(path)
  return realPath
}

function isBelow(path: string, root: string): boolean {
  return path.startsWith(root.endsWith(sep) ? root : root + sep)
}

function createOutsideError(path: string): RefusedFileError {
  return new RefusedFileError('EOUTSIDE', `${path} leads out of its folder`)
}
