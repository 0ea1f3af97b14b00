import type { z } from 'zod'
import { KsError, notFound } from '../../contract/errors.js'
import { quote, refusal } from '../../contract/issues.js'
import type { RouteDefinition } from '../../contract/route.js'

/**
 * Parses and validates the query of a URL. Each key may occur once.
 *
 * @throws KsError `invalid-request`
 */
export function readQuery(schema: z.ZodObject, url: string): unknown {
  const input: Record<string, string> = {}
  for (const [key, value] of new URLSearchParams(queryText(url))) {
    if (Object.hasOwn(input, key)) throw new KsError('invalid-request', `${quote(key)} is given more than once`)
    // A plain assignment would set the prototype for the key `__proto__`.
    Object.defineProperty(input, key, { value, enumerable: true, configurable: true, writable: true })
  }
  return checked(schema, input, 'the query')
}

/** @throws KsError `invalid-request` with the key, rule and value */
export function checked(schema: z.ZodType, input: unknown, whole: string): unknown {
  const result = schema.safeParse(input)
  if (!result.success) throw new KsError('invalid-request', refusal(result.error, schema, input, whole))
  return result.data
}

/** Path values that are not ids: an invalid one is a bad request. */
const KEYS: readonly unknown[] = ['itemKey']

/**
 * Parses the values of a path. A malformed id does not exist.
 * @throws KsError `not-found`, `invalid-request`
 */
export function readParams(route: RouteDefinition, values: Record<string, string>): unknown {
  if (route.params === undefined) return undefined
  const result = route.params.safeParse(values)
  if (result.success) return result.data
  const issue = result.error.issues.find(({ path }) => !KEYS.includes(path[0]))
  if (issue === undefined) throw new KsError('invalid-request', refusal(result.error, route.params, values, 'the path'))
  const name = String(issue.path[0] ?? '')
  throw notFound(name === 'id' ? 'resource' : name.replace(/Id$/, ''), values[name] ?? '')
}

/** The text between `?` and `#`. */
export function queryText(url: string): string {
  const start = url.indexOf('?')
  if (start === -1) return ''
  const end = url.indexOf('#', start)
  return url.slice(start + 1, end === -1 ? undefined : end)
}
