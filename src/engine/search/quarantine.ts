import { mkdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/** Moves a directory to the one place for damaged files beside it; an earlier one there goes. */
export async function putAside(dir: string): Promise<void> {
  const aside = join(dirname(dir), 'quarantine')
  await rm(aside, { recursive: true, force: true })
  await mkdir(aside, { recursive: true })
  await rename(dir, join(aside, 'index')).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
  })
}
