import type { ModelPrice } from '../../local/model-prices.js'
import type { ModelReference } from '../base/model-reference.js'
import type { ProviderConfig } from '../base/provider-config.js'

/** Key of the price for all models of a provider without a separate price. */
const ANY_MODEL_PRICE = '*'

/** The configured price of a model; undefined without one. */
export function findConfiguredPrice(
  providers: readonly ProviderConfig[],
  model: ModelReference,
): ModelPrice | undefined {
  const config = providers.find(({ pluginId, provider }) => pluginId === model.pluginId && provider === model.provider)
  return config?.prices?.[model.model] ?? config?.prices?.[ANY_MODEL_PRICE]
}
