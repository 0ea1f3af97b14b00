import { isRecord } from '../../lib/json/values.js'

/** `true` keeps a value, a function replaces it, an object applies to the fields of an object and to each list item. */
export type Shape = true | ((value: unknown) => unknown) | { readonly [field: string]: Shape }

/**
 * Applies a shape to a value.
 * @param others whether fields missing in the shape are kept
 */
export function shaped(value: unknown, shape: Shape, others: 'kept' | 'left out'): unknown {
  if (shape === true) return value
  if (typeof shape === 'function') return shape(value)
  if (Array.isArray(value)) return value.map((item) => shaped(item, shape, others))
  if (!isRecord(value)) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, field]) => {
      const known = Object.hasOwn(shape, name) ? shape[name] : undefined
      if (known !== undefined) return [[name, shaped(field, known, others)]]
      return others === 'kept' ? [[name, field]] : []
    }),
  )
}
