import type { z } from 'zod'
import { type JsonSchema, jsonSchema, schemaAt } from './json-schema.js'

/** Maximum length of a received value in an error message. */
const CLIP = 80
/** Maximum number of permitted values in an error message. */
const MAX_CHOICES = 20

type Issue = z.core.$ZodIssue

const schemas = new WeakMap<z.ZodType, JsonSchema>()

/**
 * Formats the first issue of a failed validation as one sentence with the key, the rule and the received value, as in
 * `limit must be between 1 and 100, received 101`.
 *
 * @param input the value as received
 * @param subject name of the value itself, for example `the body`
 */
export function refusal(error: z.ZodError, schema: z.ZodType, input: unknown, whole: string): string {
  const issue = error.issues[0]
  if (issue === undefined) return `${whole} is not valid`
  return sentence(issue, schema, input, whole)
}

function sentence(issue: Issue, schema: z.ZodType, input: unknown, whole: string): string {
  const name = issue.path.length === 0 ? whole : keyPath(issue.path)
  const received = valueAt(input, issue.path)
  switch (issue.code) {
    case 'unrecognized_keys': {
      const place = issue.path.length === 0 ? '' : ` in ${name}`
      return `unknown key ${quote(issue.keys[0] ?? '')}${place}`
    }
    case 'custom':
      return issue.path.length === 0 ? issue.message : `${name}: ${issue.message}`
    case 'invalid_type':
      if (received === undefined) return `${name} is required`
      return `${name} must be ${typeName(issue.expected)}, received ${show(received)}`
    default: {
      const rule = boundsRule(issue, schema) ?? valueRule(issue)
      return `${name} must ${rule}, received ${size(issue, received) ?? show(received)}`
    }
  }
}

/** The rule of a length, count or range, with both bounds. */
function boundsRule(issue: Issue, schema: z.ZodType): string | undefined {
  if (issue.code !== 'too_big' && issue.code !== 'too_small') return undefined
  const leaf = schemaAt(describe(schema), issue.path) ?? {}
  const edge = issue.code === 'too_big' ? { max: Number(issue.maximum) } : { min: Number(issue.minimum) }
  if (issue.origin === 'string')
    return `be ${range({ min: leaf.minLength, max: leaf.maxLength, ...edge }, ' to ')} characters long`
  if (issue.origin === 'array')
    return `hold ${range({ min: leaf.minItems, max: leaf.maxItems, ...edge }, ' to ')} items`
  return `be ${range({ min: leaf.minimum, max: leaf.maximum, ...edge }, ' and ')}`
}

function valueRule(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_value':
      return choices(issue.values)
    case 'invalid_format':
      return formatRule(issue)
    case 'not_multiple_of':
      return `be a multiple of ${issue.divisor}`
    case 'invalid_union':
      // the schema has its own message
      return issue.message === 'Invalid input' ? 'have one of the documented shapes' : `be ${issue.message}`
    default:
      return 'follow the documented rule'
  }
}

/** Both bounds of a range: "between 1 and 100" for numbers, "1 to 160" for lengths. */
function range(ends: { min?: number | undefined; max?: number | undefined }, joint: ' to ' | ' and '): string {
  const { min, max } = ends
  if (min !== undefined && max !== undefined)
    return joint === ' and ' ? `between ${min} and ${max}` : `${min} to ${max}`
  return min === undefined ? `at most ${max}` : `at least ${min}`
}

function formatRule(issue: Issue & { code: 'invalid_format' }): string {
  if (issue.format === 'uuid') return 'be a uuid'
  if (issue.format === 'datetime') return 'be an ISO-8601 datetime with a time zone'
  if (issue.format !== 'regex') return `be a valid ${issue.format}`
  return issue.message.startsWith('Invalid string') ? 'match the documented pattern' : `be ${issue.message}`
}

function choices(values: readonly unknown[]): string {
  if (values.length === 1) return `be ${show(values[0])}`
  const named = values.slice(0, MAX_CHOICES).map(String).join(', ')
  return `be one of ${named}${values.length > MAX_CHOICES ? ', …' : ''}`
}

function typeName(expected: string): string {
  if (expected === 'record' || expected === 'object') return 'a JSON object'
  if (expected === 'int') return 'an integer'
  return /^[aeiou]/.test(expected) ? `an ${expected}` : `a ${expected}`
}

/** Long texts and lists appear with their size only. */
function size(issue: Issue, received: unknown): string | undefined {
  if (issue.code !== 'too_big' && issue.code !== 'too_small') return undefined
  if (typeof received === 'string' && issue.origin === 'string') return `${received.length} characters`
  return Array.isArray(received) ? `${received.length} items` : undefined
}

/** A received value in an error message: JSON, on one line, clipped; a digit string of a query is shown as a number. */
export function show(value: unknown): string {
  if (typeof value === 'number' && !Number.isFinite(value)) return 'a number out of range'
  if (typeof value === 'string' && /^-?\d{1,15}$/.test(value)) return value
  if (Array.isArray(value)) return `an array of ${value.length}`
  if (typeof value === 'object' && value !== null) return 'an object'
  return clip(JSON.stringify(value) ?? 'nothing')
}

/** An external name, in quotes, clipped, without characters that could disturb a terminal. */
export function quote(text: string): string {
  return clip(JSON.stringify(text))
}

function clip(json: string): string {
  // JSON does not escape C1 controls and bidirectional marks.
  const safe = json.replace(/[\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g, '\ufffd')
  return safe.length <= CLIP ? safe : `${[...safe].slice(0, CLIP).join('')}…`
}

function keyPath(path: readonly PropertyKey[]): string {
  return path.map((key, index) => (typeof key === 'number' ? `[${key}]` : (index > 0 ? '.' : '') + plain(key))).join('')
}

function plain(key: PropertyKey): string {
  const text = String(key)
  return /^[\w-]{1,64}$/.test(text) ? text : quote(text)
}

function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  let current = input
  for (const key of path) {
    if (typeof current !== 'object' || current === null) return undefined
    current = Object.getOwnPropertyDescriptor(current, key)?.value
  }
  return current
}

function describe(schema: z.ZodType): JsonSchema {
  let known = schemas.get(schema)
  if (known === undefined) {
    known = jsonSchema(schema, 'output')
    schemas.set(schema, known)
  }
  return known
}
