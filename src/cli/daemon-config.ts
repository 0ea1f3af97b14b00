import { toErrorMessage } from '../lib/error-message.js'
import { findNearest } from '../lib/text/nearest.js'
import { listConverterPrograms, listProviderPrograms } from '../local/allowed-programs.js'
import { resolveDataLayout } from '../local/layout.js'
import type { ProviderSetting } from '../local/provider-setting.js'
import { toCanonicalName, withCanonicalNames } from '../local/setting-spellings.js'
import { SETTINGS, type SettingName } from '../local/settings.js'
import { CliError, usageError } from './cli-error.js'
import { readJsonObject, writeJson } from './json-file.js'
import type { SettingRow } from './json-output/machine.js'

export function getDaemonConfigPath(dataDir: string): string {
  return resolveDataLayout(dataDir).config
}

/** The settings that a daemon started now would have; secrets are masked. */
export function listDaemonSettings(dataDir: string, env: NodeJS.ProcessEnv): SettingRow[] {
  const config = withCanonicalNames(readJsonObject(getDaemonConfigPath(dataDir)))
  return listSettingNames().map((name) => {
    const setting = SETTINGS[name]
    const envText = env[setting.env]
    const [value, origin]: [unknown, string] =
      envText !== undefined && envText !== ''
        ? [parseForDisplay(name, envText), 'environment']
        : name in config
          ? [config[name], 'file']
          : [setting.default, 'default']
    return { name, value: formatMasked(value), origin, about: setting.doc }
  })
}

/** Reads the providers from config.json. @throws CliError exit 2 if they are invalid */
export function readConfiguredProviders(dataDir: string): readonly ProviderSetting[] {
  try {
    return SETTINGS.providers.read(readJsonObject(getDaemonConfigPath(dataDir)).providers ?? [])
  } catch (error) {
    if (error instanceof CliError) throw error
    throw usageError(`providers must be ${toErrorMessage(error)}`)
  }
}

/** Reads the command lines of providers and converters from config.json. @throws CliError exit 2 if they are invalid */
export function readConfiguredPrograms(dataDir: string): string[][] {
  const config = readJsonObject(getDaemonConfigPath(dataDir))
  try {
    const converters = SETTINGS.converters.read(config.converters ?? [])
    return [
      ...readConfiguredProviders(dataDir).flatMap(listProviderPrograms),
      ...converters.flatMap(listConverterPrograms),
    ]
  } catch (error) {
    if (error instanceof CliError) throw error
    throw usageError(`converters must be ${toErrorMessage(error)}`)
  }
}

/** Writes one setting to the daemon's config.json; `undefined` removes it. @throws CliError exit 2 */
export function setDaemonSetting(dataDir: string, key: string, text: string | undefined): void {
  const name = listSettingNames().find((known) => known === toCanonicalName(key))
  if (name === undefined) throw toUnknownSettingError(key, listSettingNames())
  const path = getDaemonConfigPath(dataDir)
  const { [name]: _, ...others } = withCanonicalNames(readJsonObject(path))
  if (text === undefined) {
    writeJson(path, others)
    return
  }
  const value = parseJsonOrText(text)
  try {
    SETTINGS[name].read(value)
  } catch (error) {
    throw usageError(`${name} must be ${toErrorMessage(error)}`)
  }
  writeJson(path, { ...others, [name]: value })
}

export function toUnknownSettingError(key: string, known: readonly string[]): CliError {
  const nearest = findNearest(key, known)
  const hint = nearest === undefined ? `settings are ${known.join(', ')}` : `did you mean \`${nearest}\`?`
  return usageError(`unknown setting ${JSON.stringify(key)}`, hint)
}

function listSettingNames(): SettingName[] {
  return Object.keys(SETTINGS).filter((name): name is SettingName => Object.hasOwn(SETTINGS, name))
}

/** Parses a text as the daemon does: masking needs the structure. */
function parseForDisplay(name: SettingName, text: string): unknown {
  try {
    return SETTINGS[name].read(text)
  } catch {
    return 'invalid'
  }
}

/** Parses JSON; text that is not JSON is returned unchanged. */
function parseJsonOrText(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function formatMasked(value: unknown): string {
  if (value === undefined) return ''
  if (typeof value === 'string') return value
  return JSON.stringify(value, (key, member: unknown) => (/apiKey$|headers$/i.test(key) ? '***' : member))
}
