import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { lstat, mkdir, open, readdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { isRecord } from '../../lib/json/values.js'
import { ignoreMissing, isObjectKey, syncPath } from '../file-system.js'

const CHUNK_BYTES = 256 * 1024

export interface MeasuredFile {
  size: number
  sha256: string
}

/** Contents of a snapshot. Written last: a snapshot without one is incomplete. */
export interface SnapshotManifest {
  format: 1
  createdAt: string
  /** of the program that created it */
  version: string
  schema: number
  store?: { id: string; opened: number }
  files: (MeasuredFile & { name: string })[]
  objects: { key: string; size: number }[]
  /** keys of objects that rows refer to and that could not be read, or had other bytes than expected */
  missing: string[]
}

const FILE_NAME = /^[a-z.]+$/

/** Whether a value from a file is a valid manifest: its names become paths. */
export function isManifest(value: unknown): value is SnapshotManifest {
  if (!isRecord(value) || value.format !== 1 || typeof value.createdAt !== 'string') return false
  const { store, files, objects } = value
  if (store !== undefined && (!isRecord(store) || typeof store.id !== 'string' || typeof store.opened !== 'number'))
    return false
  return isListOf(files, 'name', (name) => FILE_NAME.test(name)) && isListOf(objects, 'key', isObjectKey)
}

/** Whether a value is a list of objects that have a size and, in the given field, a valid text. */
function isListOf(value: unknown, field: string, isValid: (text: string) => boolean): boolean {
  if (!Array.isArray(value)) return false
  return value.every((entry) => isRecord(entry) && isValid(String(entry[field])) && typeof entry.size === 'number')
}

/** The hash at the end of an object's key. */
export function getKeyHash(key: string): string {
  return key.slice(key.lastIndexOf('/') + 1)
}

/** Size and hash of a regular file; `undefined` where there is none. */
export async function measureFile(path: string): Promise<MeasuredFile | undefined> {
  const stats = await lstat(path).catch(ignoreMissing)
  if (stats?.isFile() !== true) return undefined
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(path, { highWaterMark: CHUNK_BYTES })) hash.update(chunk)
  return { size: stats.size, sha256: hash.digest('hex') }
}

/**
 * Copies a file under another name, syncs it and computes its hash. A process that is killed leaves a temporary file.
 *
 * @param sha256 expected hash; a copy with another one is removed
 * @returns `undefined` where there is no such file, or it has another hash
 */
export async function copyFile(
  source: string,
  target: string,
  mode: number,
  sha256?: string,
): Promise<MeasuredFile | undefined> {
  const stats = await lstat(source).catch(ignoreMissing)
  if (stats?.isFile() !== true) return undefined
  await mkdir(dirname(target), { recursive: true, mode: 0o700 })
  const temporary = `${target}.${process.pid}.tmp`
  const hash = createHash('sha256')
  let size = 0
  const handle = await open(temporary, 'w', mode)
  try {
    for await (const chunk of createReadStream(source, { highWaterMark: CHUNK_BYTES })) {
      hash.update(chunk)
      size += chunk.length
      await handle.writeFile(chunk)
    }
    await handle.sync()
  } finally {
    await handle.close()
  }
  const measured = { size, sha256: hash.digest('hex') }
  if (sha256 !== undefined && measured.sha256 !== sha256) {
    await rm(temporary, { force: true })
    return undefined
  }
  await rename(temporary, target)
  return measured
}

/** Makes the entries of folders durable. */
export async function syncFolders(folders: Iterable<string>): Promise<void> {
  for (const folder of folders) await syncPath(folder)
}

/** A folder and all folders below it. */
export async function listFoldersBelow(folder: string): Promise<string[]> {
  const below = await readdir(folder, { withFileTypes: true, recursive: true })
  return [folder, ...below.filter((entry) => entry.isDirectory()).map((entry) => join(entry.parentPath, entry.name))]
}

/** Runs `work` for all items, `concurrency` at a time. */
export async function forEachConcurrently<T>(
  items: readonly T[],
  concurrency: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const queue = items.values()
  const worker = async () => {
    for (const item of queue) await work(item)
  }
  await Promise.all(Array.from({ length: concurrency }, worker))
}
