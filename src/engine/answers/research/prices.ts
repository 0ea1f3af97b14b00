import type { ModelPrice } from '../../../local/model-prices.js'
import type { ModelReference } from '../../base/model-reference.js'
import type { ProviderConfig } from '../../base/provider-config.js'
import { findConfiguredPrice, type GenerationUsage } from '../../models/index.js'
import { roundUsd } from '../rows/research/costs.js'

const FREE: ModelPrice = { inputUsdPerMillion: 0, outputUsdPerMillion: 0 }

/** Configured price of a model; a model without one costs nothing. */
export function getPrice(providers: readonly ProviderConfig[], model: ModelReference): ModelPrice {
  return findConfiguredPrice(providers, model) ?? FREE
}

export function computeCostUsd(price: ModelPrice, usage: Required<GenerationUsage>): number {
  return roundUsd(
    (usage.inputTokens * price.inputUsdPerMillion + usage.outputTokens * price.outputUsdPerMillion) / 1_000_000,
  )
}
