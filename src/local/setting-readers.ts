import { isRecord } from '../lib/json/values.js'
/** Readers of single values: of `config.json`, or the text of an environment variable. Each throws the rule. */

export function text(value: unknown): string {
  if (typeof value !== 'string') throw new Error('a text')
  return value
}

export function someText(value: unknown): string {
  if (text(value).trim() === '') throw new Error('a text that is not empty')
  return text(value)
}

export function webAddress(value: unknown): string {
  if (!/^https?:\/\/\S+$/.test(text(value))) throw new Error('an http or https URL')
  return text(value)
}

export function atLeast(min: number): (value: unknown) => number {
  return (value) => {
    const number = numeric(value)
    if (!Number.isSafeInteger(number) || number < min) throw new Error(`an integer of at least ${min}`)
    return number
  }
}

export function numeric(value: unknown): number {
  if (typeof value === 'number') return value
  return typeof value === 'string' && /^\d+(\.\d+)?$/.test(value) ? Number(value) : Number.NaN
}

/** @returns undefined for text that is no JSON: the parser's own message would repeat it, keys and all */
export function parseJson(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}

export function record(value: unknown, rule: string): Record<string, unknown> {
  if (!isRecord(value)) throw new Error(rule)
  return Object.fromEntries(Object.entries(value))
}
