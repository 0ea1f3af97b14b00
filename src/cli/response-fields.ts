import { type JsonSchema, resolveRef, toJsonSchema } from '../contract/json-schema.js'
import { allRoutes } from '../contract/routes.js'

/** The fields of the responses of operations, according to the contract. */
export interface ResponseFields {
  /** Whether a response or an item of its list may have a value at this dotted path. */
  has(path: string): boolean
  /** Top-level names, for messages. */
  names: string[]
}

/** @param keys operations by method and path, such as `GET /knowledge-spaces/{id}` */
export function readResponseFields(keys: ReadonlySet<string>): ResponseFields {
  const objects = allRoutes
    .filter(({ method, path }) => keys.has(`${method} ${path}`))
    .flatMap(({ ok }) => Object.values(ok))
    .flatMap((schema) => (typeof schema === 'string' ? [] : listObjects(toJsonSchema(schema, 'output'))))
  return {
    has: (path) => objects.some(({ root, schema }) => hasPath(root, schema, path.split('.'))),
    names: [...new Set(objects.flatMap(({ schema }) => Object.keys(schema.properties ?? {})))],
  }
}

/** A schema with the root that its references are resolved in. */
interface RootedSchema {
  root: JsonSchema
  schema: JsonSchema
}

/** The objects of a response: the items of a list, otherwise the response. */
function listObjects(root: JsonSchema): RootedSchema[] {
  return listAlternatives(root, root).flatMap((response) => {
    const list = response.items ?? response.properties?.items?.items ?? response.properties?.data?.items
    return listAlternatives(root, list ?? response).map((schema) => ({ root, schema }))
  })
}

function listAlternatives(root: JsonSchema, schema: JsonSchema): JsonSchema[] {
  const resolved = resolveRef(root, schema)
  const alternatives = resolved.anyOf ?? resolved.oneOf
  return alternatives === undefined ? [resolved] : alternatives.flatMap((part) => listAlternatives(root, part))
}

function hasPath(root: JsonSchema, schema: JsonSchema, [key, ...rest]: readonly string[]): boolean {
  if (key === undefined) return true
  return listAlternatives(root, schema).some(({ properties, additionalProperties, items, type }) => {
    if (type === 'array') return key === 'length' || (items !== undefined && hasPath(root, items, rest))
    const property = properties?.[key]
    if (property !== undefined) return hasPath(root, property, rest)
    return additionalProperties !== undefined && additionalProperties !== false
  })
}
