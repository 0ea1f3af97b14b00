import { readdir } from 'node:fs/promises'
import { ignoreMissing } from '../../local/file-system.js'
import { hasErrorCode } from '../../local/private-file.js'

/** An entry of a folder. */
export interface FolderEntry {
  name: string
  isFile: boolean
}

/**
 * Lists a directory in the order of the keys that begin with its names. Empty where the directory cannot be read.
 *
 * @param isExpanded whether the listing descends into a directory, given by its name with a trailing slash; any other name
 * is a key itself and has no slash
 */
export async function listFolderEntries(
  directory: string,
  isExpanded: (name: string) => boolean,
): Promise<FolderEntry[]> {
  try {
    const entries = await readdir(directory, { withFileTypes: true })
    const toKeyPart = (name: string) => (isExpanded(`${name}/`) ? `${name}/` : name)
    return entries
      .map((entry) => ({ name: entry.isDirectory() ? toKeyPart(entry.name) : entry.name, isFile: entry.isFile() }))
      .sort((a, b) => (a.name < b.name ? -1 : 1))
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT') || hasErrorCode(error, 'ENOTDIR') || hasErrorCode(error, 'EACCES')) return []
    throw error
  }
}

export async function listSortedNames(directory: string): Promise<string[]> {
  return ((await readdir(directory).catch(ignoreMissing)) ?? []).sort()
}
