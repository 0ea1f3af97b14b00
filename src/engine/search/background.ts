/** Distribution of the cosines between a query and passages that were picked without looking at the query. */
export interface CosineBackground {
  /** median */
  middle: number
  /** as a standard deviation of a normal distribution: 1.4826 × median absolute deviation */
  spread: number
  /** passages compared */
  samples: number
}

/** Passages compared for the background; twice as many improve the median by only a hundredth of the spread. */
export const BACKGROUND_SAMPLES = 128
/** Fewer cosines do not describe the vectors of a space. */
const MIN_SAMPLES = 20
/** Standard deviation of a normal distribution, divided by its median absolute deviation. */
const MAD_TO_STANDARD_DEVIATION = 1.4826

/**
 * Computes the background by medians, so that sampled passages that do match the query have no effect.
 *
 * @returns undefined for fewer than 20 cosines
 */
export function computeBackground(cosines: ArrayLike<number>): CosineBackground | undefined {
  if (cosines.length < MIN_SAMPLES) return undefined
  const all = Array.from(cosines)
  const middle = median(all)
  const spread = MAD_TO_STANDARD_DEVIATION * median(all.map((cosine) => Math.abs(cosine - middle)))
  return { middle, spread, samples: cosines.length }
}

/** Rounding to float16 can make a unit vector longer than 1 by a ten-thousandth. */
export function clampCosine(cosine: number): number {
  return Math.max(-1, Math.min(1, cosine))
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const half = sorted.length >> 1
  return sorted.length % 2 === 1 ? (sorted[half] ?? 0) : ((sorted[half - 1] ?? 0) + (sorted[half] ?? 0)) / 2
}
