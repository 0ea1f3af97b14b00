import { createHash } from 'node:crypto'
import { renameSync } from 'node:fs'
import { type FileHandle, link, mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { KsError } from '../../contract/errors.js'
import { closeFile, ignoreMissing, isObjectKey, openFile, syncFile, writeBytes } from '../../local/file-system.js'
import { hasErrorCode } from '../../local/private-file.js'

/** objects never change */
export const OBJECT_MODE = 0o440

/**
 * Creates a directory with its parents, one by one: with `recursive`, Node reports every error of the disk as `ENOENT`.
 *
 * @returns the directories whose entries changed, for the caller to sync
 */
export async function makeDirectories(directory: string): Promise<string[]> {
  try {
    await mkdir(directory, { mode: 0o700 })
    return [directory, dirname(directory)]
  } catch (error) {
    if (hasErrorCode(error, 'EEXIST')) return []
    if (!hasErrorCode(error, 'ENOENT')) throw error
  }
  const changedParents = await makeDirectories(dirname(directory))
  await mkdir(directory, { mode: 0o700 }).catch((error: unknown) => {
    // another process created it just now
    if (!hasErrorCode(error, 'EEXIST')) throw error
  })
  return [...changedParents, directory, dirname(directory)]
}

/** Reads all bytes of a file. `readFile()` would take a short read for the end of the file. */
export async function readAllBytes(handle: FileHandle): Promise<Buffer<ArrayBuffer>> {
  const bytes = Buffer.allocUnsafeSlow((await handle.stat()).size)
  let length = 0
  while (length < bytes.length) {
    const { bytesRead } = await handle.read(bytes, length, bytes.length - length, length)
    if (bytesRead === 0) break
    length += bytesRead
  }
  return bytes.subarray(0, length)
}

const SMALL_BYTES = 32 * 1024

/** SHA-256 of a file, in hex; closes the file. Reads a large file in chunks of `chunkBytes`. */
export async function hashAndClose(handle: FileHandle, chunkBytes: number): Promise<string> {
  const hash = createHash('sha256')
  const small = await readSmall(handle)
  if (small !== undefined) return hash.update(small).digest('hex')
  for await (const chunk of handle.createReadStream({ highWaterMark: chunkBytes })) hash.update(chunk)
  return hash.digest('hex')
}

/** Reads all bytes of a small file, nothing of a larger one, and closes it. */
async function readSmall(handle: FileHandle): Promise<Buffer | undefined> {
  try {
    if ((await handle.stat()).size > SMALL_BYTES) return undefined
    const bytes = await readAllBytes(handle)
    await handle.close()
    return bytes
  } catch (error) {
    await handle.close()
    throw error
  }
}

/** Creates a file with these bytes, which is durable when this resolves. @throws `EEXIST` */
export async function writeDurably(path: string, bytes: Buffer): Promise<void> {
  const file = await openFile(path, 'wx', OBJECT_MODE)
  try {
    // a nearly full disk may write fewer bytes without an error
    for (let offset = 0; offset < bytes.length; ) offset += await writeBytes(file, bytes, offset)
    await syncFile(file)
  } finally {
    await closeFile(file)
  }
}

/** Error codes of a file system that cannot link files. */
const NO_LINK_CODES = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']

/** Links a file to a second name. @returns the second name; the first one where the disk has no hard links */
export async function linkOrKeep(path: string, second: string): Promise<string> {
  try {
    await link(path, second)
    return second
  } catch (error) {
    if (!NO_LINK_CODES.some((code) => hasErrorCode(error, code))) throw error
    return path
  }
}

/** Renames a file synchronously. @returns whether it existed */
export function renameIfExists(from: string, to: string): boolean {
  try {
    renameSync(from, to)
    return true
  } catch (error) {
    ignoreMissing(error)
    return false
  }
}

/** Whether bytes have this SHA-256; computed in a thread. */
export async function matchesHash(bytes: Uint8Array<ArrayBuffer>, sha256: string): Promise<boolean> {
  return Buffer.from(await crypto.subtle.digest('SHA-256', bytes)).toString('hex') === sha256
}

/** @throws KsError `data-damaged` for a text that is not an object key: keys come from rows */
export function assertObjectKey(key: string): void {
  if (!isObjectKey(key)) throw new KsError('data-damaged', 'a stored object key is malformed; `ks fsck` lists its row')
}

export function damagedObjectError(): KsError {
  return new KsError(
    'data-damaged',
    'stored bytes are damaged: they differ from the bytes that were received; `ks fsck` lists them',
  )
}
