import type { z } from 'zod'
import type { HttpRequest } from '../../client/http.js'
import { type JsonSchema, resolveRef, toJsonSchema } from '../../contract/json-schema.js'
import type { RouteDefinition } from '../../contract/route.js'
import { allRoutes } from '../../contract/routes.js'
import { findNearest } from '../../lib/text/nearest.js'
import { usageError } from '../cli-error.js'
import type { OperationRow } from '../json-output/machine.js'
import type { ApiFields } from './fields.js'
import { addQuery } from './request.js'

/** Operations of the contract, as `ks api` lists, describes and calls them. */

const ROUTES: readonly RouteDefinition[] = allRoutes

export function listOperationIds(): string[] {
  return ROUTES.map(({ id }) => id)
}

/** Rows of operations whose id, path or summary contains a word. */
export function listOperations(word: string | undefined): OperationRow[] {
  const rows = ROUTES.map(({ id, method, path, summary }) => ({ id, method, path, summary }))
  const searched = word?.toLowerCase() ?? ''
  return rows.filter(({ id, path, summary }) => `${id} ${path} ${summary}`.toLowerCase().includes(searched))
}

/** Finds an operation by its id. @throws CliError exit 2 with the nearest id as a hint */
export function findOperation(id: string): RouteDefinition {
  const route = ROUTES.find((candidate) => candidate.id === id) ?? findIgnoringCase(id)
  if (route !== undefined) return route
  const nearest = findNearest(id, listOperationIds())
  const hint = nearest === undefined ? '`ks api --list` lists them' : `did you mean \`ks api ${nearest}\`?`
  throw usageError(`unknown operation ${JSON.stringify(id)}`, hint)
}

function findIgnoringCase(id: string): RouteDefinition | undefined {
  return ROUTES.find((candidate) => candidate.id.toLowerCase() === id.toLowerCase())
}

export interface OperationParameter {
  name: string
  in: 'path' | 'query' | 'body' | 'form'
  type: string
  required: boolean
}

/** The parameters of an operation: where each belongs, its type, and whether it is required. */
export function listParameters(route: RouteDefinition): OperationParameter[] {
  return [
    ...readProperties(route.params, 'path'),
    ...readProperties(route.query, 'query'),
    ...readProperties(route.body, 'body'),
    ...readProperties(route.multipart?.fields, 'form'),
  ]
}

function readProperties(schema: z.ZodType | undefined, location: OperationParameter['in']): OperationParameter[] {
  if (schema === undefined) return []
  const input = toJsonSchema(schema, 'input')
  const root = resolveRef(input, input)
  const variants = [root, ...(root.anyOf ?? []), ...(root.oneOf ?? [])].map((variant) => resolveRef(input, variant))
  const names = [...new Set(variants.flatMap(({ properties }) => Object.keys(properties ?? {})))]
  return names.map((name) => {
    const property = variants.find(({ properties }) => properties?.[name] !== undefined)?.properties?.[name] ?? {}
    return {
      name,
      in: location,
      type: formatType(input, property),
      required: location === 'path' || root.required?.includes(name) === true,
    }
  })
}

function formatType(root: JsonSchema, schema: JsonSchema): string {
  const target = resolveRef(root, schema)
  if (target.enum !== undefined) return target.enum.map(String).join('|')
  if (target.const !== undefined) return String(target.const)
  const variants = target.anyOf ?? target.oneOf
  if (variants !== undefined) return [...new Set(variants.map((variant) => formatType(root, variant)))].join('|')
  if (target.type === 'array') return `${formatType(root, target.items ?? {})}[]`
  return target.format ?? target.type ?? 'any'
}

/**
 * Builds the request of an operation: each field becomes part of the path, the query or the body, as in the contract.
 *
 * @param input JSON body; its fields cannot be given in addition
 * @throws CliError exit 2 for a missing or unknown field
 */
export function buildOperationRequest(
  route: RouteDefinition,
  fields: ApiFields,
  input: string | undefined,
): HttpRequest {
  if (route.multipart !== undefined)
    throw usageError(`\`${route.id}\` takes files: \`ks api\` sends JSON only`, getUploadHint(route))
  const query: ApiFields = {}
  const body: ApiFields = {}
  const path: ApiFields = {}
  const parameters = listParameters(route)
  const isOpen = route.body !== undefined && !parameters.some((parameter) => parameter.in === 'body')
  for (const [name, value] of Object.entries(fields)) {
    const location = parameters.find((parameter) => parameter.name === name)?.in ?? (isOpen ? 'body' : undefined)
    if (location === undefined) throw toUnknownFieldError(route, name, parameters)
    const target = location === 'path' ? path : location === 'query' ? query : body
    target[name] = value
  }
  const missing = parameters.find(
    ({ name, in: location, required }) =>
      required && !(location === 'body' && input !== undefined) && fields[name] === undefined,
  )
  if (missing !== undefined)
    throw usageError(
      `\`${route.id}\` needs the field ${missing.name}`,
      `give \`-F ${missing.name}=…\`; \`ks api ${route.id} --describe\` lists the fields`,
    )
  if (input !== undefined && Object.keys(body).length > 0)
    throw usageError('--input and -F both make the body: give one of them')
  const target = route.path.replace(/\{(\w+)(\*?)\}/g, (_, name: string, isRest: string) => {
    const text = String(path[name] ?? '')
    return isRest === '' ? encodeURIComponent(text) : text.split('/').map(encodeURIComponent).join('/')
  })
  const request = { method: route.method, path: addQuery(target, query) }
  if (route.body === undefined) {
    if (input === undefined) return request
    throw usageError(`\`${route.id}\` takes no JSON body`, `\`ks api ${route.id} --describe\` lists its fields`)
  }
  return { ...request, body: input ?? JSON.stringify(body), headers: { 'content-type': 'application/json' } }
}

function getUploadHint(route: RouteDefinition): string {
  return route.scope === 'application' ? '`kchat` sends files' : '`ks ingest` and `ks bundle import` send files'
}

function toUnknownFieldError(route: RouteDefinition, name: string, parameters: readonly OperationParameter[]) {
  const nearest = findNearest(
    name,
    parameters.map((parameter) => parameter.name),
  )
  const hint =
    nearest === undefined
      ? `\`ks api ${route.id} --describe\` lists the fields`
      : `did you mean \`${nearest}\`? \`ks api ${route.id} --describe\` lists the fields`
  return usageError(`\`${route.id}\` has no field ${JSON.stringify(name)}`, hint)
}
