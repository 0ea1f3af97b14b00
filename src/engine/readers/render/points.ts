/** Lengths on pages are given in points. */
export const POINTS_PER_INCH = 72

/** Rounds a length or coordinate to a tenth, finer than what is visible. */
export function roundToTenths(value: number): number {
  return Math.round(value * 10) / 10
}
