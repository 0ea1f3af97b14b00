import { z } from 'zod'
import { LIMITS } from './limits.js'
import { CONCRETE_MODES, QUERY_MODES } from './values.js'

/** Building blocks that all routes share. */

/** Either case, as RFC 9562 requires; compared and returned in lower case. */
export const uuid = z.uuid().toLowerCase()
export const isoDateTime = z.iso.datetime()
/** An instant from a caller, in UTC or with an offset. */
export const instant = z.iso.datetime({ offset: true })
/** Times of job records, in milliseconds since the epoch. */
export const epochMillis = z.int().min(0)
export const metadata = z.record(z.string(), z.unknown())
export const count = z.int().min(0)
export const positive = z.int().min(1)

export const slug = z
  .string()
  .max(LIMITS.slug)
  .regex(/^[a-z0-9]+(?:-[a-z0-9]+)*$/, 'lowercase letters and digits in groups joined by single hyphens')

/** An integer that arrives as text in a query string. No coercion: `1e1`, `0x10` and ` 7 ` are rejected. */
export function queryInt(bounds: { min: number; max?: number }) {
  const range = bounds.max === undefined ? z.int().min(bounds.min) : z.int().min(bounds.min).max(bounds.max)
  return z
    .string()
    .regex(/^-?\d{1,15}$/, 'an integer')
    .transform(Number)
    .pipe(range)
}

/** `limit` of a list with its own maximum. */
export const boundedLimit = (page: { default: number; max: number }) =>
  queryInt({ min: 1, max: page.max }).default(page.default)

/** `limit` of a list that only requires "at least 1"; a page has at most `LIMITS.page.cap` items. */
export const openLimit = queryInt({ min: 1 }).default(LIMITS.page.default)

export const opaqueCursor = z.string().min(1).max(LIMITS.cursor)

export const SpaceParams = z.strictObject({ id: uuid })

/** One page of a list. */
export const page = <T extends z.ZodType>(item: T, cursor: z.ZodType<string> = z.string()) =>
  z.strictObject({ items: z.array(item), nextCursor: cursor.optional() })

/** Names a model; credentials never pass through the API. */
export const ModelReference = z
  .strictObject({
    pluginId: z.string().min(1).max(LIMITS.modelReferencePart),
    provider: z.string().min(1).max(LIMITS.modelReferencePart),
    model: z.string().min(1).max(LIMITS.modelReferencePart),
  })
  .meta({ id: 'ModelReference' })

export const QueryMode = z.enum(QUERY_MODES)
export const requestedMode = QueryMode.optional().describe(
  'mode: fast, deep, research, or auto to let a model choose; absent: the default mode of the retrieval profile',
)
export const ConcreteMode = z.enum(CONCRETE_MODES)
export const ConsistencyClass = z.enum([
  'path-consistent',
  'snapshot-consistent',
  'cache-consistent',
  'eventual-preview',
])

export const ErrorBody = z.strictObject({ error: z.string() }).meta({ id: 'Error' })
