import { existsSync } from 'node:fs'
import { isAbsolute, join, resolve } from 'node:path'
import { getHomeFolder, resolveLocalPath } from './local-path.js'

/** Folders of this program for one user: absolute paths, which may not exist yet. */
export interface LocalDirs {
  /** everything the local daemon owns */
  data: string
  /** contexts and credentials of the CLI */
  config: string
  /** safe to delete */
  cache: string
  /** data that survives a restart but needs no backup */
  state: string
}

/** The process's environment, platform and home folder; tests give others. */
export interface DirSources {
  env: Readonly<Record<string, string | undefined>>
  platform: NodeJS.Platform
  home: string
}

const APP = 'ks'

/**
 * The folders of this user: `KS_DATA_DIR`, `KS_CONFIG_DIR`, `KS_CACHE_DIR` and `KS_STATE_DIR` take precedence over the
 * rules of the platform (XDG Base Directory 0.8 where its variables are set, %APPDATA%, ~/Library).
 */
export function resolveLocalDirs(
  sources: DirSources = { env: process.env, platform: process.platform, home: getHomeFolder() },
): LocalDirs {
  const defaults = getPlatformDirs(sources)
  return {
    data: readOverride(sources, 'KS_DATA_DIR') ?? readXdgFolder(sources, 'XDG_DATA_HOME') ?? defaults.data,
    config: readOverride(sources, 'KS_CONFIG_DIR') ?? readXdgFolder(sources, 'XDG_CONFIG_HOME') ?? defaults.config,
    cache: readOverride(sources, 'KS_CACHE_DIR') ?? readXdgFolder(sources, 'XDG_CACHE_HOME') ?? defaults.cache,
    state: readOverride(sources, 'KS_STATE_DIR') ?? readXdgFolder(sources, 'XDG_STATE_HOME') ?? defaults.state,
  }
}

function readOverride({ env }: DirSources, name: string): string | undefined {
  const value = env[name]
  return value === undefined || value === '' ? undefined : resolve(resolveLocalPath(value, env))
}

/** A relative path in an XDG variable is invalid and must be ignored (XDG Base Directory 0.8). */
function readXdgFolder({ env, platform }: DirSources, name: string): string | undefined {
  const value = env[name]
  return platform === 'win32' || value === undefined || !isAbsolute(value) ? undefined : join(value, APP)
}

function getPlatformDirs({ env, platform, home }: DirSources): LocalDirs {
  if (platform === 'win32') {
    const roaming = env.APPDATA ?? join(home, 'AppData', 'Roaming')
    const local = env.LOCALAPPDATA ?? join(home, 'AppData', 'Local')
    return {
      data: join(local, APP, 'data'),
      config: join(roaming, APP),
      cache: join(local, APP, 'cache'),
      state: join(local, APP, 'state'),
    }
  }
  const unix: LocalDirs = {
    data: join(home, '.local', 'share', APP),
    config: join(home, '.config', APP),
    cache: join(home, '.cache', APP),
    state: join(home, '.local', 'state', APP),
  }
  if (platform !== 'darwin') return unix
  const support = join(home, 'Library', 'Application Support', APP)
  return {
    data: support,
    config: existsSync(join(home, '.config')) ? unix.config : support,
    cache: join(home, 'Library', 'Caches', APP),
    state: unix.state,
  }
}
