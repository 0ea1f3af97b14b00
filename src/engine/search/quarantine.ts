import type { Stats } from 'node:fs'
import { lstat, mkdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/** The entry at a path, without following a link; undefined if there is none. */
export async function lstatIfExists(path: string): Promise<Stats | undefined> {
  return lstat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
}

/** Moves a directory to `quarantine` in the same parent, replacing an earlier one there. */
export async function moveToQuarantine(dir: string): Promise<void> {
  const quarantine = join(dirname(dir), 'quarantine')
  await rm(quarantine, { recursive: true, force: true })
  await mkdir(quarantine, { recursive: true })
  await rename(dir, join(quarantine, 'index')).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
  })
}
