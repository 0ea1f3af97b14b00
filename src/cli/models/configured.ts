import { toErrorMessage } from '../../lib/error-message.js'
import type { ProviderSetting } from '../../local/provider-setting.js'
import { withCanonicalNames } from '../../local/setting-spellings.js'
import { SETTINGS } from '../../local/settings.js'
import { usageError } from '../cli-error.js'
import { getDaemonConfigPath, readConfiguredProviders } from '../daemon-config.js'
import { readJsonObject, writeJson } from '../json-file.js'
import type { ModelServer } from './server-request.js'

export const OPENAI_COMPATIBLE = 'openai-compatible'

export type NewProvider = Pick<ProviderSetting, 'provider' | 'apiKeyEnv' | 'contextTokens'> & { baseUrl: string }

/**
 * Writes providers to the daemon's config.json, replacing those of the same name. The first generator becomes the
 * default if none is set.
 *
 * @param generators chat models of these providers, as PROVIDER/MODEL
 * @returns the new default generator, if it changes
 * @throws CliError exit 2 for invalid providers
 */
export function saveProviders(
  dataDir: string,
  added: readonly NewProvider[],
  generators: readonly string[] = [],
): string | undefined {
  const path = getDaemonConfigPath(dataDir)
  const config = withCanonicalNames(readJsonObject(path))
  const addedNames = new Set(added.map(({ provider }) => provider))
  const others = readConfiguredProviders(dataDir).filter(
    ({ pluginId, provider }) => pluginId !== OPENAI_COMPATIBLE || !addedNames.has(provider),
  )
  const providers = [...others, ...added.map((provider) => ({ pluginId: OPENAI_COMPATIBLE, ...provider }))]
  try {
    SETTINGS.providers.read(providers)
  } catch (error) {
    throw usageError(`providers must be ${toErrorMessage(error)}`)
  }
  const [generator] = 'defaultGenerator' in config || process.env[SETTINGS.defaultGenerator.env] ? [] : generators
  const defaults = generator === undefined ? {} : { defaultGenerator: `${OPENAI_COMPATIBLE}/${generator}` }
  writeJson(path, { ...config, providers, ...defaults })
  return generator
}

/** The server of a provider; `missingKeyEnv` if its key variable is not set in this environment. */
export function toModelServer(
  { baseUrl = '', apiKey, apiKeyEnv, headers = {} }: ProviderSetting,
  env: NodeJS.ProcessEnv,
): { server: ModelServer; missingKeyEnv?: string } {
  const key = (apiKey ?? (apiKeyEnv === undefined ? undefined : env[apiKeyEnv]))?.trim()
  const server = { baseUrl, headers: { ...headers, ...(key ? { authorization: `Bearer ${key}` } : {}) } }
  return key || apiKeyEnv === undefined ? { server } : { server, missingKeyEnv: apiKeyEnv }
}

/** Parses the address of a server. @throws CliError exit 2 */
export function parseServerAddress(text: string): string {
  const withScheme = /^https?:\/\//.test(text) ? text : `http://${text}`
  if (!URL.canParse(withScheme)) throw usageError(`${JSON.stringify(text)} is not the address of a server`)
  const url = new URL(withScheme)
  if (url.username !== '' || url.password !== '')
    throw usageError('the address must not contain credentials', 'set the variable of the key with `--key-env`')
  return url.href.replace(/\/$/, '')
}

/** @returns the name @throws CliError exit 2 for an invalid one */
export function checkProviderName(name: string): string {
  if (/^[a-z0-9][a-z0-9._-]{0,63}$/i.test(name)) return name
  throw usageError(`a provider's name must be letters, digits, dots and dashes, received ${JSON.stringify(name)}`)
}
