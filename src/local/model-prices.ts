import { isRecord } from '../lib/json/values.js'

/** Prices of a model, in US dollars per million tokens. */
export interface ModelPrice {
  inputUsdPerMillion: number
  outputUsdPerMillion: number
}

const RULE = 'prices as {"MODEL": {"inputUsdPerMillion": 0.5, "outputUsdPerMillion": 1.5}}'

/** Reads the prices of a provider's models; `*` is for models without a separate price. @throws Error with the rule */
export function readModelPrices(value: unknown): Record<string, ModelPrice> {
  return Object.fromEntries(readEntries(value).map(([model, price]) => [model, readModelPrice(price)]))
}

function readModelPrice(value: unknown): ModelPrice {
  const fields = new Map(readEntries(value))
  const readDollars = (name: string): number => {
    const amount = fields.get(name)
    if (typeof amount !== 'number' || !Number.isFinite(amount) || amount < 0) throw new Error(RULE)
    return amount
  }
  if (fields.size !== 2) throw new Error(RULE)
  return {
    inputUsdPerMillion: readDollars('inputUsdPerMillion'),
    outputUsdPerMillion: readDollars('outputUsdPerMillion'),
  }
}

function readEntries(value: unknown): [string, unknown][] {
  if (!isRecord(value)) throw new Error(RULE)
  return Object.entries(value)
}
