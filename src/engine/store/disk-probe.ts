import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Writes a small file to a folder and removes it. Returns the error of the disk, or nothing: SQLite reports an
 * exhausted quota or a read-only disk as a plain I/O error.
 */
export function probeDisk(folder: string, bytes: number): unknown {
  const probe = join(folder, 'probe')
  try {
    writeFileSync(probe, Buffer.alloc(bytes))
    return undefined
  } catch (error) {
    return error
  } finally {
    rmSync(probe, { force: true })
  }
}
