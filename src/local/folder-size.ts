import type { Stats } from 'node:fs'
import { lstat, opendir } from 'node:fs/promises'
import { join } from 'node:path'
import { ignoreMissing } from './file-system.js'

const BLOCK_BYTES = 512

export interface FolderSize {
  /** Bytes on disk. */
  bytes: number
  /** False if the folder has more entries than were measured. */
  isComplete: boolean
}

/** Measures the space on disk of a folder's files. Files that are removed meanwhile do not count. */
export async function measureFolder(folder: string, maxEntries = Number.POSITIVE_INFINITY): Promise<FolderSize> {
  let bytes = 0
  let entries = 0
  const folders = [folder]
  for (let path = folders.pop(); path !== undefined; path = folders.pop()) {
    const directory = await opendir(path).catch(ignoreMissing)
    for await (const entry of directory ?? []) {
      if (++entries > maxEntries) return { bytes, isComplete: false }
      const entryPath = join(path, entry.name)
      if (entry.isDirectory()) folders.push(entryPath)
      const stats = await lstat(entryPath).catch(ignoreMissing)
      if (stats !== undefined) bytes += getDiskBytes(stats)
    }
  }
  return { bytes, isComplete: true }
}

/** Some systems do not report blocks. */
function getDiskBytes({ blocks, size }: Stats): number {
  return Number.isFinite(blocks) ? blocks * BLOCK_BYTES : size
}
