import type { ProviderConfig } from '../api.js'
import type { ModelReference } from './types.js'

/** US dollars for a million tokens. */
export interface Price {
  inputUsdPerMillion: number
  outputUsdPerMillion: number
}

/** the price of the models of a provider that have none of their own */
const ANY_MODEL = '*'

/** The configured price of a model; undefined where it has none. */
export function configuredPrice(providers: readonly ProviderConfig[], model: ModelReference): Price | undefined {
  const config = providers.find(({ pluginId, provider }) => pluginId === model.pluginId && provider === model.provider)
  return config?.prices?.[model.model] ?? config?.prices?.[ANY_MODEL]
}
