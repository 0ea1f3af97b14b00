import type { Background } from '../search/background.js'

/**
 * How cosines of an embedding model are read. Models differ in what two unrelated texts have in common: 0.05 for one,
 * 0.7 for another. So what counts is how far the best passage stands above the question's background in this space
 * (`Background`), in spreads, and above what the best of as many unrelated passages reaches by chance: sqrt(2 ln N) for
 * N values of a normal distribution.
 */
export interface Calibration {
  background: Background | undefined
  /** passages of the space */
  nodes: number
}

/** Where the space has too few passages for a background: between those of common models. */
const USUAL: Pick<Background, 'middle' | 'spread'> = { middle: 0.45, spread: 0.1 }
/** Models whose unrelated texts are all alike to the thousandth would make anything stand out. */
const LEAST_SPREAD = 0.015
/** A space of fewer passages is read as one of this many. */
const LEAST_NODES = 30
/** Spreads above chance at which the vectors have as much weight as they can have. */
const CERTAIN = 4

/** Spreads by which the best cosine stands above what chance reaches; below 0 it says nothing. */
export function aboveChance(best: number, { background, nodes }: Calibration): number {
  const { middle, spread } = background ?? USUAL
  const distance = (best - middle) / Math.max(LEAST_SPREAD, spread)
  return distance - Math.sqrt(2 * Math.log(Math.max(LEAST_NODES, nodes)))
}

/** Weights of the vectors where nothing stands out, and where the best passage certainly does. */
const FUSED_SHARE = { least: 0.1, most: 0.6 }
const RANK_WEIGHT = { least: 0.15, most: 1.8 }

export interface DenseWeights {
  /** share of the vector leg in the fused score */
  share: number
  /** of the vector leg in the rank score */
  rank: number
}

/** What the vectors weigh, the more the further the best passage stands above chance. */
export function denseWeights(best: number, calibration: Calibration): DenseWeights {
  const clear = Math.min(1, Math.max(0, aboveChance(best, calibration) / CERTAIN))
  const between = ({ least, most }: { least: number; most: number }): number => least + clear * (most - least)
  return { share: between(FUSED_SHARE), rank: between(RANK_WEIGHT) }
}

/** At the border of chance one in twenty-five answers; each spread above it makes that four to five times as likely. */
const AT_CHANCE = -3.2
const EACH_SPREAD = 1.5

/** How likely passages answer a question by their vectors alone, 0 to 1. */
export function denseConfidence(best: number, calibration: Calibration): number {
  return 1 / (1 + Math.exp(-(AT_CHANCE + EACH_SPREAD * aboveChance(best, calibration))))
}
