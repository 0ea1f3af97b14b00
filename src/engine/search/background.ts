/** Cosines of a question with passages that were picked without looking at it. */
export interface Background {
  /** median */
  middle: number
  /** as the standard deviation of a normal distribution: 1.4826 times the median distance from the middle */
  spread: number
  /** passages that were compared */
  samples: number
}

/** Passages compared for the background; twice as many tell the middle by a hundredth of the spread better. */
export const BACKGROUND_SAMPLES = 128
/** Fewer say nothing of the space's vectors. */
const FEWEST = 20
/** The median distance of a normal distribution, to its standard deviation. */
const NORMAL = 1.4826

/**
 * Background of cosines, by medians: passages that the question is about are among them by chance and must not count.
 *
 * @returns undefined where there are too few
 */
export function backgroundOf(cosines: ArrayLike<number>): Background | undefined {
  if (cosines.length < FEWEST) return undefined
  const all = Array.from(cosines)
  const middle = median(all)
  const spread = NORMAL * median(all.map((cosine) => Math.abs(cosine - middle)))
  return { middle, spread, samples: cosines.length }
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const half = sorted.length >> 1
  return sorted.length % 2 === 1 ? (sorted[half] ?? 0) : ((sorted[half - 1] ?? 0) + (sorted[half] ?? 0)) / 2
}
