import { resolveId } from '../cli/resolve.js'
import { localDirs } from '../local/dirs.js'

/** An id as it was typed, or the whole of one that a table showed by its last 8 digits. @throws CliError exit 5 */
export function idOf(kind: string, word: string): string {
  return isTail(word) ? resolveId(kind, word, localDirs().cache) : word
}

/** The same, as a part of a path. */
export function inPath(kind: string, word: string): string {
  return encodeURIComponent(idOf(kind, word))
}

export function isTail(word: string): boolean {
  return /^#?[0-9a-f]{8}$/i.test(word)
}
