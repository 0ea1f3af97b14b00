import { resolveId } from '../cli/resolve.js'
import { resolveLocalDirs } from '../local/dirs.js'

/** Resolves an id as it was typed: complete, or its last 8 digits that a table showed. @throws CliError exit 5 */
export function resolveTypedId(kind: string, typedId: string): string {
  return isIdTail(typedId) ? resolveId(kind, typedId, resolveLocalDirs().cache) : typedId
}

/** Resolves an id like `resolveTypedId`, and encodes it for a URL path. @throws CliError exit 5 */
export function resolveIdForPath(kind: string, typedId: string): string {
  return encodeURIComponent(resolveTypedId(kind, typedId))
}

/** Whether a text may be the last 8 digits of an id. */
export function isIdTail(text: string): boolean {
  return /^#?[0-9a-f]{8}$/i.test(text)
}
