import { CliError } from '../cli/cli-error.js'
import { getEnvValue } from '../cli/environment.js'
import { EXIT } from '../contract/errors.js'
import { getStoredKey } from './keys.js'
import type { KchatOptions } from './options.js'
import { resolveKeyStore } from './settings.js'

/**
 * Selects the key of the environment, otherwise the stored one.
 *
 * @param isTrusted whether the user's own flag, environment or file selects the service: a project file must not
 * redirect the environment's key
 * @returns the key, and its description for `--verbose`
 * @throws CliError exit 4 if the stored key is for another service, 4 or 5 without a stored key
 */
export function selectApiKey(
  options: KchatOptions,
  { isTrusted }: { isTrusted: boolean },
): { token: string; description: string } {
  const environmentKey = getEnvValue(process.env, 'KCHAT_API_KEY') ?? getEnvValue(process.env, 'KCHAT_KEY')
  if (environmentKey !== undefined && isTrusted)
    return { token: environmentKey, description: 'the key of KCHAT_API_KEY' }
  const { service, dirs } = resolveKeyStore(options)
  const name = options.app ?? getEnvValue(process.env, 'KCHAT_APP')
  const stored = getStoredKey(dirs.config, name)
  if (stored.service === service) return { token: stored.key, description: `the key of ${JSON.stringify(stored.name)}` }
  throw new CliError(`the stored key is for ${stored.service}, not for ${service}`, {
    code: 'unauthenticated',
    exit: EXIT.notAllowed,
    hint: '`kchat use` lists the keys, `--url` selects the service',
  })
}
