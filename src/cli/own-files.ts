import type { LocalDirs } from '../local/dirs.js'
import { findProtectedFiles, type ProtectedFiles, readConfiguredKeyFiles } from '../local/protected-files.js'
import { envValue } from './environment.js'

/** The files of this program, which no command may add to a space. @param tokenFile value of `--token-file` */
export function getProtectedFiles(dirs: LocalDirs, tokenFile?: string): ProtectedFiles {
  const { env } = process
  const token = tokenFile ?? envValue(env, 'KS_TOKEN_FILE')
  return findProtectedFiles(dirs, [...readConfiguredKeyFiles(dirs.data, env), ...(token === undefined ? [] : [token])])
}
