import { z } from 'zod'
import type { RouteDefinition } from '../../contract/route.js'
import { allRoutes } from '../../contract/routes.js'

type OperationId = (typeof allRoutes)[number]['id']

const ROUTES: readonly RouteDefinition[] = allRoutes

/** The JSON reply of an operation; undefined for one that replies with bytes, text, events or nothing. */
export function findReply({ ok }: RouteDefinition): z.ZodType | undefined {
  const replies = [...new Set(Object.values(ok))].filter((schema) => typeof schema !== 'string')
  return replies.length < 2 ? replies[0] : z.union(replies)
}

/** The JSON reply of an operation. @throws Error if it has none */
export function getReply(id: OperationId): z.ZodType {
  const route = ROUTES.find((candidate) => candidate.id === id)
  const schema = route === undefined ? undefined : findReply(route)
  if (schema === undefined) throw new Error(`${id} has no JSON reply`)
  return schema
}

/** The list in the reply of an operation. @throws Error if the reply has none */
export function getItems(id: OperationId, key = 'items'): z.ZodArray {
  const schema = getReply(id)
  const list: unknown = schema instanceof z.ZodObject ? schema.shape[key] : undefined
  if (!(list instanceof z.ZodArray)) throw new Error(`${id} has no list ${key}`)
  return list
}

/** A schema of one of the forms of an output, each with the flags or arguments that select it. */
export function oneOf(schemas: Readonly<Record<string, z.ZodType>>): z.ZodUnion {
  return z.union(Object.entries(schemas).map(([selection, schema]) => schema.describe(selection)))
}
