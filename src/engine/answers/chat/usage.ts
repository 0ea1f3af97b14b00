import type { ChatPrices } from '../../../contract/chat/behaviour.js'
import type { ChatUsage } from '../../../contract/chat/messages.js'
import type { ModelPrice } from '../../../local/model-prices.js'
import type { GenerationUsage } from '../../models/index.js'

/** Decimal places of prices. */
const PRICE_DECIMALS = 7

/**
 * Token counts and their price.
 *
 * @param prices null if not configured; then every price is 0
 */
export function computeUsage(counted: GenerationUsage, seconds: number, prices: ChatPrices | null): ChatUsage {
  const prompt = counted.inputTokens ?? 0
  const completion = counted.outputTokens ?? 0
  const { promptUnitPrice = '0', completionUnitPrice = '0', priceUnit = '0', currency = 'USD' } = prices ?? {}
  const promptPrice = computePrice(prompt, promptUnitPrice, priceUnit)
  const completionPrice = computePrice(completion, completionUnitPrice, priceUnit)
  const formatPrice = (price: bigint) => (prices === null ? '0' : formatSteps(price))
  return {
    prompt_tokens: prompt,
    prompt_unit_price: promptUnitPrice,
    prompt_price_unit: priceUnit,
    prompt_price: formatPrice(promptPrice),
    completion_tokens: completion,
    completion_unit_price: completionUnitPrice,
    completion_price_unit: priceUnit,
    completion_price: formatPrice(completionPrice),
    total_tokens: prompt + completion,
    total_price: formatPrice(promptPrice + completionPrice),
    currency,
    latency: Math.round(seconds * 1000) / 1000,
  }
}

/** Converts dollars per million tokens to the price fields of the service. */
export function toChatPrices({ inputUsdPerMillion, outputUsdPerMillion }: ModelPrice): ChatPrices {
  return {
    promptUnitPrice: formatDecimal(inputUsdPerMillion),
    completionUnitPrice: formatDecimal(outputUsdPerMillion),
    priceUnit: '0.000001',
    currency: 'USD',
  }
}

/** Formats a number of at least 0 without exponent, with up to nine decimals. */
function formatDecimal(value: number): string {
  return value.toLocaleString('en-US', { useGrouping: false, maximumFractionDigits: 9 })
}

/** Tokens × unit price × price unit in steps of 10^-7, half a step rounded up; exact, because no floats are used. */
function computePrice(tokens: number, unitPrice: string, priceUnit: string): bigint {
  const [unit, scale] = [parseDecimal(unitPrice), parseDecimal(priceUnit)]
  const product = BigInt(tokens) * unit.digits * scale.digits * 10n ** BigInt(PRICE_DECIMALS)
  const divisor = 10n ** BigInt(unit.places + scale.places)
  return (product * 2n + divisor) / (divisor * 2n)
}

function parseDecimal(decimal: string): { digits: bigint; places: number } {
  const [whole = '0', fraction = ''] = decimal.split('.')
  return { digits: BigInt(whole + fraction), places: fraction.length }
}

function formatSteps(steps: bigint): string {
  const text = steps.toString().padStart(PRICE_DECIMALS + 1, '0')
  return `${text.slice(0, -PRICE_DECIMALS)}.${text.slice(-PRICE_DECIMALS)}`
}
