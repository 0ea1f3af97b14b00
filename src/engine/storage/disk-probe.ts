import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * What the disk says to a small file in a folder, nothing where it takes it: SQLite tells a quota that is used up, or a
 * disk that is read-only, as an error.
 */
export function askDisk(folder: string, bytes: number): unknown {
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
