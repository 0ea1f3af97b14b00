import type { CosineBackground } from '../../search/index.js'
import type { PassageFeatures } from './rerank.js'
import { MIN_SPACE_NODES } from './term-weights.js'

/** Statistics of a question in its space, independent of any single passage. */
export interface QuestionStatistics {
  /** sum of the weights (inverse document frequencies, natural logarithms) of the question's distinct terms */
  weight: number
  /** passages of the space */
  nodes: number
  /** BM25 of the last hit of a full-text list divided by that of the first: how little the best hit stands out */
  falloff: number
  /** probability, by a provider's vectors, that a passage answers, 0 to 1; absent without such vectors */
  byVectors?: number
  /**
   * relevance that a rerank model gives to the best passage, when it separates passages; absent without such a model
   */
  byRerank?: number
}

/** Features of a passage's match with the question that indicate whether it answers. */
type MatchFeatures = Pick<PassageFeatures, 'strength' | 'pairs' | 'sentenceCoverage'>

/**
 * A logistic model of "this space answers the question", fitted on questions asked of their own documents and of
 * foreign ones, in spaces of 10 to 18,000 passages (bench/answers/gate.ts). A match by chance is likelier with more
 * passages and less likely with a higher matched weight. A term's weight is minus the logarithm of the fraction of
 * passages that contain it, so the logarithm of the passages expected to match by chance is the logarithm of their
 * number minus the matched weight. The other features describe how the question is matched.
 */
const MODEL = {
  bias: 11.53,
  /** of the logarithm: the first occurrences matter most */
  strength: 3.9,
  nodes: -1.11,
  /** of the logarithm of the weight that the strongest passage matches */
  matched: 2.25,
  /** of the weight that one sentence matches */
  sentence: 0.069,
  pairs: 2.3,
  falloff: 3.35,
}
/** Keeps the logarithm finite when nothing occurs. */
const STRENGTH_OFFSET = 0.02
const MATCHED_OFFSET = 0.2
/** Weights are of the order of ten. */
const WEIGHT_UNIT = 10

/** Average fall-off of a full-text list; used for searches without one. */
export const DEFAULT_FALLOFF = 0.15

/**
 * Probability, 0 to 1, that passages answer a question.
 *
 * @param compared features of one passage, or the best of each feature among all compared passages
 */
export function computeAnswerConfidence(
  { strength, pairs, sentenceCoverage }: MatchFeatures,
  statistics: QuestionStatistics,
): number {
  const logit =
    MODEL.bias +
    MODEL.strength * Math.log(STRENGTH_OFFSET + strength) +
    MODEL.nodes * Math.log(Math.max(MIN_SPACE_NODES, statistics.nodes)) +
    MODEL.matched * Math.log(MATCHED_OFFSET + (strength * statistics.weight) / WEIGHT_UNIT) +
    MODEL.sentence * sentenceCoverage * statistics.weight +
    MODEL.pairs * pairs +
    MODEL.falloff * statistics.falloff
  return 1 / (1 + Math.exp(-logit))
}

/**
 * Maximum of each feature over all passages: when the right passage is not first, other passages' features still show
 * it.
 */
export function maxFeatures(all: readonly MatchFeatures[]): MatchFeatures {
  const best = { strength: 0, pairs: 0, sentenceCoverage: 0 }
  for (const one of all) {
    best.strength = Math.max(best.strength, one.strength)
    best.pairs = Math.max(best.pairs, one.pairs)
    best.sentenceCoverage = Math.max(best.sentenceCoverage, one.sentenceCoverage)
  }
  return best
}

/** Sum of the weights of the distinct terms. */
export function sumWeights(terms: Iterable<string>, idf: (term: string) => number): number {
  let sum = 0
  for (const term of new Set(terms)) sum += Math.max(0, idf(term))
  return sum
}

/**
 * See `QuestionStatistics.falloff`. @param bm25 of every candidate that has one @param full number of candidates in a
 * full list
 */
export function computeFalloff(bm25: readonly number[], full: number): number {
  const sorted = [...bm25].sort((a, b) => b - a)
  const top = sorted[0] ?? 0
  return top > 0 ? (sorted[full - 1] ?? 0) / top : 0
}

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
/** Spreads above chance at which the vectors get their maximum weight. */
const MAX_WEIGHT_SPREADS = 4

/** Spreads by which the best cosine exceeds what chance reaches; a value below 0 means no evidence. */
export function computeSpreadsAboveChance(best: number, { background, nodes }: CosineCalibration): number {
  const { middle, spread } = background ?? DEFAULT_BACKGROUND
  const distance = (best - middle) / Math.max(MIN_SPREAD, spread)
  return distance - Math.sqrt(2 * Math.log(Math.max(MIN_SPACE_NODES, nodes)))
}

/** Weights of the vectors when nothing stands out, and when the best passage certainly does. */
const FUSED_WEIGHT_RANGE = { min: 0.1, max: 0.6 }
const RANK_WEIGHT_RANGE = { min: 0.15, max: 1.8 }

export interface DenseWeights {
  /** weight of the vector list in the fused score */
  fused: number
  /** weight of the vector list in the rank score */
  rank: number
}

/** Weights of the vectors: they rise with the distance of the best passage above chance. */
export function computeDenseWeights(best: number, calibration: CosineCalibration): DenseWeights {
  const clear = Math.min(1, Math.max(0, computeSpreadsAboveChance(best, calibration) / MAX_WEIGHT_SPREADS))
  const interpolate = ({ min, max }: { min: number; max: number }): number => min + clear * (max - min)
  return { fused: interpolate(FUSED_WEIGHT_RANGE), rank: interpolate(RANK_WEIGHT_RANGE) }
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
