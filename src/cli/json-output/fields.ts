import { z } from 'zod'
import { type JsonSchema, resolveRef, toJsonSchema } from '../../contract/json-schema.js'
import { COMMAND_OUTPUTS } from './commands.js'

/** The fields that the output of a command can have. */
export interface OutputFields {
  /** Whether an item may have a value at this dotted path. */
  has(path: string): boolean
  /** Top-level names, for messages. */
  names: string[]
}

/**
 * Reads the fields of a command's output from its schema.
 *
 * @param id of the command, with colons
 * @param sample a printed item: if forms of the output have such items, only their fields count
 */
export function readOutputFields(id: string, sample: unknown): OutputFields {
  const output = COMMAND_OUTPUTS[id]
  const all = output instanceof z.ZodUnion ? output.options : output instanceof z.ZodType ? [output] : []
  const matching = all.filter((form) => accepts(form, sample)).flatMap(listObjects)
  // Rows that are parts of the JSON output: the steps of a trace, the relations of a traversal.
  const objects =
    matching.length > 0 ? matching : all.flatMap(listObjects).flatMap((object) => [object, ...listParts(object)])
  return {
    has: (path) => objects.some(({ root, schema }) => hasPath(root, schema, path.split('.'))),
    names: [...new Set(objects.flatMap(({ schema }) => Object.keys(schema.properties ?? {})))],
  }
}

/** Whether a value has a form, or is an item of a list of that form. */
function accepts(form: z.core.$ZodType, sample: unknown): boolean {
  return z.safeParse(form, sample).success || z.safeParse(form, [sample]).success
}

/** A schema with the root that its references are resolved in. */
interface RootedSchema {
  root: JsonSchema
  schema: JsonSchema
}

/** The objects of a form: the items of a list, otherwise the form itself. */
function listObjects(form: z.core.$ZodType): RootedSchema[] {
  const root = toJsonSchema(form, 'output')
  return listAlternatives(root, root).flatMap((output) =>
    listAlternatives(root, output.items ?? output).map((schema) => ({ root, schema })),
  )
}

/** The objects of known fields that an object directly contains. */
function listParts({ root, schema }: RootedSchema): RootedSchema[] {
  return Object.values(schema.properties ?? {})
    .flatMap((property) => listAlternatives(root, resolveRef(root, property).items ?? property))
    .filter(({ additionalProperties }) => additionalProperties === false)
    .map((part) => ({ root, schema: part }))
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
