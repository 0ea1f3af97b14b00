import type { Background } from '../search/background.js'

/**
 * How cosines of an embedding model are interpreted. Models differ in the cosine of two unrelated texts: 0.05 for one,
 * 0.7 for another. So the measure is how many spreads the best passage lies above the question's background in this
 * space (`Background`), and above the best of equally many unrelated passages by chance: sqrt(2 ln N) for N values of a
 * normal distribution.
 */
export interface Calibration {
  background: Background | undefined
  /** passages of the space */
  nodes: number
}

/** For spaces with too few passages for a background: between those of common models. */
const USUAL: Pick<Background, 'middle' | 'spread'> = { middle: 0.45, spread: 0.1 }
/** With a model whose unrelated texts are nearly identical in cosine, any passage would stand out. */
const LEAST_SPREAD = 0.015
/** A smaller space is treated as one of this size. */
const LEAST_NODES = 30
/** Spreads above chance at which the vectors get their maximum weight. */
const CERTAIN = 4

/** Spreads by which the best cosine exceeds what chance reaches; a value below 0 means no evidence. */
export function aboveChance(best: number, { background, nodes }: Calibration): number {
  const { middle, spread } = background ?? USUAL
  const distance = (best - middle) / Math.max(LEAST_SPREAD, spread)
  return distance - Math.sqrt(2 * Math.log(Math.max(LEAST_NODES, nodes)))
}

/** Weights of the vectors when nothing stands out, and when the best passage certainly does. */
const FUSED_SHARE = { least: 0.1, most: 0.6 }
const RANK_WEIGHT = { least: 0.15, most: 1.8 }

export interface DenseWeights {
  /** weight of the vector list in the fused score */
  share: number
  /** weight of the vector list in the rank score */
  rank: number
}

/** Weights of the vectors: they rise with the distance of the best passage above chance. */
export function denseWeights(best: number, calibration: Calibration): DenseWeights {
  const clear = Math.min(1, Math.max(0, aboveChance(best, calibration) / CERTAIN))
  const between = ({ least, most }: { least: number; most: number }): number => least + clear * (most - least)
  return { share: between(FUSED_SHARE), rank: between(RANK_WEIGHT) }
}

/**
 * At the level of chance one in twenty-five questions is answered; each spread above it makes that four to five times
 * as likely.
 */
const AT_CHANCE = -3.2
const EACH_SPREAD = 1.5

/** Probability, 0 to 1, that passages answer a question, by their vectors alone. */
export function denseConfidence(best: number, calibration: Calibration): number {
  return 1 / (1 + Math.exp(-(AT_CHANCE + EACH_SPREAD * aboveChance(best, calibration))))
}
