import { statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { isCode } from './private-file.js'

const OBJECT_KEY = /^[0-9a-f]{24}\/sha256\/[0-9a-f]{2}\/[0-9a-f]{64}$/

/** Whether a text has the form of an object's key, which is its path below `objects/`: `<tenant>/sha256/ab/<hex>`. */
export function isObjectKey(text: string): boolean {
  return OBJECT_KEY.test(text)
}

/** What was written to a file, or the entries of a directory, is on the disk when this resolves. */
export async function syncPath(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
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
