import { createHash } from 'node:crypto'
import { posix } from 'node:path'
import { LIMITS } from '../../contract/limits.js'

/** suffix that `createDocumentName` adds; an existing one could be mistaken for it */
const MARK = /~[0-9a-f]{16}(?:\.[^./]*)?$/

// C0, DEL, C1, and characters that reorder text on a screen
const UNSHOWABLE = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g
const MAX_SEGMENT = 255

/**
 * The name of the document of a page or file. Different ones have different names, so that none replaces another: a
 * unique and valid path stays unchanged, any other gets a suffix with a hash.
 *
 * @param key identifies it within its source
 */
export function documentName(path: string, key: string, isUnique: boolean): string {
  const shown = plainName(path)
  if (isUnique && shown === path && !MARK.test(path)) return path
  const mark = createHash('sha256').update(key).digest('hex').slice(0, 16)
  const ending = posix.extname(shown)
  return `${shown.slice(0, shown.length - ending.length)}~${mark}${ending}`
}

/** Cleans a name: without drive letters, `.`, `..`, empty parts, control and bidi characters. */
function plainName(name: string): string {
  const parts = name
    .normalize('NFC')
    .toWellFormed()
    .replaceAll('\\', '/')
    .replace(/^[A-Za-z]:/, '')
    .replace(UNSHOWABLE, '')
    .split('/')
    .map((part) => part.trim().slice(0, MAX_SEGMENT).toWellFormed().normalize('NFC').trim())
    .filter((part) => part !== '' && part !== '.' && part !== '..')
  let shown = parts.join('/')
  while (Buffer.byteLength(shown) > LIMITS.filename - MAX_SEGMENT && parts.length > 1) {
    parts.shift()
    shown = parts.join('/')
  }
  return shown === '' ? 'unnamed' : shown
}
