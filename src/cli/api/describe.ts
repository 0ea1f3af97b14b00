import { toOpenApi } from '../../contract/openapi.js'
import type { RouteDefinition } from '../../contract/route.js'
import { isRecord } from '../../lib/json/values.js'
import { listParameters } from './operations.js'

/** Describes an operation for people: its request line, what it does, and its fields with their locations. */
export function* describeOperation(route: RouteDefinition, version: string): Generator<string> {
  const document = toOpenApi([route], version)
  const descriptions = findDescriptions(document)
  yield `${route.id}: ${route.summary}`
  yield `  ${route.method} ${route.path}`
  yield ''
  yield String(findOperation(document).description ?? '')
  const parameters = listParameters(route)
  if (parameters.length === 0) return
  yield ''
  const nameWidth = Math.max(...parameters.map(({ name }) => name.length))
  for (const { name, in: location, type, required } of parameters) {
    const notes = [type, ...(required ? ['required'] : []), ...(descriptions.get(name) ?? [])]
    yield `  ${name.padEnd(nameWidth)}  ${location.padEnd(5)}  ${notes.join('; ')}`
  }
}

/** The OpenAPI description of one operation, with the schemas that it uses. */
export function toOperationDocument(route: RouteDefinition, version: string): Record<string, unknown> {
  const { paths, components } = toOpenApi([route], version)
  return { paths, components }
}

function findOperation({ paths }: Record<string, unknown>): Record<string, unknown> {
  const [path] = isRecord(paths) ? Object.values(paths) : []
  const [operation] = isRecord(path) ? Object.values(path) : []
  return isRecord(operation) ? operation : {}
}

/** Descriptions of parameters and of the fields of the body, by name. */
function findDescriptions(document: Record<string, unknown>): Map<string, string[]> {
  const { parameters, requestBody } = findOperation(document)
  const found = new Map<string, string[]>()
  const add = (name: unknown, value: unknown) => {
    if (typeof name === 'string' && isRecord(value) && typeof value.description === 'string')
      found.set(name, [value.description.split('\n')[0] ?? ''])
  }
  for (const parameter of Array.isArray(parameters) ? parameters : [])
    if (isRecord(parameter)) add(parameter.name, parameter)
  const { properties } = resolveSchema(document, readSchema(requestBody))
  for (const [name, value] of isRecord(properties) ? Object.entries(properties) : []) add(name, value)
  return found
}

function readSchema(requestBody: unknown): unknown {
  const content = isRecord(requestBody) ? requestBody.content : undefined
  const [media] = isRecord(content) ? Object.values(content) : []
  return isRecord(media) ? media.schema : undefined
}

function resolveSchema({ components }: Record<string, unknown>, schema: unknown): Record<string, unknown> {
  if (!isRecord(schema)) return {}
  if (typeof schema.$ref !== 'string') return schema
  const schemas = isRecord(components) && isRecord(components.schemas) ? components.schemas : {}
  const target = schemas[schema.$ref.split('/').at(-1) ?? '']
  return isRecord(target) ? target : {}
}
