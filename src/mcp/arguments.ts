import { safeParse, type z } from 'zod'
import { describeIssue } from '../contract/issues.js'
import { parseJson } from '../lib/json/values.js'
import { ToolError } from './failure.js'

/** The values of a tool's arguments, and the names of those that it does not have. */
export interface ParsedArguments<T> {
  values: T
  ignored: string[]
}

/**
 * Validates the arguments of a call. Clients and models add arguments of their own, send `null` and `""` for absent
 * values, and numbers, booleans and lists as text: these are accepted if the value fits the schema then.
 *
 * @throws ToolError with the invalid argument and the rule
 */
export function parseArguments<I extends z.ZodObject>(
  name: string,
  input: I,
  args: unknown,
): ParsedArguments<z.output<I>> {
  const { known, ignored } = selectKnown(input, args ?? {})
  const parsed = input.safeParse(known)
  if (parsed.success) return { values: parsed.data, ignored }
  throw new ToolError(
    'invalid-request',
    describeIssue(parsed.error, input, known, 'the arguments'),
    `Call \`${name}\` again with arguments that match its input schema.`,
  )
}

/** The line about ignored arguments, for a model; empty if there are none. */
export function describeIgnored(ignored: readonly string[]): string {
  const names = ignored.map((name) => JSON.stringify(name.slice(0, MAX_NAME_LENGTH)))
  return names.length === 0 ? '' : `Ignored arguments that this tool does not have: ${names.join(', ')}.\n`
}

const MAX_NAME_LENGTH = 60

function selectKnown(input: z.ZodObject, args: unknown): { known: unknown; ignored: string[] } {
  if (typeof args !== 'object' || args === null || Array.isArray(args)) return { known: args, ignored: [] }
  const ignored: string[] = []
  const known: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(args)) {
    const field = Object.hasOwn(input.shape, name) ? input.shape[name] : undefined
    if (field === undefined) ignored.push(name)
    else if (!isAbsent(field, value)) known[name] = coerce(field, value)
  }
  return { known, ignored }
}

/** Whether an empty value means that an optional argument is absent. */
function isAbsent(field: z.core.$ZodType, value: unknown): boolean {
  return (value === null || value === '') && !accepts(field, value) && accepts(field, undefined)
}

/** The first that the field accepts: the value, its text as JSON, a list of it; otherwise the value. */
function coerce(field: z.core.$ZodType, value: unknown): unknown {
  if (typeof value !== 'string' || accepts(field, value)) return value
  return [parseJson(value), [value]].find((candidate) => candidate !== undefined && accepts(field, candidate)) ?? value
}

function accepts(field: z.core.$ZodType, value: unknown): boolean {
  return safeParse(field, value).success
}
