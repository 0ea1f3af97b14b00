import { z } from 'zod'

/** The part of JSON Schema 2020-12 that zod emits and this project reads. */
export interface JsonSchema {
  $ref?: string
  $defs?: Record<string, JsonSchema>
  type?: string
  format?: string
  pattern?: string
  enum?: unknown[]
  const?: unknown
  default?: unknown
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  minItems?: number
  maxItems?: number
  required?: string[]
  properties?: Record<string, JsonSchema>
  additionalProperties?: JsonSchema | boolean
  propertyNames?: JsonSchema
  items?: JsonSchema
  anyOf?: JsonSchema[]
  oneOf?: JsonSchema[]
  description?: string
}

/**
 * JSON Schema of what clients send (`input`) or of the parsed value (`output`): an integer in a query is text in the
 * former and a bounded integer in the latter.
 */
export function toJsonSchema(schema: z.core.$ZodType, io: 'input' | 'output'): JsonSchema {
  // The result type of zod is wider than what its emitter produces.
  return z.toJSONSchema(schema, { io, override: removeRedundantRules }) as JsonSchema
}

/** Follows a reference into `$defs`. */
export function resolveRef(root: JsonSchema, schema: JsonSchema): JsonSchema {
  if (schema.$ref === undefined) return schema
  if (schema.$ref === '#') return root
  const target = root.$defs?.[schema.$ref.replace('#/$defs/', '')]
  return target === undefined ? schema : resolveRef(root, target)
}

/** The schema of the value at `path`; undefined if the path leads nowhere. */
export function findSchemaAt(root: JsonSchema, path: readonly PropertyKey[]): JsonSchema | undefined {
  let current: JsonSchema | undefined = resolveRef(root, root)
  for (const key of path) {
    if (current === undefined) return undefined
    const { items, properties }: JsonSchema = current
    const values: JsonSchema['additionalProperties'] = current.additionalProperties
    const valueSchema: JsonSchema | undefined = typeof values === 'object' ? values : undefined
    const next: JsonSchema | undefined = typeof key === 'number' ? items : (properties?.[String(key)] ?? valueSchema)
    current = next === undefined ? undefined : resolveRef(root, next)
  }
  return current
}

/** Removes the bounds "any safe integer" and patterns that repeat the format. */
function removeRedundantRules({ jsonSchema }: { jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
  if (jsonSchema.format === 'uuid' || jsonSchema.format === 'date-time') delete jsonSchema.pattern
}
