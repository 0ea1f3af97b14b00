/** Lengths of pages are told in points. */
export const POINTS_PER_INCH = 72

/** A length or place to a tenth, which is as exact as anybody sees it. */
export function tenths(value: number): number {
  return Math.round(value * 10) / 10
}
