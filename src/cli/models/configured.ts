import type { ProviderSetting } from '../../local/provider-setting.js'
import { withCanonicalNames } from '../../local/setting-spellings.js'
import { SETTINGS } from '../../local/settings.js'
import { usageError } from '../cli-error.js'
import { configuredProviders, daemonConfigPath } from '../daemon-config.js'
import { readJsonObject, writeJson } from '../json-file.js'
import type { Server } from './ask-server.js'

export const OPENAI_COMPATIBLE = 'openai-compatible'

/** Settings of a new provider. */
export type NewProvider = Pick<ProviderSetting, 'provider' | 'apiKeyEnv' | 'contextTokens'> & { baseUrl: string }

/**
 * Writes providers to the daemon's config.json, replacing those of the same name. The first generator becomes the
 * default if none is set.
 *
 * @param generators chat models of these providers, as PROVIDER/MODEL
 * @returns the new default generator, if it changes
 * @throws CliError exit 2 for invalid providers
 */
export function configureProviders(
  dataDir: string,
  added: readonly NewProvider[],
  generators: readonly string[] = [],
): string | undefined {
  const path = daemonConfigPath(dataDir)
  const file = withCanonicalNames(readJsonObject(path))
  const replaced = new Set(added.map(({ provider }) => provider))
  const kept = configuredProviders(dataDir).filter(
    ({ pluginId, provider }) => pluginId !== OPENAI_COMPATIBLE || !replaced.has(provider),
  )
  const list = [...kept, ...added.map((one) => ({ pluginId: OPENAI_COMPATIBLE, ...one }))]
  try {
    SETTINGS.providers.read(list)
  } catch (error) {
    throw usageError(`providers must be ${error instanceof Error ? error.message : String(error)}`)
  }
  const [generator] = 'defaultGenerator' in file || process.env[SETTINGS.defaultGenerator.env] ? [] : generators
  const chosen = generator === undefined ? {} : { defaultGenerator: `${OPENAI_COMPATIBLE}/${generator}` }
  writeJson(path, { ...file, providers: list, ...chosen })
  return generator
}

/** The server of a provider; `missingKeyEnv` if its key variable is not set in this environment. */
export function serverOf(
  { baseUrl = '', apiKey, apiKeyEnv, headers = {} }: ProviderSetting,
  env: NodeJS.ProcessEnv,
): { server: Server; missingKeyEnv?: string } {
  const key = (apiKey ?? (apiKeyEnv === undefined ? undefined : env[apiKeyEnv]))?.trim()
  const server = { baseUrl, headers: { ...headers, ...(key ? { authorization: `Bearer ${key}` } : {}) } }
  return key || apiKeyEnv === undefined ? { server } : { server, missingKeyEnv: apiKeyEnv }
}

/** Parses the address of a server. @throws CliError exit 2 */
export function serverAddress(text: string): string {
  const withScheme = /^https?:\/\//.test(text) ? text : `http://${text}`
  if (!URL.canParse(withScheme)) throw usageError(`${JSON.stringify(text)} is not the address of a server`)
  const url = new URL(withScheme)
  if (url.username !== '' || url.password !== '')
    throw usageError('the address must not contain credentials', 'set the variable of the key with `--key-env`')
  return url.href.replace(/\/$/, '')
}

export function checkName(name: string): string {
  if (/^[a-z0-9][a-z0-9._-]{0,63}$/i.test(name)) return name
  throw usageError(`a provider's name must be letters, digits, dots and dashes, received ${JSON.stringify(name)}`)
}
