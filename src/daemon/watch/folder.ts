import { statSync } from 'node:fs'
import { isAbsolute } from 'node:path'
import { KsError } from '../../contract/errors.js'
import type { ProtectedFiles } from '../../local/protected-files.js'

/**
 * Rejects a path that cannot be watched: one that is not a folder, or a folder in a directory of this program. A parent
 * folder of such a directory is allowed: the watch excludes the directory.
 *
 * @throws KsError `invalid-request`
 */
export function assertWatchable(folder: string, protectedFiles: ProtectedFiles): void {
  if (!isAbsolute(folder)) throw new KsError('invalid-request', `folder ${JSON.stringify(folder)} must be absolute`)
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw new KsError('invalid-request', `${JSON.stringify(folder)} is not a folder`)
  assertNotProtected(folder, protectedFiles)
}

/** @throws KsError `invalid-request` for a path in a directory of this program, or of one of its keys */
export function assertNotProtected(path: string, protectedFiles: ProtectedFiles): void {
  const refusal = protectedFiles.refusal(path)
  if (refusal !== undefined) throw new KsError('invalid-request', refusal)
}
