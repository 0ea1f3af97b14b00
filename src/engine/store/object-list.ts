import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import { ignoreMissing, isObjectKey } from '../../local/file-system.js'
import { type FolderEntry, listFolderEntries } from './folder-entries.js'

/** An entry below a tenant's folder, by its name alone. */
export interface ListedFile {
  key: string
  /** whether it is a file with the name of an object; other entries are not ours */
  isObject: boolean
}

/** A file below a tenant's folder. */
export interface StoredFile extends ListedFile {
  size: number
  modifiedAt: number
  /** last status change of the file; a file that is created again under its name has another */
  changedAt: number
}

/** the folder of a tenant's objects */
const OBJECTS_FOLDER = 'sha256/'
const HEX_FOLDER = /^[0-9a-f]{2}\/$/

/** Lists files of a tenant after `after` in the order of their keys. @param prefix of the tenant's keys */
export async function listObjectFiles(
  root: string,
  prefix: string,
  after: string,
  limit: number,
): Promise<ListedFile[]> {
  const found: ListedFile[] = []
  const add = (parentKey: string, entries: readonly FolderEntry[]): void => {
    for (const { name, isFile } of entries) {
      const key = parentKey + name
      if (key > after && found.length < limit) found.push({ key, isObject: isFile && isObjectKey(key) })
    }
  }
  for (const top of await listFolderEntries(join(root, prefix), (name) => name === OBJECTS_FOLDER)) {
    if (top.name !== OBJECTS_FOLDER) {
      add(prefix, [top])
      continue
    }
    for (const folder of await listFolderEntries(join(root, prefix, OBJECTS_FOLDER), (name) => HEX_FOLDER.test(name))) {
      if (!HEX_FOLDER.test(folder.name)) {
        add(prefix + OBJECTS_FOLDER, [folder])
        continue
      }
      const parentKey = prefix + OBJECTS_FOLDER + folder.name
      if (parentKey.slice(0, after.length) < after.slice(0, parentKey.length)) continue
      add(parentKey, await listFolderEntries(join(root, parentKey), () => false))
      if (found.length >= limit) return found
    }
  }
  return found
}

/** Sizes and times of listed files; omits files that no longer exist. */
export async function describeObjectFiles(root: string, files: readonly ListedFile[]): Promise<StoredFile[]> {
  const stats = await Promise.all(files.map(({ key }) => lstat(join(root, key)).catch(ignoreMissing)))
  return files.flatMap(({ key }, index): StoredFile[] => {
    const stat = stats[index]
    if (stat === undefined) return []
    const { size, mtimeMs: modifiedAt, ctimeMs: changedAt } = stat
    return [{ key, size, modifiedAt, changedAt, isObject: stat.isFile() && isObjectKey(key) }]
  })
}
