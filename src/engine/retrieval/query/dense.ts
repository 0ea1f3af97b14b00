import type { CosineBackground } from '../../search/index.js'

/**
 * How cosines of an embedding model are interpreted. Models differ in the cosine of two unrelated texts: 0.05 for one,
 * 0.7 for another. So the measure is how many spreads the best passage lies above the question's background in this
 * space (`Background`), and above the best of equally many unrelated passages by chance: sqrt(2 ln N) for N values of a
 * normal distribution.
 */
export interface CosineCalibration {
  background: CosineBackground | undefined
  /** passages of the space */
  nodes: number
}

/** For spaces with too few passages for a background: between those of common models. */
const DEFAULT_BACKGROUND: Pick<CosineBackground, 'middle' | 'spread'> = { middle: 0.45, spread: 0.1 }
/** With a model whose unrelated texts are nearly identical in cosine, any passage would stand out. */
const MIN_SPREAD = 0.015
/** A smaller space is treated as one of this size. */
const MIN_NODES = 30
/** Spreads above chance at which the vectors get their maximum weight. */
const MAX_WEIGHT_SPREADS = 4

/** Spreads by which the best cosine exceeds what chance reaches; a value below 0 means no evidence. */
export function computeSpreadsAboveChance(best: number, { background, nodes }: CosineCalibration): number {
  const { middle, spread } = background ?? DEFAULT_BACKGROUND
  const distance = (best - middle) / Math.max(MIN_SPREAD, spread)
  return distance - Math.sqrt(2 * Math.log(Math.max(MIN_NODES, nodes)))
}

/** Weights of the vectors when nothing stands out, and when the best passage certainly does. */
const FUSED_WEIGHT_RANGE = { least: 0.1, most: 0.6 }
const RANK_WEIGHT_RANGE = { least: 0.15, most: 1.8 }

export interface DenseWeights {
  /** weight of the vector list in the fused score */
  share: number
  /** weight of the vector list in the rank score */
  rank: number
}

/** Weights of the vectors: they rise with the distance of the best passage above chance. */
export function computeDenseWeights(best: number, calibration: CosineCalibration): DenseWeights {
  const clear = Math.min(1, Math.max(0, computeSpreadsAboveChance(best, calibration) / MAX_WEIGHT_SPREADS))
  const interpolate = ({ least, most }: { least: number; most: number }): number => least + clear * (most - least)
  return { share: interpolate(FUSED_WEIGHT_RANGE), rank: interpolate(RANK_WEIGHT_RANGE) }
}

/**
 * At the level of chance one in twenty-five questions is answered; each spread above it makes that four to five times
 * as likely.
 */
const CHANCE_LOG_ODDS = -3.2
const LOG_ODDS_PER_SPREAD = 1.5

/** Probability, 0 to 1, that passages answer a question, by their vectors alone. */
export function computeDenseConfidence(best: number, calibration: CosineCalibration): number {
  return 1 / (1 + Math.exp(-(CHANCE_LOG_ODDS + LOG_ODDS_PER_SPREAD * computeSpreadsAboveChance(best, calibration))))
}
