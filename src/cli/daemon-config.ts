import { nearest } from '../lib/text/nearest.js'
import { converterPrograms, programsOf } from '../local/allowed-programs.js'
import { dataLayout } from '../local/layout.js'
import type { ProviderSetting } from '../local/provider-setting.js'
import { canonicalName, withCanonicalNames } from '../local/setting-spellings.js'
import { SETTINGS, type SettingName } from '../local/settings.js'
import { CliError, usageError } from './cli-error.js'
import type { SettingRow } from './effective-config.js'
import { readJsonObject, writeJson } from './json-file.js'

export function daemonConfigPath(dataDir: string): string {
  return dataLayout(dataDir).config
}

/** The settings that a daemon started now would have; secrets are masked. */
export function daemonSettings(dataDir: string, env: NodeJS.ProcessEnv): SettingRow[] {
  const file = withCanonicalNames(readJsonObject(daemonConfigPath(dataDir)))
  return names().map((name) => {
    const setting = SETTINGS[name]
    const fromEnv = env[setting.env]
    const [value, origin]: [unknown, string] =
      fromEnv !== undefined && fromEnv !== ''
        ? [asRead(name, fromEnv), 'environment']
        : name in file
          ? [file[name], 'file']
          : [setting.default, 'default']
    return { name, value: shown(value), origin, about: setting.doc }
  })
}

/** Reads the providers from config.json. @throws CliError exit 2 if they are invalid */
export function configuredProviders(dataDir: string): readonly ProviderSetting[] {
  try {
    return SETTINGS.providers.read(readJsonObject(daemonConfigPath(dataDir)).providers ?? [])
  } catch (error) {
    if (error instanceof CliError) throw error
    throw usageError(`providers must be ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** Reads the command lines of providers and converters from config.json. @throws CliError exit 2 if they are invalid */
export function configuredPrograms(dataDir: string): string[][] {
  const file = readJsonObject(daemonConfigPath(dataDir))
  try {
    const converters = SETTINGS.converters.read(file.converters ?? [])
    return [...configuredProviders(dataDir).flatMap(programsOf), ...converters.flatMap(converterPrograms)]
  } catch (error) {
    if (error instanceof CliError) throw error
    throw usageError(`converters must be ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** Writes one setting to the daemon's config.json; `undefined` removes it. @throws CliError exit 2 */
export function setDaemonSetting(dataDir: string, key: string, text: string | undefined): void {
  const name = names().find((known) => known === canonicalName(key))
  if (name === undefined) throw unknownSetting(key, names())
  const path = daemonConfigPath(dataDir)
  const { [name]: _, ...rest } = withCanonicalNames(readJsonObject(path))
  if (text === undefined) {
    writeJson(path, rest)
    return
  }
  const value = parsed(text)
  try {
    SETTINGS[name].read(value)
  } catch (error) {
    throw usageError(`${name} must be ${error instanceof Error ? error.message : String(error)}`)
  }
  writeJson(path, { ...rest, [name]: value })
}

export function unknownSetting(key: string, known: readonly string[]): CliError {
  const close = nearest(key, known)
  const hint = close === undefined ? `settings are ${known.join(', ')}` : `did you mean \`${close}\`?`
  return usageError(`unknown setting ${JSON.stringify(key)}`, hint)
}

function names(): SettingName[] {
  return Object.keys(SETTINGS).filter((name): name is SettingName => Object.hasOwn(SETTINGS, name))
}

/** Parses a text as the daemon does: masking needs the structure. */
function asRead(name: SettingName, text: string): unknown {
  try {
    return SETTINGS[name].read(text)
  } catch {
    return 'invalid'
  }
}

/** Parses JSON; text that is not JSON is returned unchanged. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function shown(value: unknown): string {
  if (value === undefined) return ''
  if (typeof value === 'string') return value
  return JSON.stringify(value, (key, part: unknown) => (/apiKey$|headers$/i.test(key) ? '***' : part))
}
