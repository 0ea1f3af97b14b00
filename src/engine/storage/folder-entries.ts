import { readdir } from 'node:fs/promises'
import { ignoreMissing } from '../../local/file-system.js'
import { isCode } from '../../local/private-file.js'

/** What is in a directory in the order of keys: names of directories end with a slash. Nothing where none can be read. */
export async function entriesIn(directory: string): Promise<string[]> {
  try {
    const entries = await readdir(directory, { withFileTypes: true })
    return entries.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name)).sort()
  } catch (error) {
    if (isCode(error, 'ENOENT') || isCode(error, 'ENOTDIR') || isCode(error, 'EACCES')) return []
    throw error
  }
}

export function withoutSlash(name: string): string {
  return name.endsWith('/') ? name.slice(0, -1) : name
}

export async function sortedNames(directory: string): Promise<string[]> {
  return ((await readdir(directory).catch(ignoreMissing)) ?? []).sort()
}
