import { isRecord } from '../../lib/json/values.js'

/** `true` keeps a value, a function replaces it, an object applies to the fields of an object and to each list item. */
export type ValueShape = true | ((value: unknown) => unknown) | { readonly [field: string]: ValueShape }

/**
 * Applies a shape to a value.
 * @param others what happens to fields that are missing in the shape
 */
export function applyShape(value: unknown, shape: ValueShape, others: 'keep' | 'omit'): unknown {
  if (shape === true) return value
  if (typeof shape === 'function') return shape(value)
  if (Array.isArray(value)) return value.map((item) => applyShape(item, shape, others))
  if (!isRecord(value)) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, field]) => {
      const known = Object.hasOwn(shape, name) ? shape[name] : undefined
      if (known !== undefined) return [[name, applyShape(field, known, others)]]
      return others === 'keep' ? [[name, field]] : []
    }),
  )
}
