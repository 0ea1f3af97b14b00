import { createHash } from 'node:crypto'
import { posix } from 'node:path'
import { displayName } from '../documents/filename.js'

/** what `documentName` adds; a name that has it already could be mistaken for another's */
const MARK = /~[0-9a-f]{16}(?:\.[^./]*)?$/

/**
 * The name of the document of a page or file. Different ones have different names, so that none replaces another: a path
 * that is shown as it is stands for itself, every other one gets a mark of what it is.
 *
 * @param key what tells it apart within its source
 */
export function documentName(path: string, key: string, isUnique: boolean): string {
  const shown = displayName(path)
  if (isUnique && shown === path && !MARK.test(path)) return path
  const mark = createHash('sha256').update(key).digest('hex').slice(0, 16)
  const ending = posix.extname(shown)
  return `${shown.slice(0, shown.length - ending.length)}~${mark}${ending}`
}
