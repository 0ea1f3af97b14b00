import type { HttpRequest } from '../client/http.js'
import { usageError } from './cli-error.js'

export interface ApiArguments {
  method: string
  path: string
  fields: string[]
  rawFields: string[]
  input: string | undefined
}

/** Builds the HTTP request from the arguments of `ks api`. @throws CliError exit 2 */
export function buildApiRequest(args: ApiArguments): HttpRequest {
  const method = args.method.toUpperCase()
  if (!/^(GET|POST|PUT|PATCH|DELETE|HEAD)$/.test(method)) {
    throw usageError(
      `${JSON.stringify(args.method)} is not a supported method: use GET, POST, PUT, PATCH, DELETE or HEAD`,
    )
  }
  const path = args.path.startsWith('/') ? args.path : `/${args.path}`
  const fields = [
    ...args.fields
      .map((field) => splitField(field, '-F'))
      .map(([key, value]): [string, unknown] => [key, parseFieldValue(value)]),
    ...args.rawFields.map((field) => splitField(field, '-f')),
  ]
  if (args.input !== undefined) {
    if (fields.length > 0) throw usageError('--input and -F both make the body: give one of them')
    return { method, path, body: args.input, headers: { 'content-type': 'application/json' } }
  }
  if (fields.length === 0) return { method, path }
  if (method === 'GET' || method === 'HEAD') {
    const url = new URL(path, 'http://localhost')
    for (const [key, value] of fields) url.searchParams.append(key, String(value))
    return { method, path: url.pathname + url.search }
  }
  const body = JSON.stringify(Object.fromEntries(fields))
  return { method, path, body, headers: { 'content-type': 'application/json' } }
}

function splitField(field: string, flag: string): [string, string] {
  const index = field.indexOf('=')
  if (index < 1) throw usageError(`${flag} must be key=value, received ${JSON.stringify(field)}`)
  return [field.slice(0, index), field.slice(index + 1)]
}

function parseFieldValue(value: string): unknown {
  if (value === 'true') return true
  if (value === 'false') return false
  if (value === 'null') return null
  return /^-?\d{1,15}(\.\d+)?$/.test(value) ? Number(value) : value
}
