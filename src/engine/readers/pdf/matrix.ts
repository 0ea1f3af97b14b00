/** A transformation of a page: `x' = ax + cy + e`, `y' = bx + dy + f`. */
export type Matrix = [a: number, b: number, c: number, d: number, e: number, f: number]

/** The transformation that applies `other` first. */
export function multiply([a, b, c, d, e, f]: Matrix, other: readonly number[]): Matrix {
  const [g = 1, h = 0, i = 0, j = 1, k = 0, l = 0] = other
  return [a * g + c * h, b * g + d * h, a * i + c * j, b * i + d * j, a * k + c * l + e, b * k + d * l + f]
}

/** The numbers of an operator's argument. */
export function toNumbers(value: unknown): number[] {
  if (value instanceof Float32Array || value instanceof Float64Array) return Array.from(value)
  if (Array.isArray(value)) return value.map((one) => (typeof one === 'number' ? one : 0))
  return []
}
