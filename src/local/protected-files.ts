import { statSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname } from 'node:path'
import { parseRecord, toNonEmptyString } from '../lib/json/values.js'
import { type LocalDirs, resolveLocalDirs } from './dirs.js'
import { resolveRealPath } from './file-system.js'
import { resolveDataLayout } from './layout.js'
import { readIfExists } from './private-file.js'
import { SETTINGS, type SettingName } from './settings.js'

/** Files that are never ingested: the directories of this program and the keys in its settings, by device and inode. */
export interface ProtectedFiles {
  /** Whether a path itself is protected; symbolic links are followed. */
  has(path: string): boolean
  /** @returns why a path, or one above its real path, is refused; `undefined` where it may be read */
  refusal(path: string): string | undefined
}

type EnvironmentVariables = Readonly<Record<string, string | undefined>>

/** Settings of the daemon that name a secret file or a folder of secrets. */
const KEY_SETTINGS = ['tlsKey', 'jwtPublicKeyFile', 'backendPasswordFile', 'keys'] as const satisfies SettingName[]

/**
 * The protected files at this moment.
 *
 * @param dirs in use; those of this user without overrides are protected, too
 * @param keyFiles from the settings
 */
export function findProtectedFiles(dirs: LocalDirs, keyFiles: readonly string[]): ProtectedFiles {
  const defaultDirs = resolveLocalDirs({
    env: { ...process.env, ...NO_OVERRIDES },
    platform: process.platform,
    home: homedir(),
  })
  const folders = [dirs, defaultDirs].flatMap(({ data, config, state }) => [data, config, state])
  const { signingKey, dataKey, cliToken, config, database } = resolveDataLayout(dirs.data)
  // Single files, too: a hard link to one is outside of the folders.
  const paths = [...folders, signingKey, dataKey, cliToken, config, database, ...keyFiles]
  const protectedBy = new Map<string, string>()
  for (const path of paths) {
    const id = getIdentity(path)
    if (id !== undefined && !protectedBy.has(id)) protectedBy.set(id, path)
  }
  const findProtection = (path: string) => protectedBy.get(getIdentity(path) ?? '')
  return {
    has: (path) => findProtection(path) !== undefined,
    refusal: (path) => {
      // If the path does not exist, its reader reports that.
      for (let ancestor = resolveRealPath(path); ancestor !== undefined; ancestor = getParent(ancestor)) {
        const protectedPath = findProtection(ancestor)
        if (protectedPath !== undefined)
          return (
            `${JSON.stringify(path)} is protected${protectedPath === path ? '' : ` by ${JSON.stringify(protectedPath)}`}: ` +
            'data, configuration, state and keys of this program cannot be added to a space'
          )
      }
      return undefined
    },
  }
}

/** The key files in the environment or in `config.json` of a data directory. */
export function readConfiguredKeyFiles(dataDir: string, env: EnvironmentVariables): string[] {
  const file = parseRecord(readIfExists(resolveDataLayout(dataDir).config) ?? '') ?? {}
  return KEY_SETTINGS.flatMap((name) => toNonEmptyString(env[SETTINGS[name].env]) ?? toNonEmptyString(file[name]) ?? [])
}

/** The key files of the effective settings. */
export function listKeyFiles(settings: Readonly<Partial<Record<SettingName, unknown>>>): string[] {
  return KEY_SETTINGS.flatMap((name) => toNonEmptyString(settings[name]) ?? [])
}

const NO_OVERRIDES: EnvironmentVariables = {
  KS_DATA_DIR: undefined,
  KS_CONFIG_DIR: undefined,
  KS_CACHE_DIR: undefined,
  KS_STATE_DIR: undefined,
}

function getIdentity(path: string): string | undefined {
  try {
    const stats = statSync(path, { bigint: true, throwIfNoEntry: false })
    return stats && `${stats.dev}-${stats.ino}`
  } catch {
    return undefined // no file can be opened there
  }
}

function getParent(path: string): string | undefined {
  const parent = dirname(path)
  return parent === path ? undefined : parent
}
