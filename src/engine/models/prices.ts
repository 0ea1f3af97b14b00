import type { ModelPrice } from '../../local/model-prices.js'
import type { ModelReference } from '../base/model-reference.js'
import type { ProviderConfig } from '../base/provider-config.js'

/** the price of the models of a provider that have none of their own */
const ANY_MODEL = '*'

/** The configured price of a model; undefined where it has none. */
export function configuredPrice(providers: readonly ProviderConfig[], model: ModelReference): ModelPrice | undefined {
  const config = providers.find(({ pluginId, provider }) => pluginId === model.pluginId && provider === model.provider)
  return config?.prices?.[model.model] ?? config?.prices?.[ANY_MODEL]
}
