import { KsError } from '../contract/errors.js'
import { toErrorMessage } from '../lib/error-message.js'
import { isRecord } from '../lib/json/values.js'
import { readDatabasePassword } from '../local/database-address.js'
import { readIfExists } from '../local/private-file.js'
import { withCanonicalNames } from '../local/setting-spellings.js'
import { SETTINGS, type SettingName, type Settings } from '../local/settings.js'

/** Where the value of a setting came from. */
export type SettingOrigin = 'flag' | 'environment' | 'file' | 'default'

export interface LoadedSettings {
  settings: Settings
  origins: Record<SettingName, SettingOrigin>
}

interface ConfigSources {
  /** path of config.json, which need not exist */
  file: string
  env: Readonly<Record<string, string | undefined>>
  flags: { readonly [N in SettingName]?: unknown }
}

/** Settings that must not come from a file inside the data directory. */
const ENVIRONMENT_ONLY: readonly SettingName[] = ['allowNetworkDisk']

/**
 * Loads the settings in force: flag over environment over `config.json` over default.
 *
 * @throws KsError `invalid-request` with the setting, its origin and its rule
 */
export function loadSettings(sources: ConfigSources): LoadedSettings {
  const file = readConfigFile(sources.file)
  const values: Partial<Record<SettingName, unknown>> = {}
  const origins: Partial<Record<SettingName, SettingOrigin>> = {}
  const names = Object.keys(SETTINGS) as SettingName[] // the keys of a const object
  for (const name of names) {
    const { value, origin } = resolveSetting(name, sources, file)
    values[name] = value
    origins[name] = origin
  }
  // Every name of the table was read by its own reader above.
  return { settings: values as Settings, origins: origins as Record<SettingName, SettingOrigin> }
}

function resolveSetting(
  name: SettingName,
  { env, flags }: ConfigSources,
  file: ReadonlyMap<string, unknown>,
): { value: unknown; origin: SettingOrigin } {
  const setting = SETTINGS[name]
  const fromEnv = env[setting.env]
  if (flags[name] !== undefined) {
    const value = readSetting(name, flags[name], 'the command line')
    if (name === 'backend') refusePassword(flags[name])
    return { value, origin: 'flag' }
  }
  if (fromEnv !== undefined && fromEnv !== '')
    return { value: readSetting(name, fromEnv, setting.env), origin: 'environment' }
  if (file.has(name)) return { value: readSetting(name, file.get(name), 'config.json'), origin: 'file' }
  return { value: setting.default, origin: 'default' }
}

/** Other users of a machine can see the command lines of all programs. */
function refusePassword(backend: unknown): void {
  if (typeof backend === 'string' && readDatabasePassword(backend) !== undefined)
    throw new KsError(
      'invalid-request',
      `a password on the command line is visible to others: remove it from --backend, and provide it by ${SETTINGS.backendPasswordFile.env}, PGPASSWORD or ~/.pgpass`,
    )
}

function readSetting(name: SettingName, value: unknown, origin: string): unknown {
  try {
    return SETTINGS[name].read(value)
  } catch (error) {
    // The value is not part of the message: it may contain a key.
    throw new KsError('invalid-request', `setting ${name} in ${origin} must be ${toErrorMessage(error)}`)
  }
}

function readConfigFile(path: string): ReadonlyMap<string, unknown> {
  const text = readIfExists(path)
  if (text === undefined) return new Map()
  let content: unknown
  try {
    content = JSON.parse(text)
  } catch {
    throw new KsError('malformed-json', `${path} is not valid JSON`)
  }
  if (!isRecord(content)) throw new KsError('invalid-request', `${path} must contain a JSON object`)
  const entries = new Map<string, unknown>(Object.entries(ownNames({ ...content }, path)))
  for (const key of entries.keys()) {
    if (!Object.hasOwn(SETTINGS, key))
      throw new KsError('invalid-request', `${path} contains an unknown setting ${JSON.stringify(key)}`)
    if (ENVIRONMENT_ONLY.some((name) => name === key))
      throw new KsError('invalid-request', `setting ${key} is read from the environment only, not from ${path}`)
  }
  return entries
}

function ownNames(value: Record<string, unknown>, path: string): Record<string, unknown> {
  try {
    return withCanonicalNames(value)
  } catch (error) {
    throw new KsError('invalid-request', `${path}: ${toErrorMessage(error)}`)
  }
}
