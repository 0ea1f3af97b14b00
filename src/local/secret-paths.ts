import { delimiter, join } from 'node:path'
import { type DirSources, resolveLocalDirs } from './dirs.js'
import { listReadableNames } from './file-system.js'
import type { Settings } from './settings.js'

/** Environment variables that name files or folders with credentials. */
const CREDENTIAL_VARIABLES = [
  'AWS_CONFIG_FILE',
  'AWS_SHARED_CREDENTIALS_FILE',
  'AWS_WEB_IDENTITY_TOKEN_FILE',
  'AZURE_CONFIG_DIR',
  'CLOUDSDK_CONFIG',
  'CREDENTIALS_DIRECTORY',
  'DOCKER_CONFIG',
  'GNUPGHOME',
  'GOOGLE_APPLICATION_CREDENTIALS',
  'KUBECONFIG',
  'PGPASSFILE',
  'XDG_RUNTIME_DIR',
]

/** Folders in which containers and services find their secrets. */
const SECRET_MOUNTS = ['/run/secrets', '/var/run/secrets', '/run/credentials']

/**
 * Files and folders that no program which reads documents may see: the data directory, the folders of this user's
 * configuration, keys in the settings, and hidden entries of the home folder. They may not exist.
 */
export function listSecretPaths(dataDir: string, settings: Settings, sources: DirSources): string[] {
  const { env, home } = sources
  // KUBECONFIG is a list.
  const variables = CREDENTIAL_VARIABLES.flatMap((name) => [env[name], ...(env[name]?.split(delimiter) ?? [])])
  const configured = [settings.keys, settings.tlsKey, settings.backendPasswordFile, ...variables]
  return [
    dataDir,
    ...Object.values(resolveLocalDirs(sources)),
    ...configured.flatMap((path) => path || []),
    ...SECRET_MOUNTS,
    // A service user may have no home.
    ...listReadableNames(home).flatMap((name) => (name.startsWith('.') ? join(home, name) : [])),
  ]
}
