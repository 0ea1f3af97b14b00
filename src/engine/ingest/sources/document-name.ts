import { createHash } from 'node:crypto'
import { posix } from 'node:path'
import { LIMITS } from '../../../contract/limits.js'

/** suffix that `createDocumentName` adds; an existing one could be mistaken for it */
const HASH_SUFFIX = /~[0-9a-f]{16}(?:\.[^./]*)?$/

// C0, DEL, C1, and characters that reorder text on a screen
const UNSAFE_CHARACTERS = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g
const MAX_SEGMENT = 255

/**
 * The name of the document of a page or file. Different ones have different names, so that none replaces another: a
 * unique and valid path stays unchanged, any other gets a suffix with a hash.
 *
 * @param key identifies it within its source
 */
export function createDocumentName(path: string, key: string, isUnique: boolean): string {
  const cleanPath = cleanName(path)
  if (isUnique && cleanPath === path && !HASH_SUFFIX.test(path)) return path
  const hash = createHash('sha256').update(key).digest('hex').slice(0, 16)
  const extension = posix.extname(cleanPath)
  return `${cleanPath.slice(0, cleanPath.length - extension.length)}~${hash}${extension}`
}

/** Cleans a name: without drive letters, `.`, `..`, empty parts, control and bidi characters. */
function cleanName(name: string): string {
  const parts = name
    .normalize('NFC')
    .toWellFormed()
    .replaceAll('\\', '/')
    .replace(/^[A-Za-z]:/, '')
    .replace(UNSAFE_CHARACTERS, '')
    .split('/')
    .map((part) => part.trim().slice(0, MAX_SEGMENT).toWellFormed().normalize('NFC').trim())
    .filter((part) => part !== '' && part !== '.' && part !== '..')
  let cleaned = parts.join('/')
  while (Buffer.byteLength(cleaned) > LIMITS.filename - MAX_SEGMENT && parts.length > 1) {
    parts.shift()
    cleaned = parts.join('/')
  }
  return cleaned === '' ? 'unnamed' : cleaned
}
