import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import { ignoreMissing, isObjectKey } from '../../local/file-system.js'
import { type Entry, entriesIn } from './folder-entries.js'

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
const OBJECTS = 'sha256/'
const HEX_FOLDER = /^[0-9a-f]{2}\/$/

/** Lists files of a tenant after `after` in the order of their keys. @param prefix of the tenant's keys */
export async function listFiles(root: string, prefix: string, after: string, limit: number): Promise<ListedFile[]> {
  const found: ListedFile[] = []
  const add = (above: string, entries: readonly Entry[]): void => {
    for (const { name, isFile } of entries) {
      const key = above + name
      if (key > after && found.length < limit) found.push({ key, isObject: isFile && isObjectKey(key) })
    }
  }
  for (const top of await entriesIn(join(root, prefix), (name) => name === OBJECTS)) {
    if (top.name !== OBJECTS) {
      add(prefix, [top])
      continue
    }
    for (const folder of await entriesIn(join(root, prefix, OBJECTS), (name) => HEX_FOLDER.test(name))) {
      if (!HEX_FOLDER.test(folder.name)) {
        add(prefix + OBJECTS, [folder])
        continue
      }
      const above = prefix + OBJECTS + folder.name
      if (above.slice(0, after.length) < after.slice(0, above.length)) continue
      add(above, await entriesIn(join(root, above), () => false))
      if (found.length >= limit) return found
    }
  }
  return found
}

/** Sizes and times of listed files; omits files that no longer exist. */
export async function describeFiles(root: string, files: readonly ListedFile[]): Promise<StoredFile[]> {
  const there = await Promise.all(files.map(({ key }) => lstat(join(root, key)).catch(ignoreMissing)))
  return files.flatMap(({ key }, place): StoredFile[] => {
    const at = there[place]
    if (at === undefined) return []
    const { size, mtimeMs: modifiedAt, ctimeMs: changedAt } = at
    return [{ key, size, modifiedAt, changedAt, isObject: at.isFile() && isObjectKey(key) }]
  })
}
