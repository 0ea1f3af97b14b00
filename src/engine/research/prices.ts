import type { ProviderConfig } from '../api.js'
import { configuredPrice, type Price } from '../models/prices.js'
import type { GenerationUsage, ModelReference } from '../models/types.js'
import { roundUsd } from './store.js'

const FREE: Price = { inputUsdPerMillion: 0, outputUsdPerMillion: 0 }

/** The configured price of a model; a model without one is taken to cost nothing. */
export function priceOf(providers: readonly ProviderConfig[], model: ModelReference): Price {
  return configuredPrice(providers, model) ?? FREE
}

export function costUsd(price: Price, usage: Required<GenerationUsage>): number {
  return roundUsd(
    (usage.inputTokens * price.inputUsdPerMillion + usage.outputTokens * price.outputUsdPerMillion) / 1_000_000,
  )
}
