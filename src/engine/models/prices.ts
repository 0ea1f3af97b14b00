import type { ModelPrice } from '../../local/model-prices.js'
import type { ProviderConfig } from './provider-config.js'
import type { ModelReference } from './types.js'

/** the price of the models of a provider that have none of their own */
const ANY_MODEL = '*'

/** The configured price of a model; undefined where it has none. */
export function configuredPrice(providers: readonly ProviderConfig[], model: ModelReference): ModelPrice | undefined {
  const config = providers.find(({ pluginId, provider }) => pluginId === model.pluginId && provider === model.provider)
  return config?.prices?.[model.model] ?? config?.prices?.[ANY_MODEL]
}
