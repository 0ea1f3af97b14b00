import type { LocalDirs } from '../local/dirs.js'
import { configuredKeyFiles, type ProtectedFiles, protectedFiles } from '../local/protected-files.js'
import type { Place } from './contexts.js'
import { envValue } from './environment.js'

/** The files of this program that no command adds to a space. @param place the service in use */
export function ownFiles(dirs: LocalDirs, place?: Place): ProtectedFiles {
  const data = place?.kind === 'local' ? place.dataDir : dirs.data
  const { env } = process
  const token = envValue(env, 'KS_TOKEN_FILE')
  return protectedFiles({ ...dirs, data }, [...configuredKeyFiles(data, env), ...(token === undefined ? [] : [token])])
}
