import { readdir } from 'node:fs/promises'
import { ignoreMissing } from '../../local/file-system.js'
import { isCode } from '../../local/private-file.js'

/** What stands in a folder. */
export interface Entry {
  name: string
  isFile: boolean
}

/**
 * What is in a directory in the order of the keys that begin with its names. Nothing where none can be read.
 *
 * @param opens whether a directory, named with a slash at its end, stands for what is in it; any other is a key itself,
 *   and has no slash
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
