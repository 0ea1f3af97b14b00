import type { z } from 'zod'
import { KsError, notFoundError } from '../../contract/errors.js'
import { describeIssue, quoteClipped } from '../../contract/issues.js'
import type { RouteDefinition } from '../../contract/route.js'

/**
 * Parses and validates the query of a URL. Each key may occur once.
 *
 * @throws KsError `invalid-request`
 */
export function parseQuery(schema: z.ZodObject, url: string): unknown {
  const input: Record<string, string> = {}
  for (const [key, value] of new URLSearchParams(getQueryText(url))) {
    if (Object.hasOwn(input, key)) throw new KsError('invalid-request', `${quoteClipped(key)} is given more than once`)
    // A plain assignment would set the prototype for the key `__proto__`.
    Object.defineProperty(input, key, { value, enumerable: true, configurable: true, writable: true })
  }
  return parseValue(schema, input, 'the query')
}

/** @throws KsError `invalid-request` with the key, rule and value */
export function parseValue(schema: z.ZodType, input: unknown, subject: string): unknown {
  const result = schema.safeParse(input)
  if (!result.success) throw new KsError('invalid-request', describeIssue(result.error, schema, input, subject))
  return result.data
}

/** Path values that are not ids: an invalid one is a bad request. */
const KEY_PARAMS: readonly unknown[] = ['itemKey']

/**
 * Parses the values of a path. A malformed id does not exist.
 * @throws KsError `not-found`, `invalid-request`
 */
export function parseParams(route: RouteDefinition, values: Record<string, string>): unknown {
  if (route.params === undefined) return undefined
  const result = route.params.safeParse(values)
  if (result.success) return result.data
  const issue = result.error.issues.find(({ path }) => !KEY_PARAMS.includes(path[0]))
  if (issue === undefined)
    throw new KsError('invalid-request', describeIssue(result.error, route.params, values, 'the path'))
  const name = String(issue.path[0] ?? '')
  throw notFoundError(name === 'id' ? 'resource' : name.replace(/Id$/, ''), values[name] ?? '')
}

/** The text between `?` and `#`. */
export function getQueryText(url: string): string {
  const start = url.indexOf('?')
  if (start === -1) return ''
  const end = url.indexOf('#', start)
  return url.slice(start + 1, end === -1 ? undefined : end)
}
