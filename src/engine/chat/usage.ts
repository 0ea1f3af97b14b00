import type { ChatPrices } from '../../contract/chat/behaviour.js'
import type { ChatUsage } from '../../contract/chat/messages.js'
import type { ModelPrice } from '../../local/model-prices.js'
import type { GenerationUsage } from '../models/meter.js'

/** Decimal places of prices. */
const PLACES = 7

/**
 * Token counts and their price.
 *
 * @param prices null if not configured; then every price is 0
 */
export function usageOf(counted: GenerationUsage, seconds: number, prices: ChatPrices | null): ChatUsage {
  const prompt = counted.inputTokens ?? 0
  const completion = counted.outputTokens ?? 0
  const { promptUnitPrice = '0', completionUnitPrice = '0', priceUnit = '0', currency = 'USD' } = prices ?? {}
  const promptPrice = priceOf(prompt, promptUnitPrice, priceUnit)
  const completionPrice = priceOf(completion, completionUnitPrice, priceUnit)
  const shown = (price: bigint) => (prices === null ? '0' : decimalOf(price))
  return {
    prompt_tokens: prompt,
    prompt_unit_price: promptUnitPrice,
    prompt_price_unit: priceUnit,
    prompt_price: shown(promptPrice),
    completion_tokens: completion,
    completion_unit_price: completionUnitPrice,
    completion_price_unit: priceUnit,
    completion_price: shown(completionPrice),
    total_tokens: prompt + completion,
    total_price: shown(promptPrice + completionPrice),
    currency,
    latency: Math.round(seconds * 1000) / 1000,
  }
}

/** Converts dollars per million tokens to the price fields of the service. */
export function chatPricesOf({ inputUsdPerMillion, outputUsdPerMillion }: ModelPrice): ChatPrices {
  return {
    promptUnitPrice: plainDecimal(inputUsdPerMillion),
    completionUnitPrice: plainDecimal(outputUsdPerMillion),
    priceUnit: '0.000001',
    currency: 'USD',
  }
}

/** Formats a number of at least 0 without exponent, with up to nine decimals. */
function plainDecimal(value: number): string {
  return value.toLocaleString('en-US', { useGrouping: false, maximumFractionDigits: 9 })
}

/** Tokens × unit price × price unit in steps of 10^-7, half a step rounded up; exact, because no floats are used. */
function priceOf(tokens: number, unitPrice: string, priceUnit: string): bigint {
  const [unit, scale] = [digitsOf(unitPrice), digitsOf(priceUnit)]
  const product = BigInt(tokens) * unit.digits * scale.digits * 10n ** BigInt(PLACES)
  const divisor = 10n ** BigInt(unit.places + scale.places)
  return (product * 2n + divisor) / (divisor * 2n)
}

function digitsOf(decimal: string): { digits: bigint; places: number } {
  const [whole = '0', fraction = ''] = decimal.split('.')
  return { digits: BigInt(whole + fraction), places: fraction.length }
}

function decimalOf(steps: bigint): string {
  const text = steps.toString().padStart(PLACES + 1, '0')
  return `${text.slice(0, -PLACES)}.${text.slice(-PLACES)}`
}
