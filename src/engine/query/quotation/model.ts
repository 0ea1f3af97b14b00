import { EXACT_TYPES, FEATURES, type QuotationCandidate } from './candidates.js'
import { computeLogit, type LinearModel } from './linear-model.js'
import type { PreparedQuestion } from './question.js'

/** Features that estimate whether a quotation contains the answer; some are features of its best unit. */
export const ANSWER_FEATURES = [
  /** logit of the best unit minus that of the best unit that is not quoted */
  'ahead',
  'missing',
  'elsewhere',
  'similar',
  'namesMissing',
  'otherYear',
  'containsExact',
  'noType',
  'titleMatch',
  'isRow',
  'isTable',
  'isList',
  /** relevance of the best passage of all */
  'topScore',
  /** logarithm of the question's weight */
  'weight',
  'termCount',
  'maxWeight',
  'unitWeight',
  'missingInFirst',
  'wantsList',
  'wantsExact',
  'wantsPerson',
  /** logarithm of the characters of the best unit */
  'length',
] as const
export type AnswerFeature = (typeof ANSWER_FEATURES)[number]

/** Maximum margin: a small document has no competing units. */
const MAX_AHEAD = 3

/** Returns the values of a unit in the order of `FEATURES`. */
export function toUnitValues({ features }: QuotationCandidate): number[] {
  return FEATURES.map((name) => features[name])
}

/** Estimates how well a unit answers, as the logarithm of the odds; comparable between the units of one question. */
export function computeUnitLogit(model: LinearModel, candidate: QuotationCandidate): number {
  return computeLogit(model, toUnitValues(candidate))
}

/**
 * Computes the features of a quotation.
 *
 * @param best its best unit
 * @param logit logit of that unit
 * @param rival logit of the best unit that is not quoted
 * @param topScore relevance of the best passage, 0 to 1
 */
export function computeAnswerFeatures(
  { weights, totalWeight, type, wantsList }: PreparedQuestion,
  { features }: QuotationCandidate,
  { logit, rival = logit - MAX_AHEAD, topScore }: { logit: number; rival?: number | undefined; topScore: number },
): Record<AnswerFeature, number> {
  return {
    ...features,
    ahead: Math.min(MAX_AHEAD, logit - rival),
    topScore,
    weight: Math.log(1 + totalWeight),
    termCount: weights.size,
    maxWeight: Math.max(0, ...weights.values()),
    unitWeight: features.inUnit * totalWeight,
    missingInFirst: features.missing * features.isFirst,
    wantsList: Number(wantsList),
    wantsExact: Number(EXACT_TYPES.has(type)),
    wantsPerson: Number(type === 'person'),
  }
}

/** Returns the values of a quotation in the order of `ANSWER_FEATURES`. */
export function toAnswerValues(features: Record<AnswerFeature, number>): number[] {
  return ANSWER_FEATURES.map((name) => features[name])
}
