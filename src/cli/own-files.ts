import type { LocalDirs } from '../local/dirs.js'
import { findProtectedFiles, type ProtectedFiles, readConfiguredKeyFiles } from '../local/protected-files.js'
import { getEnvValue } from './environment.js'
import { readLocalPath } from './local-path.js'

/** The files of this program, which no command may add to a space. @param tokenFile value of `--token-file` */
export function getProtectedFiles(dirs: LocalDirs, tokenFile?: string): ProtectedFiles {
  const { env } = process
  const usedTokenFile = tokenFile ?? getEnvValue(env, 'KS_TOKEN_FILE')
  const tokenFiles = usedTokenFile === undefined ? [] : [readLocalPath(usedTokenFile)]
  return findProtectedFiles(dirs, [...readConfiguredKeyFiles(dirs.data, env), ...tokenFiles])
}
