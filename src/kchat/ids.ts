import { resolveId } from '../cli/resolve.js'
import { localDirs } from '../local/dirs.js'

/** Resolves an id: as it was typed, or by its last 8 digits that a table showed. @throws CliError exit 5 */
export function idOf(kind: string, word: string): string {
  return isTail(word) ? resolveId(kind, word, localDirs().cache) : word
}

/** The same, encoded for a URL path. */
export function inPath(kind: string, word: string): string {
  return encodeURIComponent(idOf(kind, word))
}

export function isTail(word: string): boolean {
  return /^#?[0-9a-f]{8}$/i.test(word)
}
