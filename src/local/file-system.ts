import { close, fsync, open, statSync, write } from 'node:fs'
import { promisify } from 'node:util'
import { isCode } from './private-file.js'

const OBJECT_KEY = /^[0-9a-f]{24}\/sha256\/[0-9a-f]{2}\/[0-9a-f]{64}$/

/** Whether a text has the form of an object's key, which is its path below `objects/`: `<tenant>/sha256/ab/<hex>`. */
export function isObjectKey(text: string): boolean {
  return OBJECT_KEY.test(text)
}

/*
 * Files by their numbers: a `FileHandle` costs a small file more than its bytes do.
 */

export const opened = promisify<string, string, number | undefined, number>(open)
export const synced = promisify(fsync)
export const closed = promisify(close)

/** Writes what follows a place in some bytes. @returns how many bytes of it */
export function written(file: number, bytes: Uint8Array, from: number): Promise<number> {
  return new Promise((resolve, reject) => {
    write(file, bytes, from, bytes.length - from, null, (error, count) =>
      error === null ? resolve(count) : reject(error),
    )
  })
}

/** What was written to a file, or the entries of a directory, is on the disk when this resolves. */
export async function syncPath(path: string): Promise<void> {
  const file = await opened(path, 'r', undefined)
  try {
    await synced(file)
  } finally {
    await closed(file)
  }
}

/** Bytes of a file; 0 where there is none. */
export function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}

/** Nothing for an error that says that there is no such file. @throws any other */
export function ignoreMissing(error: unknown): undefined {
  if (isCode(error, 'ENOENT') || isCode(error, 'ENOTDIR')) return undefined
  throw error
}
