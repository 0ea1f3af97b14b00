import { parseJson } from '../../lib/json/values.js'
import { CHAT_LIMITS } from './limits.js'

/** Types of a conversation variable. Free of zod. */
export const VALUE_TYPES = [
  'string',
  'number',
  'boolean',
  'object',
  'array[string]',
  'array[number]',
  'array[object]',
] as const
export type ValueType = (typeof VALUE_TYPES)[number]

/** Default values by type, if the application sets none. */
export const EMPTY_VALUES: Readonly<Record<ValueType, string>> = {
  string: '',
  number: '0',
  boolean: 'false',
  object: '{}',
  'array[string]': '[]',
  'array[number]': '[]',
  'array[object]': '[]',
}

/** A value as stored and returned: a string unchanged, anything else as JSON text; or the rule that it violates. */
export type VariableValueResult = { text: string } | { rule: string }

/** Deeper values overflow the stack of serializers. */
const MAX_DEPTH = 64

/** Parses a value of a type; anything but a string may also be given as its JSON text. */
export function parseVariableValue(type: ValueType, value: unknown): VariableValueResult {
  const { variableValue: maxChars } = CHAT_LIMITS
  const tooLong = { rule: `must have at most ${maxChars} characters, as JSON text unless it is a string` }
  if (typeof value === 'string' && value.length > maxChars) return tooLong
  const typedValue = type !== 'string' && typeof value === 'string' ? parseJson(value) : value
  if (!isOfType(type, typedValue)) return { rule: `must be of type ${type}` }
  if (!isJsonSerializable(typedValue, MAX_DEPTH))
    return { rule: `must not be nested deeper than ${MAX_DEPTH} levels, nor hold a number out of range` }
  // A lone surrogate can be neither stored nor sent.
  const text = typeof typedValue === 'string' ? typedValue.toWellFormed() : JSON.stringify(typedValue)
  return text.length > maxChars ? tooLong : { text }
}

/** Parses a default value, which may not be given as JSON text. */
export function parseVariableDefault(type: ValueType, value: unknown): VariableValueResult {
  return isOfType(type, value) ? parseVariableValue(type, value) : { rule: `must be of type ${type}` }
}

function isOfType(type: string, value: unknown): boolean {
  const element = /^array\[(\w+)\]$/.exec(type)?.[1]
  if (element !== undefined) return Array.isArray(value) && value.every((entry) => isOfType(element, entry))
  return typeof value === type && value !== null && !Array.isArray(value)
}

/** Whether JSON can represent the value. */
function isJsonSerializable(value: unknown, depth: number): boolean {
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value !== 'object' || value === null) return true
  return depth > 0 && Object.values(value).every((entry) => isJsonSerializable(entry, depth - 1))
}
