import { resolveId } from '../cli/resolve.js'
import { resolveLocalDirs } from '../local/dirs.js'

/** Resolves an id: as it was typed, or by its last 8 digits that a table showed. @throws CliError exit 5 */
export function resolveTypedId(kind: string, word: string): string {
  return isIdTail(word) ? resolveId(kind, word, resolveLocalDirs().cache) : word
}

/** The same, encoded for a URL path. */
export function resolveInPath(kind: string, word: string): string {
  return encodeURIComponent(resolveTypedId(kind, word))
}

export function isIdTail(word: string): boolean {
  return /^#?[0-9a-f]{8}$/i.test(word)
}
