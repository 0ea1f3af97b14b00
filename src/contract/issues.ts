import type { z } from 'zod'
import { pluralize } from '../lib/text/pluralize.js'
import { findSchemaAt, type JsonSchema, toJsonSchema } from './json-schema.js'

/** Maximum length of a received value in an error message. */
const MAX_SHOWN_CHARS = 80
/** Maximum number of permitted values in an error message. */
const MAX_CHOICES = 20

type Issue = z.core.$ZodIssue

const jsonSchemas = new WeakMap<z.ZodType, JsonSchema>()

/**
 * Formats the first issue of a failed validation as one sentence with the key, the rule and the received value, as in
 * `limit must be between 1 and 100, received 101`.
 *
 * @param input the value as received
 * @param subject name of the value itself, for example `the body`
 */
export function describeIssue(error: z.ZodError, schema: z.ZodType, input: unknown, subject: string): string {
  const issue = error.issues[0]
  if (issue === undefined) return `${subject} is not valid`
  return formatIssue(issue, schema, input, subject)
}

function formatIssue(issue: Issue, schema: z.ZodType, input: unknown, subject: string): string {
  const name = issue.path.length === 0 ? subject : formatKeyPath(issue.path)
  const received = getValueAt(input, issue.path)
  switch (issue.code) {
    case 'unrecognized_keys': {
      const location = issue.path.length === 0 ? '' : ` in ${name}`
      return `unknown key ${quoteClipped(issue.keys[0] ?? '')}${location}`
    }
    case 'custom':
      return issue.path.length === 0 ? issue.message : `${name}: ${issue.message}`
    case 'invalid_type':
      if (received === undefined) return `${name} is required`
      return `${name} must be ${formatTypeName(issue.expected)}, received ${formatReceived(received)}`
    default: {
      const rule = formatBoundsRule(issue, schema) ?? formatValueRule(issue)
      return `${name} must ${rule}, received ${formatSize(issue, received) ?? formatReceived(received)}`
    }
  }
}

/** The rule of a length, count or range, with both bounds. */
function formatBoundsRule(issue: Issue, schema: z.ZodType): string | undefined {
  if (issue.code !== 'too_big' && issue.code !== 'too_small') return undefined
  const leaf = findSchemaAt(getJsonSchema(schema), issue.path) ?? {}
  const bound = issue.code === 'too_big' ? { max: Number(issue.maximum) } : { min: Number(issue.minimum) }
  if (issue.origin === 'string')
    return `be ${formatRange({ min: leaf.minLength, max: leaf.maxLength, ...bound }, ' to ')} characters long`
  if (issue.origin === 'array')
    return `hold ${formatRange({ min: leaf.minItems, max: leaf.maxItems, ...bound }, ' to ')} items`
  return `be ${formatRange({ min: leaf.minimum, max: leaf.maximum, ...bound }, ' and ')}`
}

function formatValueRule(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_value':
      return formatChoices(issue.values)
    case 'invalid_format':
      return formatFormatRule(issue)
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
function formatRange(
  bounds: { min?: number | undefined; max?: number | undefined },
  separator: ' to ' | ' and ',
): string {
  const { min, max } = bounds
  if (min !== undefined && max !== undefined)
    return separator === ' and ' ? `between ${min} and ${max}` : `${min} to ${max}`
  return min === undefined ? `at most ${max}` : `at least ${min}`
}

function formatFormatRule(issue: Issue & { code: 'invalid_format' }): string {
  if (issue.format === 'uuid') return 'be a uuid'
  if (issue.format === 'datetime') return 'be an ISO-8601 datetime with a time zone'
  if (issue.format !== 'regex') return `be a valid ${issue.format}`
  return issue.message.startsWith('Invalid string') ? 'match the documented pattern' : `be ${issue.message}`
}

function formatChoices(values: readonly unknown[]): string {
  if (values.length === 1) return `be ${formatReceived(values[0])}`
  const shown = values.slice(0, MAX_CHOICES).map(String).join(', ')
  return `be one of ${shown}${values.length > MAX_CHOICES ? ', …' : ''}`
}

function formatTypeName(expected: string): string {
  if (expected === 'record' || expected === 'object') return 'a JSON object'
  if (expected === 'int') return 'an integer'
  return /^[aeiou]/.test(expected) ? `an ${expected}` : `a ${expected}`
}

/** Long texts and lists appear with their size only. */
function formatSize(issue: Issue, received: unknown): string | undefined {
  if (issue.code !== 'too_big' && issue.code !== 'too_small') return undefined
  if (typeof received === 'string' && issue.origin === 'string') return pluralize(received.length, 'character')
  return Array.isArray(received) ? pluralize(received.length, 'item') : undefined
}

/** A received value in an error message: JSON, on one line, clipped; a digit string of a query is shown as a number. */
export function formatReceived(value: unknown): string {
  if (typeof value === 'number' && !Number.isFinite(value)) return 'a number out of range'
  if (typeof value === 'string' && /^-?\d{1,15}$/.test(value)) return value
  if (Array.isArray(value)) return `an array of ${value.length}`
  if (typeof value === 'object' && value !== null) return 'an object'
  return clip(JSON.stringify(value) ?? 'nothing')
}

/** An external name, in quotes, clipped, without characters that could disturb a terminal. */
export function quoteClipped(text: string): string {
  return clip(JSON.stringify(text))
}

function clip(json: string): string {
  // JSON does not escape C1 controls and bidirectional marks.
  const safe = json.replace(/[\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g, '\ufffd')
  return safe.length <= MAX_SHOWN_CHARS ? safe : `${[...safe].slice(0, MAX_SHOWN_CHARS).join('')}…`
}

function formatKeyPath(path: readonly PropertyKey[]): string {
  return path
    .map((key, index) => (typeof key === 'number' ? `[${key}]` : (index > 0 ? '.' : '') + formatKey(key)))
    .join('')
}

function formatKey(key: PropertyKey): string {
  const text = String(key)
  return /^[\w-]{1,64}$/.test(text) ? text : quoteClipped(text)
}

function getValueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  let current = input
  for (const key of path) {
    if (typeof current !== 'object' || current === null) return undefined
    current = Object.getOwnPropertyDescriptor(current, key)?.value
  }
  return current
}

function getJsonSchema(schema: z.ZodType): JsonSchema {
  let cached = jsonSchemas.get(schema)
  if (cached === undefined) {
    cached = toJsonSchema(schema, 'output')
    jsonSchemas.set(schema, cached)
  }
  return cached
}
