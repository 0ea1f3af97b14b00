/** What one part of a path may be long, in characters: with four bytes each it still fits most file systems. */
const MAX_SEGMENT = 120
/** What the path of a file below its container may be long, in bytes. */
const MAX_PATH_BYTES = 480

/** Files that systems leave in archives, and that nobody put there. */
const LITTER = /(?:^|\/)(?:__MACOSX\/|\.DS_Store$|Thumbs\.db$|desktop\.ini$)/i

/**
 * The path of a file below its container, from a name that may be anything: no way up or out, no drive, no part that is empty
 * or too long. Where it is too long as a whole, outer folders go.
 */
export function safePath(name: string): string {
  const parts = name
    .toWellFormed()
    .replaceAll('\u0000', '')
    .replaceAll('\\', '/')
    .replace(/^[A-Za-z]:(?=\/)/, '')
    .split('/')
    .filter((part) => part !== '' && part !== '.' && part !== '..')
    .map(shortened)
  while (parts.length > 1 && Buffer.byteLength(parts.join('/')) > MAX_PATH_BYTES) parts.shift()
  return parts.join('/') || 'unnamed'
}

/** A part of a path that keeps its ending. */
function shortened(part: string): string {
  if (part.length <= MAX_SEGMENT) return part
  const dot = part.lastIndexOf('.')
  const ending = dot > 0 && part.length - dot <= 12 ? part.slice(dot) : ''
  return (part.slice(0, MAX_SEGMENT - ending.length) + ending).toWellFormed()
}

/** Whether nobody looks for a file: it is hidden, lies in a hidden folder, or was left by a system. */
export function isLitter(path: string): boolean {
  return LITTER.test(path) || path.split('/').some((part) => part.startsWith('.'))
}

/** Tells files of one name apart: the second one of `a.txt` is `a (2).txt`. */
export class Namesakes {
  readonly #taken = new Map<string, number>()

  name(path: string): string {
    const times = (this.#taken.get(path) ?? 0) + 1
    this.#taken.set(path, times)
    if (times === 1) return path
    const slash = path.lastIndexOf('/')
    const dot = path.lastIndexOf('.')
    const at = dot > slash + 1 ? dot : path.length
    // what it becomes may be taken too
    return this.name(`${path.slice(0, at)} (${times})${path.slice(at)}`)
  }
}
