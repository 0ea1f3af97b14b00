import { randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, linkSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

/** Files that only their owner may read, and that are complete or missing whenever the machine stops. */

/** Replaces `path` with a file of mode 0600 that contains `text`. */
export function writePrivateFile(path: string, text: string): void {
  const temporary = writeTemporary(path, text)
  try {
    renameSync(temporary, path)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
  syncFolder(dirname(path))
}

/**
 * Creates `path` with `text` unless it exists already.
 *
 * @returns the content of the file: of several processes that create it concurrently, one wins and all read its text
 */
export function createPrivateFile(path: string, text: string): string {
  const temporary = writeTemporary(path, text)
  try {
    linkSync(temporary, path) // unlike rename, link never replaces
  } catch (error) {
    if (!hasErrorCode(error, 'EEXIST')) throw error
  } finally {
    rmSync(temporary, { force: true })
  }
  syncFolder(dirname(path))
  return readFileSync(path, 'utf8')
}

/** The text of a file, or undefined where there is none. */
export function readIfExists(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return undefined
    throw error
  }
}

export function hasErrorCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}

function writeTemporary(path: string, text: string): string {
  const temporary = `${path}.${process.pid}.${randomBytes(4).toString('hex')}.tmp`
  const file = openSync(temporary, 'wx', 0o600)
  try {
    // not writeSync(): a disk that is nearly full may accept a part of the text without an error
    writeFileSync(file, text)
    fsyncSync(file)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  } finally {
    closeSync(file)
  }
  return temporary
}

function syncFolder(folder: string): void {
  if (process.platform === 'win32') return // folders cannot be opened on Windows
  const handle = openSync(folder, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
