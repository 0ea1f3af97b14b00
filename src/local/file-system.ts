import { close, fsync, open, readdirSync, readlinkSync, realpathSync, statSync, write } from 'node:fs'
import { promisify } from 'node:util'
import { hasErrorCode } from './private-file.js'

const OBJECT_KEY = /^[0-9a-f]{24}\/sha256\/[0-9a-f]{2}\/[0-9a-f]{64}$/

/** Whether a text has the form of an object's key, which is its path below `objects/`: `<tenant>/sha256/ab/<hex>`. */
export function isObjectKey(text: string): boolean {
  return OBJECT_KEY.test(text)
}

/* These use file descriptors: for a small file, a `FileHandle` costs more than its bytes. */

export const openFile = promisify<string, string, number | undefined, number>(open)
export const syncFile = promisify(fsync)
export const closeFile = promisify(close)

/** Writes bytes from an offset on. @returns number of bytes written */
export function writeBytes(file: number, bytes: Uint8Array, offset: number): Promise<number> {
  return new Promise((resolve, reject) => {
    write(file, bytes, offset, bytes.length - offset, null, (error, count) =>
      error === null ? resolve(count) : reject(error),
    )
  })
}

/** Makes the content of a file, or the entries of a directory, durable. */
export async function syncPath(path: string): Promise<void> {
  const file = await openFile(path, 'r', undefined)
  try {
    await syncFile(file)
  } finally {
    await closeFile(file)
  }
}

/** Size of a file in bytes; 0 where there is none. */
export function getFileSize(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}

/** Names in a folder; none where it does not exist. */
export function listNames(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return []
    throw error
  }
}

/** Names in a folder; none where it cannot be read. */
export function listReadableNames(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

/** The target of a link; empty where it cannot be read. */
export function readLink(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    return ''
  }
}

/** The path without links; `undefined` where it cannot be resolved. */
export function resolveRealPath(path: string): string | undefined {
  try {
    return realpathSync(path)
  } catch {
    return undefined
  }
}

/** Returns `undefined` for the error of a missing file. @throws any other error */
export function ignoreMissing(error: unknown): undefined {
  if (hasErrorCode(error, 'ENOENT') || hasErrorCode(error, 'ENOTDIR')) return undefined
  throw error
}
