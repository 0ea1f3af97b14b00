/** Maximum length of one part of a path, in characters: with four bytes each it still fits most file systems. */
const MAX_SEGMENT_LENGTH = 120
/** Maximum length of the path of a file below its container, in bytes. */
const MAX_PATH_BYTES = 480

/** Files that operating systems add to archives without the user. */
const SYSTEM_FILE = /(?:^|\/)(?:__MACOSX\/|\.DS_Store$|Thumbs\.db$|desktop\.ini$)/i

/**
 * The path of a file below its container, from any name: it does not lead up or out, and has no drive and no empty or
 * over-long part. Removes outer folders where the path is too long.
 */
export function toSafePath(name: string): string {
  const parts = name
    .toWellFormed()
    .replaceAll('\u0000', '')
    .replaceAll('\\', '/')
    .replace(/^[A-Za-z]:(?=\/)/, '')
    .split('/')
    .filter((part) => part !== '' && part !== '.' && part !== '..')
    .map(shortenSegment)
  while (parts.length > 1 && Buffer.byteLength(parts.join('/')) > MAX_PATH_BYTES) parts.shift()
  return parts.join('/') || 'unnamed'
}

/** Shortens a part of a path and keeps its ending. */
function shortenSegment(part: string): string {
  if (part.length <= MAX_SEGMENT_LENGTH) return part
  const dot = part.lastIndexOf('.')
  const ending = dot > 0 && part.length - dot <= 12 ? part.slice(dot) : ''
  return (part.slice(0, MAX_SEGMENT_LENGTH - ending.length) + ending).toWellFormed()
}

/** Whether a file is ignored: it is hidden, in a hidden folder, or was added by an operating system. */
export function isIgnoredFile(path: string): boolean {
  return SYSTEM_FILE.test(path) || path.split('/').some((part) => part.startsWith('.'))
}

/** Makes file names unique: the second `a.txt` becomes `a (2).txt`. */
export class UniqueNames {
  readonly #taken = new Map<string, number>()

  makeUnique(path: string): string {
    const count = (this.#taken.get(path) ?? 0) + 1
    this.#taken.set(path, count)
    if (count === 1) return path
    const slash = path.lastIndexOf('/')
    const dot = path.lastIndexOf('.')
    const endingStart = dot > slash + 1 ? dot : path.length
    // The new name may be taken, too.
    return this.makeUnique(`${path.slice(0, endingStart)} (${count})${path.slice(endingStart)}`)
  }
}
