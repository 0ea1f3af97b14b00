import type { ProviderSetting } from '../../local/provider-setting.js'
import { withCanonicalNames } from '../../local/setting-spellings.js'
import { SETTINGS } from '../../local/settings.js'
import { usageError } from '../cli-error.js'
import { configuredProviders, daemonConfigPath } from '../daemon-config.js'
import { readJsonObject, writeJson } from '../json-file.js'
import type { Server } from './ask-server.js'

export const OPENAI_COMPATIBLE = 'openai-compatible'

/** What a new provider is known by. */
export type NewProvider = Pick<ProviderSetting, 'provider' | 'apiKeyEnv' | 'contextTokens'> & { baseUrl: string }

/**
 * Writes providers into the daemon's config.json, in place of those of the same name. The first generator becomes the
 * default one.
 *
 * @param generators models of these providers that can answer, as PROVIDER/MODEL
 * @returns the new default generator, if it changes
 * @throws CliError exit 2 when one could not be read back
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

/** How a provider's server is asked; `missingKeyEnv` where its key is not in this environment. */
export function serverOf(
  { baseUrl = '', apiKey, apiKeyEnv, headers = {} }: ProviderSetting,
  env: NodeJS.ProcessEnv,
): { server: Server; missingKeyEnv?: string } {
  const key = (apiKey ?? (apiKeyEnv === undefined ? undefined : env[apiKeyEnv]))?.trim()
  const server = { baseUrl, headers: { ...headers, ...(key ? { authorization: `Bearer ${key}` } : {}) } }
  return key || apiKeyEnv === undefined ? { server } : { server, missingKeyEnv: apiKeyEnv }
}

/** An address of a server as a person gives it. @throws CliError exit 2 */
export function serverAddress(text: string): string {
  const withScheme = /^https?:\/\//.test(text) ? text : `http://${text}`
  if (!URL.canParse(withScheme)) throw usageError(`${JSON.stringify(text)} is no address of a server`)
  const url = new URL(withScheme)
  if (url.username !== '' || url.password !== '')
    throw usageError('the address must not hold credentials', 'name the variable that holds the key with `--key-env`')
  return url.href.replace(/\/$/, '')
}

export function checkName(name: string): string {
  if (/^[a-z0-9][a-z0-9._-]{0,63}$/i.test(name)) return name
  throw usageError(`a provider's name must be letters, digits, dots and dashes, received ${JSON.stringify(name)}`)
}
