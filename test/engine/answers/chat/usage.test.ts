import fc from 'fast-check'
import { expect, test } from 'vitest'
import { computeUsage, toChatPrices } from '../../../../src/engine/answers/chat/usage.js'

const PRICES = { promptUnitPrice: '0.001', completionUnitPrice: '0.002', priceUnit: '0.001', currency: 'EUR' }

test('prices of a chat answer are tokens × unit price × price unit, with seven decimals', () => {
  expect(computeUsage({ inputTokens: 12, outputTokens: 6 }, 0.41, PRICES)).toEqual({
    prompt_tokens: 12,
    prompt_unit_price: '0.001',
    prompt_price_unit: '0.001',
    prompt_price: '0.0000120',
    completion_tokens: 6,
    completion_unit_price: '0.002',
    completion_price_unit: '0.001',
    completion_price: '0.0000120',
    total_tokens: 18,
    total_price: '0.0000240',
    currency: 'EUR',
    latency: 0.41,
  })
  expect(computeUsage({}, 1, PRICES)).toMatchObject({ total_tokens: 0, total_price: '0.0000000' })
  expect(computeUsage({ inputTokens: 5 }, 1, null)).toMatchObject({
    prompt_tokens: 5,
    prompt_price: '0',
    currency: 'USD',
  })
})

test('prices of a chat answer round half up at the seventh decimal and lose nothing to floating point', () => {
  const at = (promptUnitPrice: string, tokens: number) =>
    computeUsage({ inputTokens: tokens }, 0, { ...PRICES, promptUnitPrice, priceUnit: '1' }).prompt_price
  expect(at('0.00000005', 1)).toBe('0.0000001')
  expect(at('0.00000004', 1)).toBe('0.0000000')
  expect(at('12345678901234567', 9)).toBe('111111110111111103.0000000')
})

test('the total price of a chat answer is the sum of its prompt price and completion price', () => {
  const steps = (price: string) => BigInt(price.replace('.', ''))
  const price = fc.tuple(fc.nat(), fc.nat(999_999)).map(([whole, part]) => `${whole}.${String(part).padStart(6, '0')}`)
  fc.assert(
    fc.property(fc.nat(), fc.nat(), price, price, (inputTokens, outputTokens, promptUnitPrice, completionUnitPrice) => {
      const prices = { ...PRICES, promptUnitPrice, completionUnitPrice }
      const usage = computeUsage({ inputTokens, outputTokens }, 0, prices)
      expect(steps(usage.total_price)).toBe(steps(usage.prompt_price) + steps(usage.completion_price))
      expect(usage.total_price).toMatch(/^\d+\.\d{7}$/)
    }),
  )
})

test('prices of a chat answer are exact when they are configured in dollars per million tokens', () => {
  const prices = toChatPrices({ inputUsdPerMillion: 0.15, outputUsdPerMillion: 0.0000000006 })
  expect(prices).toMatchObject({ promptUnitPrice: '0.15', completionUnitPrice: '0.000000001' })
  expect(computeUsage({ inputTokens: 2_000_000, outputTokens: 1000 }, 0, prices)).toMatchObject({
    prompt_price: '0.3000000',
    completion_price: '0.0000000',
    total_price: '0.3000000',
    currency: 'USD',
  })
  expect(toChatPrices({ inputUsdPerMillion: 0, outputUsdPerMillion: 1200 })).toMatchObject({
    promptUnitPrice: '0',
    completionUnitPrice: '1200',
  })
})
