import { readdir } from 'node:fs/promises'
import { ignoreMissing } from '../../local/file-system.js'
import { isCode } from '../../local/private-file.js'

/** An entry of a folder. */
export interface Entry {
  name: string
  isFile: boolean
}

/**
 * Lists a directory in the order of the keys that begin with its names. Empty where the directory cannot be read.
 *
 * @param isExpanded whether the listing descends into a directory, given by its name with a trailing slash; any other name
 * is a key itself and has no slash
 */
export async function entriesIn(directory: string, opens: (name: string) => boolean): Promise<Entry[]> {
  try {
    const entries = await readdir(directory, { withFileTypes: true })
    const nameOf = (name: string) => (opens(`${name}/`) ? `${name}/` : name)
    return entries
      .map((entry) => ({ name: entry.isDirectory() ? nameOf(entry.name) : entry.name, isFile: entry.isFile() }))
      .sort((a, b) => (a.name < b.name ? -1 : 1))
  } catch (error) {
    if (isCode(error, 'ENOENT') || isCode(error, 'ENOTDIR') || isCode(error, 'EACCES')) return []
    throw error
  }
}

export async function sortedNames(directory: string): Promise<string[]> {
  return ((await readdir(directory).catch(ignoreMissing)) ?? []).sort()
}
