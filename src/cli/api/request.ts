import type { HttpRequest } from '../../client/http.js'
import { usageError } from '../cli-error.js'
import type { ApiFields } from './fields.js'

const JSON_HEADERS = { 'content-type': 'application/json' }

export interface ApiCall {
  /** `GET`, if absent, or `POST` with fields or a body. */
  method: string | undefined
  path: string
  fields: ApiFields
  /** JSON body. */
  input: string | undefined
}

/** Builds the request for a method and a path. @throws CliError exit 2 */
export function buildApiRequest({ method: typed, path, fields, input }: ApiCall): HttpRequest {
  const hasFields = Object.keys(fields).length > 0
  const method = (typed ?? (hasFields || input !== undefined ? 'POST' : 'GET')).toUpperCase()
  if (!/^(GET|POST|PUT|PATCH|DELETE|HEAD)$/.test(method)) {
    throw usageError(`${JSON.stringify(typed)} is not a supported method: use GET, POST, PUT, PATCH, DELETE or HEAD`)
  }
  const target = path.startsWith('/') ? path : `/${path}`
  if (input !== undefined) {
    if (hasFields) throw usageError('--input and -F both make the body: give one of them')
    return { method, path: target, body: input, headers: JSON_HEADERS }
  }
  if (!hasFields) return { method, path: target }
  if (method === 'GET' || method === 'HEAD') return { method, path: addQuery(target, fields) }
  return { method, path: target, body: JSON.stringify(fields), headers: JSON_HEADERS }
}

/** Adds fields to the query of a path; a list repeats its key. */
export function addQuery(path: string, fields: ApiFields): string {
  const url = new URL(path, 'http://localhost')
  for (const [key, value] of Object.entries(fields))
    for (const item of Array.isArray(value) ? value : [value]) url.searchParams.append(key, toQueryText(item))
  return url.pathname + url.search
}

function toQueryText(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
