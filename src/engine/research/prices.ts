import type { ProviderConfig } from '../api.js'
import type { GenerationUsage, ModelReference } from '../models/types.js'
import { roundUsd } from './store.js'

/** US dollars for a million tokens. */
export interface Price {
  inputUsdPerMillion: number
  outputUsdPerMillion: number
}

const FREE: Price = { inputUsdPerMillion: 0, outputUsdPerMillion: 0 }
/** the price of the models of a provider that have none of their own */
const ANY_MODEL = '*'

/** The configured price of a model; a model without one is taken to cost nothing. */
export function priceOf(providers: readonly ProviderConfig[], model: ModelReference): Price {
  const config = providers.find(({ pluginId, provider }) => pluginId === model.pluginId && provider === model.provider)
  return config?.prices?.[model.model] ?? config?.prices?.[ANY_MODEL] ?? FREE
}

export function costUsd(price: Price, usage: Required<GenerationUsage>): number {
  return roundUsd(
    (usage.inputTokens * price.inputUsdPerMillion + usage.outputTokens * price.outputUsdPerMillion) / 1_000_000,
  )
}
