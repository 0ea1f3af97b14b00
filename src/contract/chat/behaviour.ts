import { z } from 'zod'
import { CHAT_LIMITS } from './limits.js'

/** A number without sign or exponent, as text: floats would round prices. */
export const decimal = z
  .string()
  .max(CHAT_LIMITS.decimal)
  .regex(/^\d+(\.\d+)?$/, 'a decimal number without exponent')

/** Settings of the application for its model. */
export const ChatModelSettings = z
  .strictObject({
    /** Sent only if given: some models reject it. */
    temperature: z.number().min(0).max(2),
    /** Maximum tokens of an answer. */
    maxTokens: z.int().min(1).max(CHAT_LIMITS.answerTokens),
  })
  .partial()
  .meta({ id: 'ChatModelSettings' })
export type ChatModelSettings = z.output<typeof ChatModelSettings>

/** A price is tokens × unit price × price unit: `0.002` with the unit `0.001` is 0.002 for a thousand tokens. */
export const ChatPrices = z
  .strictObject({
    promptUnitPrice: decimal,
    completionUnitPrice: decimal,
    priceUnit: decimal.default('0.001'),
    currency: z
      .string()
      .regex(/^[A-Z]{3}$/, 'three capital letters, as in ISO 4217')
      .default('USD'),
  })
  .meta({ id: 'ChatPrices' })
export type ChatPrices = z.output<typeof ChatPrices>

const sensitiveWordRule = z.strictObject({
  enabled: z.boolean().default(false),
  /** The replacement text. */
  response: z.string().max(CHAT_LIMITS.text).default(''),
})

/** Filtered words: a question that contains one is rejected, an answer that contains one is replaced. */
export const SensitiveWords = z
  .strictObject({
    enabled: z.boolean(),
    words: z.array(z.string().trim().min(1).max(CHAT_LIMITS.sensitiveWord)).max(CHAT_LIMITS.sensitiveWords).default([]),
    inputs: sensitiveWordRule.default({ enabled: false, response: '' }),
    outputs: sensitiveWordRule.default({ enabled: false, response: '' }),
  })
  .refine(
    ({ inputs, outputs }) => [inputs, outputs].every(({ enabled, response }) => !enabled || response.trim() !== ''),
    'a side that is enabled needs a response',
  )
  .meta({ id: 'ChatSensitiveWords' })
export type SensitiveWords = z.output<typeof SensitiveWords>
