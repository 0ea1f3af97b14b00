import type { Logger } from 'pino'
import { findDisallowedPrograms, listConverterPrograms, listProviderPrograms } from '../local/allowed-programs.js'
import type { ConverterSetting } from '../local/converter-setting.js'
import type { ProviderSetting } from '../local/provider-setting.js'
import type { LoadedSettings } from './config.js'

/**
 * The providers in force. Providers from the data directory's `config.json` that start a program are omitted unless the
 * user has allowed it on this machine; providers from the environment were set by the user.
 */
export function selectTrustedProviders(
  { settings, origins }: LoadedSettings,
  allowed: readonly string[][],
  log: Logger,
): readonly ProviderSetting[] {
  if (origins.providers !== 'file') return settings.providers
  return settings.providers.filter((provider) => {
    const disallowed = findDisallowedPrograms(listProviderPrograms(provider), allowed)
    for (const argv of disallowed) {
      log.warn(
        { provider: provider.provider, program: argv },
        'a provider of config.json is ignored, because this user has not allowed its program: `ks config --allow-programs`',
      )
    }
    return disallowed.length === 0
  })
}

/** The converters in force, by the same rule. */
export function selectTrustedConverters(
  { settings, origins }: LoadedSettings,
  allowed: readonly string[][],
  log: Logger,
): readonly ConverterSetting[] {
  if (origins.converters !== 'file') return settings.converters
  return settings.converters.filter((converter) => {
    const isDisallowed = findDisallowedPrograms(listConverterPrograms(converter), allowed).length > 0
    if (isDisallowed)
      log.warn(
        { program: converter.argv },
        'a converter of config.json is ignored, because this user has not allowed its program: `ks config --allow-programs`',
      )
    return !isDisallowed
  })
}
